// A request as its route gets it. A class of its own: an object with a getter made for every request has a hidden class of its
// own each time, which was a third of what survived a collection.
import type { JsonValue } from '../domain/json/value.js'
import type { Caller } from './callers.js'
import type { ApiRequest, RequestHead } from './route.js'

/** The answer's side of the connection. */
interface Answering {
  readonly destroyed: boolean
  readonly writableFinished: boolean
}

export interface GivenParts {
  head: RequestHead
  query: Readonly<Record<string, string | undefined>>
  body: JsonValue | undefined
  large: Buffer | undefined
  rawBody: Buffer | undefined
  upload: AsyncIterable<Uint8Array> | undefined
  admitted: unknown
  caller: Caller
}

export class GivenRequest implements ApiRequest {
  readonly params: ApiRequest['params']
  readonly headers: ApiRequest['headers']
  readonly query: ApiRequest['query']
  readonly body: JsonValue | undefined
  readonly large: Buffer | undefined
  readonly rawBody: Buffer | undefined
  readonly upload: AsyncIterable<Uint8Array> | undefined
  readonly admitted: unknown
  readonly caller: Caller
  readonly isInternal: boolean
  /** Made for the few routes that ask for it. */
  private gone: AbortController | undefined = undefined

  constructor(
    { head, query, body, large, rawBody, upload, admitted, caller }: GivenParts,
    readonly isStillAllowed: () => boolean,
    private readonly answering: Answering,
  ) {
    this.params = head.params
    this.headers = head.headers
    this.query = query
    this.body = body
    this.large = large
    this.rawBody = rawBody
    this.upload = upload
    this.admitted = admitted
    this.caller = caller
    this.isInternal = caller.by === 'token' && caller.role === 'operator'
  }

  get signal(): AbortSignal {
    this.gone ??= new AbortController()
    if (this.answering.destroyed && !this.answering.writableFinished) this.gone.abort()
    return this.gone.signal
  }

  /** Nobody waits for the answer any more. */
  leave(): void {
    this.gone?.abort()
  }
}
