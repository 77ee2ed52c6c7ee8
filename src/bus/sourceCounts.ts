// Counts what waits for a durable consumer on a stream of others, whether or not the consumer exists yet.
import type { JetStreamManager, NatsConnection } from 'nats'
import { withDeadline } from '../runtime/deadline.js'
import { toBusError } from './busErrors.js'
import { API_DEADLINE_MS, type SourceAddress, streamOf, undefinedIfMissing } from './sourceSetup.js'

export interface ConsumerCounts {
  /** Messages of the stream that were never delivered. */
  pending: number
  /** Delivered and not acknowledged yet. */
  ackPending: number
  redelivered: number
  /** Whether it is there; one that is missing is made by the daemon that drives it. */
  exists: boolean
  /** When the oldest message without an acknowledgement was stored; undefined when none waits. */
  oldestAt: Date | undefined
}

/** A consumer that does not exist yet has everything of its subject before it. */
export async function consumerCounts(
  connection: NatsConnection,
  address: SourceAddress,
  durable: string,
): Promise<ConsumerCounts> {
  try {
    return await withDeadline(count(connection, address, durable), API_DEADLINE_MS, {
      what: `reading consumer ${durable}`,
    })
  } catch (error) {
    throw toBusError(error, `consumer ${durable}`)
  }
}

async function count(connection: NatsConnection, address: SourceAddress, durable: string): Promise<ConsumerCounts> {
  const manager = await connection.jetstreamManager({ timeout: API_DEADLINE_MS, checkAPI: false })
  const stream = await streamOf(connection, address)
  const info = await manager.consumers.info(stream, durable).catch(undefinedIfMissing)
  if (info !== undefined) {
    const waits = info.num_pending + info.num_ack_pending > 0
    return {
      pending: info.num_pending,
      ackPending: info.num_ack_pending,
      redelivered: info.num_redelivered,
      exists: true,
      oldestAt: waits
        ? await storedAfter(manager, stream, info.ack_floor.stream_seq, info.config.filter_subject)
        : undefined,
    }
  }
  const pending = address.deliver === 'new' ? 0 : await messagesOf(manager, stream, address.subject)
  return {
    pending,
    ackPending: 0,
    redelivered: 0,
    exists: false,
    oldestAt: pending > 0 ? await storedAfter(manager, stream, 0, address.subject) : undefined,
  }
}

async function messagesOf(manager: JetStreamManager, stream: string, subject: string | undefined): Promise<number> {
  if (subject === undefined) return (await manager.streams.info(stream)).state.messages
  const { state } = await manager.streams.info(stream, { subjects_filter: subject })
  return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0)
}

/** The time of the first message of a subject after a sequence: one request, wherever in the stream it is. */
async function storedAfter(
  manager: JetStreamManager,
  stream: string,
  sequence: number,
  subject: string | undefined,
): Promise<Date | undefined> {
  try {
    // The server has taken both together since 2.9; the type of the client does not say so.
    const query = { seq: sequence + 1, next_by_subj: subject ?? '>' } as unknown as { seq: number }
    return (await manager.streams.getMessage(stream, query)).time
  } catch (error) {
    // 10037: acknowledged or removed meanwhile.
    if ((error as { api_error?: { err_code?: number } }).api_error?.err_code === 10037) return undefined
    throw error
  }
}
