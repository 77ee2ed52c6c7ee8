// A client of the daemon's API with the types of its routes. Needs nothing but fetch. Ids are text, so that no digit is
// lost; every call has a deadline; what the daemon refuses is an ApiError with its words.
import { OPERATIONS, type Operations } from './operations.js'

export interface ClientSettings {
  /** Where the daemon answers: http://127.0.0.1:8082 */
  url: string
  /** The API token, or the internal one for internal routes. */
  token?: string | undefined
  /** Of a call; default 30 s. */
  timeoutMs?: number | undefined
  /** Readers and writers that keep more than JSON.parse does. */
  json?: { read(text: string): unknown; write(value: unknown): string } | undefined
  fetch?: typeof globalThis.fetch | undefined
}

export type OperationName = keyof Operations

type Optional<T, Name extends string> = unknown extends T
  ? { [N in Name]?: T }
  : Record<never, never> extends T
    ? { [N in Name]?: T }
    : undefined extends T
      ? { [N in Name]?: T }
      : { [N in Name]: T }

export type CallOptions<Name extends OperationName> = Optional<Operations[Name]['params'], 'params'> & {
  query?: Operations[Name]['query']
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
} & Optional<Operations[Name]['body'], 'body'>

export interface Client {
  /** One operation of /openapi.json by its name. */
  call<Name extends OperationName>(name: Name, options: CallOptions<Name>): Promise<Operations[Name]['answer']>
  /** The same with the text of the answer, and its headers, where the cursors of pages are. */
  ask<Name extends OperationName>(name: Name, options: CallOptions<Name>): Promise<Answered<Name>>
  /** Any route: its answer as it came, whatever its status. Throws an ApiError of status 0 if there is none. */
  request(method: string, path: string, options?: RequestOptions): Promise<Response>
}

export interface Answered<Name extends OperationName> {
  answer: Operations[Name]['answer']
  headers: Headers
  /** As it came. */
  text: string
}

export interface RequestOptions {
  body?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Instead of the deadline. */
  signal?: AbortSignal | undefined
}

/** The daemon refused, or nobody answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    /** 0 when there was no answer. */
    readonly status: number,
    message: string,
    /** The same text, or an object; see the route. */
    readonly detail: unknown,
    /** The whole answer. */
    readonly body: unknown,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause })
  }
}

const TIMEOUT_MS = 30_000
const SHOWN_MAX = 200

export function createClient(settings: ClientSettings): Client {
  const send = settings.fetch ?? globalThis.fetch
  const json = settings.json ?? JSON_AS_USUAL

  async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    try {
      return await send(new URL(path, settings.url), {
        method,
        headers: {
          ...(settings.token === undefined ? {} : { authorization: `Bearer ${settings.token}` }),
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        signal: options.signal ?? AbortSignal.timeout(settings.timeoutMs ?? TIMEOUT_MS),
        ...(options.body === undefined ? {} : { body: options.body }),
      })
    } catch (error) {
      throw noAnswer(settings.url, error)
    }
  }

  async function ask<Name extends OperationName>(name: Name, options: CallOptions<Name>): Promise<Answered<Name>> {
    const [method, template] = OPERATIONS[name]
    const given = options as LooseOptions
    const path = `${fillPath(template, given.params ?? {})}?${queryText({ ...given.query, ids: given.query?.['ids'] ?? 'string' })}`
    const body = given.body === undefined ? undefined : json.write(given.body)
    const response = await request(method, path, { body, headers: given.headers, signal: given.signal })
    const text = await response.text().catch((error: unknown) => {
      throw noAnswer(settings.url, error)
    })
    const answer = readable(text, json.read)
    if (response.ok) return { answer: answer as never, headers: response.headers, text }
    throw refusal(response.status, text, answer)
  }

  return { request, ask, call: async (name, options) => (await ask(name, options)).answer }
}

interface LooseOptions extends Omit<RequestOptions, 'body'> {
  params?: Readonly<Record<string, unknown>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
}

const JSON_AS_USUAL = {
  read: (text: string): unknown => JSON.parse(text),
  write: (value: unknown): string => JSON.stringify(value),
}

function fillPath(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
}

function readable(text: string, read: (text: string) => unknown): unknown {
  try {
    return read(text)
  } catch {
    // Not JSON: metrics, or something else that answers on that port.
    return text
  }
}

function refusal(status: number, text: string, answer: unknown): ApiError {
  const said = answer as { error?: unknown; detail?: unknown } | null
  const isOurs = typeof said === 'object' && said !== null && typeof said.error === 'string'
  const message = isOurs ? (said.error as string) : text.slice(0, SHOWN_MAX)
  return new ApiError(status, message, isOurs ? said.detail : message, answer)
}

function noAnswer(url: string, error: unknown): ApiError {
  const cause = (error as { cause?: unknown }).cause ?? error
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new ApiError(0, `${url} does not answer (${reason})`, reason, undefined, error)
}
