// Answers and errors on their way out: lossless JSON without secrets, errors as {error, status, detail}. Answers that
// clients do not read share one budget of memory; when it is used up, the connection that has been silent longest is closed.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { redact, redactJson, redactText } from '../domain/secrets/redact.js'
import { type SecretRules, secretRules } from '../domain/secrets/secretNames.js'
import { CpError, toCpError } from '../errors.js'
import type { Log } from '../runtime/log.js'
import { createByteBudget } from './byteBudget.js'
import { STATUS_OF } from './errors.js'
import type { ApiReply, ServerSentEvent } from './route.js'

export interface Answers {
  send(reply: FastifyReply, answer: ApiReply, rules: SecretRules | null): FastifyReply
  sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply
}

// The network takes a smaller one at once.
const COUNTED_BYTES_MIN = 65_536
// The rest of a body that is not wanted: so much is read and dropped, beyond it the connection ends with the answer.
const DROPPED_BYTES_MAX = 65_536
const MESSAGE_MAX = 300
const JSON_TYPE = 'application/json; charset=utf-8'

export function createAnswers(unreadBytesMax: number, log: Log, onCut: () => void): Answers {
  const unread = createByteBudget(unreadBytesMax)

  function sendBytes(reply: FastifyReply, payload: string | Buffer): FastifyReply {
    if (payload.length >= COUNTED_BYTES_MIN) {
      const { socket } = reply.raw
      const holding = unread.hold(() => {
        onCut()
        socket?.destroy()
      })
      // Alone it may be of any size that was made.
      holding.grow(Buffer.byteLength(payload))
      reply.raw.once('close', holding.release)
    }
    return reply.send(payload)
  }

  return {
    send: (reply, answer, rules) => {
      reply.status(answer.status ?? 200)
      if (answer.headers !== undefined) reply.headers(answer.headers)
      if (answer.events !== undefined) return sendEvents(reply, answer.events, rules)
      reply.type(answer.contentType ?? JSON_TYPE)
      if (answer.bytes !== undefined) {
        const { buffer, byteOffset, byteLength } = answer.bytes
        return sendBytes(reply, Buffer.from(buffer, byteOffset, byteLength))
      }
      if (answer.text !== undefined) {
        return sendBytes(reply, rules === null ? answer.text : redactJson(answer.text, rules))
      }
      const body = answer.body ?? null
      return sendBytes(reply, writeJson(rules === null ? body : redact(body, rules)))
    },

    sendError: (thrown, request, reply) => {
      const error = fromFastify(thrown)
      const status = STATUS_OF[error.code]
      if (status >= 500 && error.code === 'internal') {
        log.error({ err: thrown, route: request.routeOptions.url }, 'request failed')
      }
      const retryAfter = error.details['retryAfterSeconds']
      if (typeof retryAfter === 'number') reply.header('retry-after', String(Math.ceil(retryAfter)))
      if (isMuchLeft(request)) reply.header('connection', 'close')
      const message = error.code === 'internal' ? 'internal error; the daemon log has the details' : error.message
      return reply
        .status(status)
        .type(JSON_TYPE)
        .send(writeJson(errorBody(redactText(message, MESSAGE_RULES), status, error)))
    },
  }
}

/** As fast as the caller reads; nothing is gathered for one that does not. */
function sendEvents(
  reply: FastifyReply,
  events: AsyncIterable<ServerSentEvent>,
  rules: SecretRules | null,
): FastifyReply {
  const texts = async function* () {
    for await (const event of events) yield eventText(event, rules)
  }
  reply.header('cache-control', 'no-store').type('text/event-stream; charset=utf-8')
  return reply.send(Readable.from(texts(), { highWaterMark: 1 }))
}

function eventText({ id, name, data }: ServerSentEvent, rules: SecretRules | null): string {
  if (data === undefined) return ': still here\n\n'
  const head = `${id === undefined ? '' : `id: ${id}\n`}${name === undefined ? '' : `event: ${name}\n`}`
  return `${head}data: ${dataText(data, rules)}\n\n`
}

const dataTexts = new WeakMap<object, string>()

/** What hundreds listen to is written once. */
function dataText(data: JsonValue, rules: SecretRules | null): string {
  const isShared = typeof data === 'object' && data !== null
  const known = isShared ? dataTexts.get(data) : undefined
  if (known !== undefined) return known
  const text = writeJson(rules === null ? data : redact(data, rules))
  if (isShared) dataTexts.set(data, text)
  return text
}

/** `detail` is where clients of the original look: the text once more, or an object where the error has one for them. */
function errorBody(message: string, status: number, { details }: CpError): JsonObject {
  const { detail, problems } = details as JsonObject
  return {
    error: message,
    status,
    detail: isJsonObject(detail) ? redact(detail, MESSAGE_RULES) : message,
    // Everything that is wrong with a playbook, for errors that are about one.
    ...(Array.isArray(problems) ? { problems: redact(problems, MESSAGE_RULES) } : {}),
  }
}

/** Messages name fields and addresses; whatever the settings say, they never need a secret. */
const MESSAGE_RULES = secretRules()

function isMuchLeft({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false
  const { 'content-length': announced, 'transfer-encoding': coding } = raw.headers
  return coding !== undefined || Number(announced ?? 0) > DROPPED_BYTES_MAX
}

function fromFastify(error: unknown): CpError {
  if (error instanceof CpError) return error
  const status = (error as { statusCode?: number }).statusCode ?? 500
  if (status >= 400 && status < 500) {
    // The framework repeats what was sent, whatever its length.
    return new CpError('invalid_input', toCpError(error).message.slice(0, MESSAGE_MAX), { cause: error })
  }
  return toCpError(error)
}
