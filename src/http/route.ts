// What a route is: data plus one function. server.ts turns a list of these into an HTTP server, openApi.ts
// into a document.
import type { IncomingHttpHeaders } from 'node:http'
import type { JsonValue } from '../domain/json/value.js'
import type { ActionTarget } from '../services/access/acts.js'
import type { Caller } from './callers.js'
import type { Schema } from './schema.js'

/**
 * open: health, metrics and what verifies itself; no token. public: the API token if one is configured, else
 * checks against web pages, and a token for writes once code can be started. operator: the internal token, or a console
 * session of an operator. internal: always the internal token itself. page: what browsers show and what holds no data; any
 * page may link to it, but only by a name that is ours.
 */
export type Access = 'open' | 'public' | 'operator' | 'internal' | 'page'

/**
 * How large the bodies of a route may be, see HttpLimits: a few fields, one event, many events, the result of a
 * step, or bytes that are handed on as they come.
 */
export type BodySize = 'small' | 'event' | 'batch' | 'result' | 'upload'

/** What is known of a request before its body is read. */
export interface RequestHead {
  params: Readonly<Record<string, string>>
  headers: IncomingHttpHeaders
}

export interface ApiRequest extends RequestHead {
  query: Readonly<Record<string, string | undefined>>
  /** Undefined when the request has no body. */
  body: JsonValue | undefined
  /** Instead of `body`, unread, when it is large and the route says `readsLarge`. */
  large: Buffer | undefined
  /** The body as it arrived; for signatures over bytes. */
  rawBody: Buffer | undefined
  /** The pieces of an upload as they come; only where `bodySize` says so. */
  upload: AsyncIterable<Uint8Array> | undefined
  /** What `admit` found out. */
  admitted: unknown
  caller: Caller
  /** The internal token came with it. */
  isInternal: boolean
  /** Whether the caller may still do this, for answers that last: a session ends, a right is taken away. */
  isStillAllowed(): boolean
  /** Aborts when the client goes away. */
  signal: AbortSignal
}

export interface ServerSentEvent {
  /** What a client that comes back sends as Last-Event-ID. */
  id?: string | undefined
  name?: string
  /** Without data: a comment that keeps the connection open. */
  data?: JsonValue
}

export interface ApiReply {
  status?: number
  /** Written losslessly: bigint as a bare integer. */
  body?: JsonValue
  /** JSON text as it was stored; secrets are looked for. */
  text?: string
  /** Text in UTF-8 that is sent as it is: secrets must be out of it already. JSON unless `contentType` says otherwise. */
  bytes?: Uint8Array
  /** Server-sent events, as they come. */
  events?: AsyncIterable<ServerSentEvent>
  contentType?: string
  headers?: Readonly<Record<string, string>>
  /** What was made or changed, for the record of acts, where the path of the route does not name it. */
  about?: ActionTarget
}

export interface RouteSpec {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters as `:name`, as `:name+` if it may hold slashes. */
  path: string
  summary: string
  access: Access
  /** Whether it changes anything; the method does not tell. Decides what a viewer may call. */
  effect: 'read' | 'write'
  query?: Readonly<Record<string, Schema & { required?: never }>>
  body?: Schema
  /** A request without a body is fine although `body` is described. */
  bodyOptional?: boolean
  /** Default: small. */
  bodySize?: BodySize
  /** Looks at a request before its body is read; throws if the body is not worth reading. */
  admit?(head: RequestHead): Promise<unknown>
  /** Has bodies that are too large to be read here read in a thread. */
  readsLarge?: true
  /** The body is a secret as a whole: the record of acts does without it. */
  hidesBody?: true
  /** Take the body as bytes, whatever its content type. */
  rawBody?: boolean
  /** Answers of several MB: only few of them are made at a time. */
  isLarge?: true
  /** May look through very many rows: only some of the connections to a database are for these, the others for whoever writes. */
  isSearch?: true
  /** The answer is a document of ours or a source as its author wrote it: secrets are not looked for. */
  showsAll?: boolean
  responses: Readonly<Record<number, Schema | string>>
  handler(request: ApiRequest): Promise<ApiReply>
}
