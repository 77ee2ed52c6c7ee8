// A small client of the daemon's public API, as any other program would use it.
import { ApiError, createClient } from '../client/index.js'
import { parseJson } from '../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import { isJsonObject } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { CpError, type ErrorCode, messageOf } from '../errors.js'

export interface ApiClient {
  get(path: string): Promise<JsonValue>
  post(path: string, body: JsonObject): Promise<JsonObject>
  /** The body of a GET as it comes; without a deadline of its own. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

const DEADLINE_MS = 15_000
const SHOWN_MAX = 200

export function createApiClient(baseUrl: string, token: string | undefined, timeoutMs = DEADLINE_MS): ApiClient {
  const client = createClient({ url: baseUrl, token, timeoutMs })

  async function call(method: string, path: string, body?: JsonObject): Promise<JsonValue> {
    const response = await ask(method, path, undefined, body)
    const text = await read(response)
    const answer = readAnswer(text)
    if (response.ok && answer !== undefined) return answer
    throw refusal(method, path, response.status, text)
  }

  async function ask(method: string, path: string, signal?: AbortSignal, body?: JsonObject): Promise<Response> {
    try {
      return await client.request(method, path, { signal, body: body === undefined ? undefined : writeJson(body) })
    } catch (error) {
      throw noAnswer(error instanceof ApiError ? error.cause : error)
    }
  }

  async function read(response: Response): Promise<string> {
    try {
      return await response.text()
    } catch (error) {
      throw noAnswer(error)
    }
  }

  function noAnswer(error: unknown): CpError {
    const reason = messageOf((error as { cause?: unknown }).cause ?? error)
    return new CpError('unavailable', `the daemon at ${baseUrl} does not answer (${reason}); see "noetl-cp status"`, {
      cause: error,
    })
  }

  function refusal(method: string, path: string, status: number, text: string): CpError {
    const answer = readAnswer(text)
    const said = isJsonObject(answer) ? String(answer['error']) : text.slice(0, SHOWN_MAX)
    const problems = isJsonObject(answer) && Array.isArray(answer['problems']) ? answer['problems'] : undefined
    // What the daemon refuses it says as any command would; who answers otherwise must be named.
    const isOurs = isJsonObject(answer) && typeof answer['error'] === 'string' && status < 500 && !isForbidden(status)
    const where = `${method} ${path} at ${baseUrl} was answered with ${status}: `
    const advice = isForbidden(status) ? '; set NOETL_API_TOKEN to its token' : ''
    return new CpError(codeOfStatus(status), `${isOurs ? '' : where}${said}${advice}`, {
      details: { status, said, ...(problems === undefined ? {} : { problems }) },
    })
  }

  return {
    get: (path) => call('GET', path),
    post: async (path, body) => {
      const answer = await call('POST', path, body)
      if (isJsonObject(answer)) return answer
      throw new CpError('internal', `POST ${path} was not answered with an object`)
    },
    stream: async (path, signal) => {
      const response = await ask('GET', path, signal)
      if (response.ok && response.body !== null) return response.body
      throw refusal('GET', path, response.status, await read(response))
    },
  }
}

function isForbidden(status: number): boolean {
  return status === 401 || status === 403
}

/** 0 is no answer at all. */
export function codeOfStatus(status: number): ErrorCode {
  if (status === 0) return 'unavailable'
  if (status === 400) return 'invalid_input'
  if (isForbidden(status)) return 'forbidden'
  if (status === 404) return 'not_found'
  return status >= 500 ? 'unavailable' : 'refused'
}

function readAnswer(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch {
    // Something else answers on that port; the caller shows what it said.
    return undefined
  }
}
