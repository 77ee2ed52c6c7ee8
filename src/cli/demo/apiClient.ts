// A small client of the daemon's public API, as any other program would use it.
import { parseJson } from '../../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { isJsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError, type ErrorCode, messageOf } from '../../errors.js'

export interface ApiClient {
  get(path: string): Promise<JsonValue>
  post(path: string, body: JsonObject): Promise<JsonObject>
}

const DEADLINE_MS = 15_000
const SHOWN_MAX = 200

export function createApiClient(baseUrl: string, token: string | undefined): ApiClient {
  async function call(method: string, path: string, body?: JsonObject): Promise<JsonValue> {
    const { status, text } = await ask(method, path, body)
    const answer = readAnswer(text)
    if (status < 300 && answer !== undefined) return answer
    const said = isJsonObject(answer) ? String(answer['error']) : text.slice(0, SHOWN_MAX)
    throw new CpError(codeOf(status), `${method} ${path} at ${baseUrl} was answered with ${status}: ${said}`)
  }

  async function ask(method: string, path: string, body: JsonObject | undefined) {
    try {
      const response = await fetch(new URL(path, baseUrl), {
        method,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(DEADLINE_MS),
        ...(body === undefined ? {} : { body: writeJson(body) }),
      })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      const reason = messageOf((error as { cause?: unknown }).cause ?? error)
      throw new CpError('unavailable', `the daemon at ${baseUrl} does not answer (${reason}); see "noetl-cp status"`, {
        cause: error,
      })
    }
  }

  return {
    get: (path) => call('GET', path),
    post: async (path, body) => {
      const answer = await call('POST', path, body)
      if (isJsonObject(answer)) return answer
      throw new CpError('internal', `POST ${path} was not answered with an object`)
    },
  }
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'forbidden'
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
