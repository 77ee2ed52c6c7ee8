// Looks into the stream from outside: what is really stored, and does it keep the promises.
import { randomBytes } from 'node:crypto'
import { connect, type JetStreamManager, type NatsConnection, type StreamConfig } from 'nats'
import type { TestServers } from './servers.js'

export interface TestStream {
  name: string
  prefix: string
  /** Settings of a daemon or command that uses this stream. */
  env: Record<string, string>
  jsm: JetStreamManager
  connection: NatsConnection
  make(options?: Partial<StreamConfig>): Promise<void>
  messages(): Promise<StreamMessage[]>
  close(): Promise<void>
}

export interface StreamMessage {
  seq: number
  /** Milliseconds since 1970, by the broker. */
  storedMs: number
  subject: string
  messageId: string | undefined
  outboxId: string | undefined
  executionId: string | undefined
  body: string
  headers: Record<string, string>
}

export async function useStream(servers: Pick<TestServers, 'natsUrl' | 'natsToken'>): Promise<TestStream> {
  const connection = await connect({
    servers: servers.natsUrl,
    token: servers.natsToken,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  })
  const jsm = await connection.jetstreamManager()
  const name = `T_${randomBytes(5).toString('hex')}`
  const prefix = `t${name.toLowerCase().replace('_', '')}`
  return {
    name,
    prefix,
    env: {
      NOETL_NATS_URL: servers.natsUrl,
      NOETL_NATS_TOKEN: servers.natsToken,
      NOETL_EVENT_NATS_STREAM: name,
      NOETL_EVENT_NATS_SUBJECT_PREFIX: prefix,
      NOETL_PROJECTOR_NATS_CONSUMER: `projector-${name}`,
    },
    jsm,
    connection,
    make: async (options = {}) => {
      await jsm.streams.add({ name, subjects: [`${prefix}.>`], duplicate_window: 120e9, max_age: 3600e9, ...options })
    },
    messages: () => readStream(connection, jsm, name),
    close: async () => {
      await jsm.streams.delete(name).catch(() => undefined)
      await connection.close()
    },
  }
}

export async function readStream(
  connection: NatsConnection,
  jsm: JetStreamManager,
  name: string,
): Promise<StreamMessage[]> {
  const { state } = await jsm.streams.info(name)
  const found: StreamMessage[] = []
  if (state.messages === 0) return found
  const consumer = await connection.jetstream().consumers.get(name)
  const batch = await consumer.consume({ max_messages: 5_000 })
  for await (const message of batch) {
    const headers: Record<string, string> = {}
    for (const key of message.headers?.keys() ?? []) headers[key] = message.headers!.get(key)
    found.push({
      seq: message.seq,
      storedMs: message.info.timestampNanos / 1e6,
      subject: message.subject,
      messageId: headers['Nats-Msg-Id'],
      outboxId: headers['Noetl-Outbox-Id'],
      executionId: headers['Noetl-Execution-Id'],
      body: message.string(),
      headers,
    })
    if (message.seq >= state.last_seq) break
  }
  return found
}

export interface Verdict {
  stored: number
  lost: string[]
  duplicates: string[]
  /** First deliveries of an execution that are not in outbox order. */
  outOfOrder: string[]
  /** Messages that no committed row asked for. */
  uninvited: string[]
}

/** Compares the stream with the rows that were committed: `ids` in outbox order. */
export function judge(
  messages: readonly StreamMessage[],
  rows: readonly { outbox_id: string; message_id: string }[],
): Verdict {
  const seen = new Set<string>()
  const duplicates: string[] = []
  const firsts: StreamMessage[] = []
  for (const message of messages) {
    const id = message.messageId ?? '?'
    if (seen.has(id)) duplicates.push(id)
    else firsts.push(message)
    seen.add(id)
  }
  const last = new Map<string, bigint>()
  const outOfOrder: string[] = []
  for (const message of firsts) {
    const execution = message.executionId ?? '?'
    const position = BigInt(message.outboxId ?? '0')
    if (position < (last.get(execution) ?? 0n)) outOfOrder.push(message.messageId ?? '?')
    else last.set(execution, position)
  }
  const committed = new Set(rows.map((row) => row.message_id))
  return {
    stored: seen.size,
    lost: [...committed].filter((id) => !seen.has(id)),
    duplicates,
    outOfOrder,
    uninvited: [...seen].filter((id) => !committed.has(id)),
  }
}
