// kind: nats. A connection per command, closed with it.
import { type NatsConnection, headers as natsHeaders, StringCodec } from 'nats'
import { toBusError } from '../../bus/busErrors.js'
import { connectionOptions } from '../../bus/connect.js'
import { connectEnding } from '../../bus/transport.js'
import { parseJson } from '../../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { fieldOf, mapField, requiredText, scalarText, textField } from '../../domain/tool/configFields.js'
import { type FailureKind, ToolFailure } from '../../domain/tool/toolFailure.js'
import type { ErrorCode } from '../../errors.js'
import { withDeadline } from '../../runtime/deadline.js'
import type { Tool, ToolRun } from '../tool.js'

const TIMEOUT_SECONDS = 30
const CLOSE_MS = 1_000
const KEYS_MAX = 10_000
const OBJECT_BYTES_MAX = 64 * 1024 * 1024
const codec = StringCodec()

type Operation = (nats: NatsConnection, run: ToolRun) => Promise<JsonObject>

const OPERATIONS: Readonly<Record<string, Operation>> = {
  publish,
  request,
  js_publish: publishToStream,
  kv_get: getKey,
  kv_put: putKey,
  kv_delete: deleteKey,
  kv_keys: listKeys,
  object_get: getObject,
  object_put: putObject,
}

export const natsTool: Tool = {
  timeoutSeconds: TIMEOUT_SECONDS,
  run: async (run) => {
    const operation = requiredText(run.config, 'nats', 'operation')
    const perform = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined
    if (perform === undefined) {
      throw new ToolFailure('config', `operation ${operation} is none of ${Object.keys(OPERATIONS).join(', ')}`)
    }
    const nats = await connect(run)
    const onAbort = (): void => void nats.close()
    run.signal.addEventListener('abort', onAbort, { once: true })
    try {
      // It may have come while the connection was made.
      run.signal.throwIfAborted()
      return { data: { status: 'success', ...(await perform(nats, run)) } }
    } catch (error) {
      throw run.signal.aborted ? run.signal.reason : toNatsFailure(error, operation)
    } finally {
      run.signal.removeEventListener('abort', onAbort)
      await withDeadline(nats.close(), CLOSE_MS, { what: 'closing NATS' }).catch(() => undefined)
    }
  },
}

async function connect({ config, auth, signal, timeoutMs }: ToolRun): Promise<NatsConnection> {
  const fields = { ...(await auth.fieldsOf(fieldOf(config, 'auth', 'credential'), 'nats')), ...given(config) }
  const url = textField(fields, 'nats_url', 'url')
  if (url === undefined) throw new ToolFailure('credential', 'nats needs an address: name a credential with auth')
  const options = connectionOptions({
    url,
    user: textField(fields, 'nats_user', 'user', 'username'),
    password: textField(fields, 'nats_password', 'password'),
    token: textField(fields, 'nats_token', 'token'),
    name: 'noetl-cp step',
  })
  const connecting = connectEnding({
    ...options,
    reconnect: false,
    timeout: Math.min(timeoutMs, options.timeout ?? timeoutMs),
  })
  try {
    return await connecting
  } catch (error) {
    throw signal.aborted ? signal.reason : toNatsFailure(error, 'connect')
  }
}

/** What stands in the step itself is stronger than the credential. */
function given(config: JsonObject): JsonObject {
  const names = ['nats_url', 'url', 'user', 'password', 'token'] as const
  return Object.fromEntries(
    names.flatMap((name): [string, JsonValue][] => (config[name] === undefined ? [] : [[name, config[name]]])),
  )
}

async function publish(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const subject = requiredText(run.config, 'publish', 'subject')
  nats.publish(subject, payloadOf(run), headersOf(run))
  await nats.flush()
  return { subject }
}

async function request(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const subject = requiredText(run.config, 'request', 'subject')
  const answer = await nats.request(subject, payloadOf(run), { timeout: run.timeoutMs, ...headersOf(run) })
  return { subject, reply: readValue(answer.data) }
}

async function publishToStream(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const subject = requiredText(run.config, 'js_publish', 'subject')
  const ack = await nats.jetstream({ timeout: run.timeoutMs }).publish(subject, payloadOf(run), headersOf(run))
  return { subject, stream: ack.stream, seq: ack.seq, duplicate: ack.duplicate }
}

async function bucketOf(nats: NatsConnection, run: ToolRun) {
  const bucket = requiredText(run.config, 'a key', 'bucket')
  // Bound only: a bucket by a mistyped name is not made.
  const kv = await nats.jetstream({ timeout: run.timeoutMs }).views.kv(bucket, { bindOnly: true })
  // Asking for its status finds out whether it is there.
  await kv.status()
  return { bucket, kv }
}

async function getKey(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const { bucket, kv } = await bucketOf(nats, run)
  const key = requiredText(run.config, 'kv_get', 'key')
  const entry = await kv.get(key)
  if (entry === null || entry.operation !== 'PUT') return { bucket, key, found: false, value: null }
  return { bucket, key, found: true, value: readValue(entry.value), revision: entry.revision }
}

async function putKey(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const { bucket, kv } = await bucketOf(nats, run)
  const key = requiredText(run.config, 'kv_put', 'key')
  return { bucket, key, revision: await kv.put(key, codec.encode(scalarText(run.config['value'] ?? null))) }
}

async function deleteKey(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const { bucket, kv } = await bucketOf(nats, run)
  const key = requiredText(run.config, 'kv_delete', 'key')
  await kv.delete(key)
  return { bucket, key, deleted: true }
}

async function listKeys(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const { bucket, kv } = await bucketOf(nats, run)
  const keys: string[] = []
  for await (const key of await kv.keys(textField(run.config, 'key', 'pattern') ?? '>')) {
    keys.push(key)
    if (keys.length > KEYS_MAX) throw new ToolFailure('schema', `bucket ${bucket} has more than ${KEYS_MAX} keys`)
  }
  return { bucket, keys: keys.sort(), count: keys.length }
}

async function objectsOf(nats: NatsConnection, run: ToolRun) {
  const bucket = requiredText(run.config, 'an object', 'bucket')
  await (await nats.jetstreamManager()).streams.info(`OBJ_${bucket}`)
  return { bucket, store: await nats.jetstream({ timeout: run.timeoutMs }).views.os(bucket) }
}

async function getObject(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const { bucket, store } = await objectsOf(nats, run)
  const name = requiredText(run.config, 'object_get', 'key', 'object')
  const info = await store.info(name)
  if (info === null || info.deleted) throw new ToolFailure('not_found', `bucket ${bucket} has no object ${name}`)
  if (info.size > OBJECT_BYTES_MAX) throw new ToolFailure('schema', `${name} is larger than ${OBJECT_BYTES_MAX} bytes`)
  const bytes = Buffer.from((await store.getBlob(name)) ?? [])
  const isText = textField(run.config, 'encoding') !== 'base64'
  return { bucket, key: name, size: info.size, value: isText ? readValue(bytes) : bytes.toString('base64') }
}

async function putObject(nats: NatsConnection, run: ToolRun): Promise<JsonObject> {
  const { bucket, store } = await objectsOf(nats, run)
  const name = requiredText(run.config, 'object_put', 'key', 'object')
  const text = scalarText(fieldOf(run.config, 'value', 'data', 'payload') ?? '')
  const bytes = textField(run.config, 'encoding') === 'base64' ? Buffer.from(text, 'base64') : Buffer.from(text)
  const info = await store.putBlob({ name }, bytes)
  return { bucket, key: name, size: info.size, digest: info.digest }
}

function payloadOf({ config }: ToolRun): Uint8Array {
  return codec.encode(scalarText(fieldOf(config, 'payload', 'data', 'message', 'value') ?? ''))
}

function headersOf({ config }: ToolRun): { headers?: ReturnType<typeof natsHeaders> } {
  const source = mapField(config, 'headers')
  if (source === undefined) return {}
  const headers = natsHeaders()
  for (const [name, value] of Object.entries(source)) headers.append(name, scalarText(value))
  return { headers }
}

/** JSON where it is JSON, text where it is text, base64 otherwise. */
function readValue(bytes: Uint8Array): JsonValue {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return Buffer.from(bytes).toString('base64')
  }
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

const KINDS: Partial<Record<ErrorCode, FailureKind>> = {
  timeout: 'timeout',
  unavailable: 'connection',
  not_found: 'not_found',
  refused: 'auth',
  too_large: 'schema',
  invalid_input: 'config',
}

function toNatsFailure(error: unknown, operation: string): ToolFailure {
  if (error instanceof ToolFailure) return error
  const found = toBusError(error, `nats ${operation}`)
  const { natsCode } = found.details
  const isAuth = natsCode === 'AUTHORIZATION_VIOLATION' || natsCode === 'AUTHENTICATION_EXPIRED'
  // 10059: no such stream, which is what a bucket is made of.
  const isMissing = found.details['apiCode'] === 10_059
  const kind = isAuth ? 'auth' : isMissing ? 'not_found' : (KINDS[found.code] ?? 'unknown')
  const code = typeof natsCode === 'string' ? `NATS_${natsCode}` : undefined
  return new ToolFailure(kind, found.message, { ...(code === undefined ? {} : { code }), cause: error })
}
