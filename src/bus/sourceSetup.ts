// Finds the stream of a source and makes its durable consumer, or takes the one that is there.
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  type NatsConnection,
  nanos,
  type StreamInfo,
} from 'nats'
import { CpError } from '../errors.js'
import { toBusError } from './busErrors.js'

export const API_DEADLINE_MS = 5_000
const SERVER_ACK_WAIT_MS = 30_000

export interface SourceAddress {
  stream: string | undefined
  subject: string | undefined
  deliver: 'all' | 'new'
}

/** What decides whether a stream may be a source at all. */
export interface SourceStream {
  name: string
  subjects: readonly string[]
  /** Streams that it copies from. */
  copiesOf: readonly string[]
}

export interface SourceSetup {
  address: SourceAddress
  durable: string
  /** Made by an operator: used as it is, never changed. */
  isForeign: boolean
  ackWaitMs: number
  maxAckPending: number
  /** Throws when messages must not be taken from there. */
  assertAllowed(stream: SourceStream): void
}

export interface ReadySource {
  stream: string
  /** Digits of the time at which the stream was made. */
  streamMadeAt: string
  /** As the consumer has it, whoever made it. */
  ackWaitMs: number
}

export async function ensureConsumer(connection: NatsConnection, setup: SourceSetup): Promise<ReadySource> {
  const manager = await connection.jetstreamManager({ timeout: API_DEADLINE_MS, checkAPI: false })
  const { address, durable } = setup
  const stream = await streamOf(connection, address)
  const info = await manager.streams.info(stream)
  setup.assertAllowed(describe(info))
  const consumer = await consumerOf(manager, stream, setup)
  if (consumer.config.ack_policy !== AckPolicy.Explicit || consumer.config.deliver_subject !== undefined) {
    throw new CpError('refused', `consumer ${durable} of stream ${stream} is not a pull consumer with explicit acks`)
  }
  return { stream, streamMadeAt: info.created.replace(/\D/g, ''), ackWaitMs: ackWaitOf(consumer) }
}

async function consumerOf(manager: JetStreamManager, stream: string, setup: SourceSetup): Promise<ConsumerInfo> {
  const { address, durable, isForeign } = setup
  const limits = { ack_wait: nanos(setup.ackWaitMs), max_ack_pending: setup.maxAckPending }
  const existing = await manager.consumers.info(stream, durable).catch(undefinedIfMissing)
  if (existing === undefined) {
    return manager.consumers.add(stream, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: address.deliver === 'all' ? DeliverPolicy.All : DeliverPolicy.New,
      max_deliver: -1,
      ...limits,
      ...(address.subject === undefined ? {} : { filter_subject: address.subject }),
    })
  }
  return isForeign || !differs(existing, limits) ? existing : manager.consumers.update(stream, durable, limits)
}

function describe({ config }: StreamInfo): SourceStream {
  return {
    name: config.name,
    subjects: config.subjects ?? [],
    copiesOf: [config.mirror, ...(config.sources ?? [])].flatMap((from) => (from === undefined ? [] : [from.name])),
  }
}

/** A consumer with a row of waits uses the shortest of them first. */
function ackWaitOf({ config }: ConsumerInfo): number {
  const waits = [config.ack_wait ?? 0, ...(config.backoff ?? [])].filter((wait) => wait > 0)
  return waits.length === 0 ? SERVER_ACK_WAIT_MS : Math.min(...waits) / 1e6
}

function differs({ config }: ConsumerInfo, wanted: { ack_wait: number; max_ack_pending: number }): boolean {
  return config.ack_wait !== wanted.ack_wait || config.max_ack_pending !== wanted.max_ack_pending
}

export async function streamOf(connection: NatsConnection, address: SourceAddress): Promise<string> {
  if (address.stream !== undefined) return address.stream
  const manager = await connection.jetstreamManager({ timeout: API_DEADLINE_MS, checkAPI: false })
  return manager.streams.find(address.subject!)
}

/** What is wrong with the address of a source that is not there; undefined when it is. */
export async function missingStream(connection: NatsConnection, address: SourceAddress): Promise<string | undefined> {
  const manager = await connection.jetstreamManager({ timeout: API_DEADLINE_MS, checkAPI: false })
  const { stream, subject } = address
  try {
    if (stream !== undefined) {
      await manager.streams.info(stream)
      return undefined
    }
    for await (const _ of manager.streams.names(subject)) return undefined
    return `no stream has the subject ${subject}; make one, and deliveries begin`
  } catch (error) {
    const failure = toBusError(error, stream === undefined ? `streams of ${subject}` : `stream ${stream}`)
    if (failure.code !== 'not_found') throw failure
    return `the stream ${stream} does not exist; make it, and deliveries begin`
  }
}

export function undefinedIfMissing(error: { code?: string; api_error?: { err_code?: number } }): undefined {
  // 10014: no such consumer. A missing stream is another matter.
  if (error.code === '404' && error.api_error?.err_code === 10014) return undefined
  throw error
}
