// A durable pull consumer, made if it is missing, read in bounded batches. The caller acknowledges after its own
// commit.
import { AckPolicy, type Consumer, DeliverPolicy, type JsMsg, type NatsConnection, nanos } from 'nats'
import { withDeadline } from '../runtime/deadline.js'
import { toBusError } from './busErrors.js'

export interface PullerSettings {
  stream: string
  durable: string
  filterSubject?: string
  ackWaitMs: number
  maxAckPending: number
  /** From the beginning of the stream, so that a fresh installation sees its history. */
  deliver: 'all' | 'new'
}

export interface PulledMessage {
  subject: string
  data: Uint8Array
  header(name: string): string | undefined
  /** How often it was delivered, this time included. */
  deliveries: number
  streamSequence: number
  ack(): void
  /** Again, after a pause. */
  retryLater(ms: number): void
  /** Never again. */
  drop(): void
}

export interface Puller {
  /** Up to `max` messages; an empty list after `waitMs` without any. */
  pull(max: number, waitMs: number): Promise<PulledMessage[]>
}

const API_DEADLINE_MS = 5_000

export async function openPuller(connection: NatsConnection, settings: PullerSettings): Promise<Puller> {
  try {
    const consumer = await withDeadline(ensureConsumer(connection, settings), API_DEADLINE_MS * 2, {
      what: `setting up consumer ${settings.durable}`,
    })
    return { pull: (max, waitMs) => pull(consumer, settings.durable, max, waitMs) }
  } catch (error) {
    throw toBusError(error, `consumer ${settings.durable}`)
  }
}

async function ensureConsumer(connection: NatsConnection, settings: PullerSettings): Promise<Consumer> {
  const manager = await connection.jetstreamManager({ timeout: API_DEADLINE_MS })
  const existing = await manager.consumers.info(settings.stream, settings.durable).catch((error: { code?: string }) => {
    if (error.code === '404') return undefined
    throw error
  })
  if (existing === undefined) {
    await manager.consumers.add(settings.stream, {
      durable_name: settings.durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: settings.deliver === 'all' ? DeliverPolicy.All : DeliverPolicy.New,
      ack_wait: nanos(settings.ackWaitMs),
      max_ack_pending: settings.maxAckPending,
      max_deliver: -1,
      ...(settings.filterSubject === undefined ? {} : { filter_subject: settings.filterSubject }),
    })
  }
  return connection.jetstream({ timeout: API_DEADLINE_MS }).consumers.get(settings.stream, settings.durable)
}

async function pull(consumer: Consumer, name: string, max: number, waitMs: number): Promise<PulledMessage[]> {
  const collect = async (): Promise<PulledMessage[]> => {
    const found: PulledMessage[] = []
    const batch = await consumer.fetch({ max_messages: max, expires: Math.max(1_000, waitMs) })
    for await (const message of batch) found.push(wrap(message))
    return found
  }
  try {
    return await withDeadline(collect(), waitMs + API_DEADLINE_MS, { what: `pulling from ${name}` })
  } catch (error) {
    throw toBusError(error, `consumer ${name}`)
  }
}

function wrap(message: JsMsg): PulledMessage {
  return {
    subject: message.subject,
    data: message.data,
    header: (name) => (message.headers?.has(name) ? message.headers.get(name) : undefined),
    deliveries: message.info.redeliveryCount,
    streamSequence: message.seq,
    ack: () => message.ack(),
    retryLater: (ms) => message.nak(ms),
    drop: () => message.term(),
  }
}
