// Questions to the daemon that served the page. Answers are data; a refusal is an ApiError with the server's own sentence.
import { signal } from '@preact/signals'
import { PREFIX } from './prefix'

export class ApiError extends Error {
  constructor(
    message: string,
    /** 0: there was no answer. */
    readonly status: number,
    readonly request: string,
    readonly body: unknown = undefined,
  ) {
    super(message)
  }
}

/** There was no answer, or none in time: with this as its reason a question is given up. */
export function noAnswer(request: string): ApiError {
  return new ApiError('The daemon does not answer. It is asked again by itself.', 0, request)
}

export interface Answer<T> {
  body: T
  headers: Headers
}

/** Whether the daemon has answered the last question, and since when it has not. */
export const silentSince = signal<number | undefined>(undefined)

/** Grows when something was refused for want of a right. */
export const refusals = signal(0)

export type Asked = Readonly<Record<string, string | number | boolean | undefined>>

export function apiPath(path: string, asked: Asked = {}): string {
  const wanted = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined && value !== '') wanted.set(name, String(value))
  }
  const text = wanted.toString()
  return text === '' ? path : `${path}?${text}`
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call<T>('GET', path, { signal })).body
}

export async function getAnswer<T>(path: string, signal?: AbortSignal): Promise<Answer<T>> {
  return call<T>('GET', path, { signal })
}

/** An act is not given up once it is sent: `signal` is for questions that the API takes as a POST. */
export async function send<T>(
  method: 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  return (await call<T>(method, path, { body: body === undefined ? undefined : JSON.stringify(body), signal })).body
}

interface CallOptions {
  body?: string | undefined
  signal?: AbortSignal | undefined
}

async function call<T>(method: string, path: string, options: CallOptions): Promise<Answer<T>> {
  const { text, headers } = await fetchOwn(method, path, options, async (response) => ({
    text: await response.text(),
    headers: response.headers,
  }))
  const body = parse(text)
  // A proxy has answered in its place, or asks for a login of its own.
  if (body === undefined && text !== '') throw new ApiError('This is no answer of the daemon.', -1, `${method} ${path}`)
  return { body: body as T, headers }
}

/** What `read` takes from the answer, and does nothing else: an answer that breaks off on its way is none. */
export async function fetchOwn<T extends string | object>(
  method: string,
  path: string,
  { body, signal }: CallOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const request = `${method} ${path}`
  const headers: Record<string, string> = { accept: 'application/json' }
  // No page of another origin can send this one.
  if (method !== 'GET') headers['x-noetl-csrf'] = '1'
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(PREFIX + path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    })
    const answer = response.ok ? await read(response) : undefined
    silentSince.value = undefined
    if (answer !== undefined) return answer
  } catch (error) {
    // Nobody wants to know any more.
    if (signal?.aborted && !(error instanceof ApiError)) throw error
    silentSince.value ??= Date.now()
    throw noAnswer(request)
  }
  if (response.status === 401 || response.status === 403) refusals.value++
  throw await refusal(response, request)
}

async function refusal(response: Response, request: string): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  const body = parse(text)
  const said = (body as { error?: unknown } | undefined)?.error
  return new ApiError(typeof said === 'string' ? said : `HTTP ${response.status}`, response.status, request, body)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
