// kind: http
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { fieldOf, flagField, mapField, secondsField, textField } from '../../domain/tool/configFields.js'
import { httpFacts, type ResponseType, readHttpAnswer } from '../../domain/tool/httpAnswer.js'
import { readHttpRequest } from '../../domain/tool/httpRequest.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import type { Clock } from '../../runtime/clock.js'
import type { TokenRequest } from '../credentials/keychain.js'
import type { FetchText } from '../script/scriptSource.js'
import type { Tool } from '../tool.js'
import type { HttpClient } from './httpClient.js'

const RESPONSE_TYPES: readonly string[] = ['auto', 'json', 'text', 'bytes']
const TIMEOUT_SECONDS = 30

export function createHttpTool(client: HttpClient, clock: Clock): Tool {
  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    run: async ({ config, auth, signal }) => {
      const fields = await auth.fieldsOf(fieldOf(config, 'auth', 'credential'), 'http')
      const { data, http } = await sendHttp(client, clock, config, fields, signal)
      return { data, http }
    },
    close: async () => client.close(),
  }
}

export async function sendHttp(
  client: HttpClient,
  clock: Clock,
  config: JsonObject,
  auth: JsonObject | undefined,
  signal: AbortSignal,
): Promise<{ data: JsonObject; http: JsonObject }> {
  const type = textField(config, 'response_type') ?? 'auto'
  if (!RESPONSE_TYPES.includes(type)) {
    throw new ToolFailure('config', `response_type ${type} is none of ${RESPONSE_TYPES.join(', ')}`)
  }
  const spec = mapField(config, 'spec')
  const limits = spec === undefined || typeof spec['timeout'] !== 'object' ? undefined : mapField(spec, 'timeout')
  const answer = await client.send(readHttpRequest(config, auth), {
    signal,
    followRedirects: flagField(config, true, 'follow_redirects'),
    verifyTls: flagField(config, true, 'verify_ssl', 'verify'),
    connectMs: milliseconds(limits, 'connect'),
    readMs: milliseconds(limits, 'read'),
  })
  return { data: readHttpAnswer(answer, type as ResponseType, clock.now()), http: httpFacts(answer) }
}

function milliseconds(limits: JsonObject | undefined, name: string): number | undefined {
  const seconds = limits === undefined ? undefined : secondsField(limits, name)
  return seconds === undefined ? undefined : seconds * 1000
}

/** How the keychain asks for tokens. */
export function createTokenRequest(client: HttpClient, clock: Clock): TokenRequest {
  return async (config, signal): Promise<JsonValue> => {
    const { data } = await sendHttp(client, clock, config, undefined, signal)
    return data['data'] ?? null
  }
}

/** How scripts are fetched. */
export function createFetchText(client: HttpClient, clock: Clock): FetchText {
  return async (config, auth, signal) => {
    const { data } = await sendHttp(client, clock, { ...config, response_type: 'text' }, auth, signal)
    return String(data['data'])
  }
}
