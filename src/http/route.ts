// What a route is: data plus one function. server.ts turns a list of these into an HTTP server, openApi.ts
// into a document.
import type { IncomingHttpHeaders } from 'node:http'
import type { JsonValue } from '../domain/json/value.js'
import type { Schema } from './schema.js'

/**
 * open: health, metrics and what verifies itself; no token. public: the API token if one is configured, else
 * checks against web pages, and a token for writes once code can be started. internal: always the internal token.
 */
export type Access = 'open' | 'public' | 'internal'

export interface ApiRequest {
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string | undefined>>
  /** Undefined when the request has no body. */
  body: JsonValue | undefined
  /** The body as it arrived; for signatures over bytes. */
  rawBody: Buffer | undefined
  headers: IncomingHttpHeaders
  /** The internal token came with it. */
  isInternal: boolean
  /** Aborts when the client goes away. */
  signal: AbortSignal
}

export interface ApiReply {
  status?: number
  /** Written losslessly: bigint as a bare integer. */
  body?: JsonValue
  /** Instead of a JSON body. */
  text?: string
  /** JSON that is already text, as UTF-8; for documents that are too large to be written on the main loop. */
  json?: Uint8Array
  contentType?: string
  headers?: Readonly<Record<string, string>>
}

export interface RouteSpec {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters as `:name`. */
  path: string
  summary: string
  access: Access
  /** Changes nothing although it is no GET. */
  readOnly?: true
  query?: Readonly<Record<string, Schema & { required?: never }>>
  body?: Schema
  /** A request without a body is fine although `body` is described. */
  bodyOptional?: boolean
  /** Largest body when it differs from the server's limit. */
  bodyLimitBytes?: number
  /** Take the body as bytes, whatever its content type. */
  rawBody?: boolean
  /** The answer is a document of ours or a source as its author wrote it: secrets are not looked for. */
  showsAll?: boolean
  responses: Readonly<Record<number, Schema | string>>
  handler(request: ApiRequest): Promise<ApiReply>
}
