// A durable consumer on somebody's stream, driven by pull requests of our own: messages are handed over one by
// one as they arrive, never more than asked for. Stopping asks for nothing more and waits for what was asked,
// so that no message is left without an answer until its redelivery.
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  type Msg,
  type NatsConnection,
  nanos,
  nuid,
} from 'nats'
import { CpError } from '../errors.js'
import { withDeadline } from '../runtime/deadline.js'
import { toBusError } from './busErrors.js'

export interface SourceAddress {
  stream: string | undefined
  subject: string | undefined
  deliver: 'all' | 'new'
}

export interface SourceMessage {
  stream: string
  sequence: number
  subject: string
  data: Uint8Array
  /** How often it was delivered, this time included. */
  deliveries: number
  header(name: string): string | undefined
  headers(): Record<string, string>
  ack(): void
  retryLater(ms: number): void
  drop(): void
}

export interface SourceConsumer {
  readonly stream: string
  readonly durable: string
  /** Asks for up to `count` more messages. */
  request(count: number): void
  /** Asked for and not yet come; a request that was not filled in time no longer counts. */
  outstanding(): number
  /** Nothing more is asked for; resolves when nothing more can come. */
  stop(): Promise<void>
}

export interface SourceOptions {
  address: SourceAddress
  durable: string
  /** Made by an operator: used as it is, never changed. */
  isForeign: boolean
  ackWaitMs: number
  maxAckPending: number
  onMessage(message: SourceMessage): void
  /** A request ended without being filled, or for good; the time to ask again. */
  onIdle(): void
  onLost(error: CpError): void
}

const API_DEADLINE_MS = 5_000
const EXPIRES_MS = 1_000
// Beyond the server's own expiry: the answer was lost with the link.
const GRACE_MS = 1_500

export async function openSource(connection: NatsConnection, options: SourceOptions): Promise<SourceConsumer> {
  const { durable } = options
  try {
    const stream = await withDeadline(ensureConsumer(connection, options), API_DEADLINE_MS * 2, {
      what: `setting up consumer ${durable}`,
    })
    return attach(connection, stream, options)
  } catch (error) {
    throw toBusError(error, `consumer ${durable}`)
  }
}

function attach(connection: NatsConnection, stream: string, options: SourceOptions): SourceConsumer {
  const { durable } = options
  const requests = new Map<string, { left: number; timer: NodeJS.Timeout }>()
  const base = `_INBOX.${nuid.next()}`
  const next = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`
  let serial = 0
  let stopping: (() => void) | undefined

  const subscription = connection.subscribe(`${base}.*`, {
    callback: (error, message) => {
      if (error) options.onLost(toBusError(error, `consumer ${durable}`))
      else take(message)
    },
  })

  function take(message: Msg): void {
    if (message.reply !== undefined && message.reply !== '') {
      // A delivered message keeps its own subject. The server fills requests in their order.
      const token = firstOpen()
      const request = requests.get(token)
      options.onMessage(new Delivered(message))
      if (request === undefined) return
      request.left -= 1
      if (request.left === 0) finish(token)
      return
    }
    const code = message.headers?.code
    if (code === 409 && /deleted/i.test(message.headers?.description ?? '')) {
      options.onLost(new CpError('unavailable', `consumer ${durable} of stream ${stream} was deleted`))
    } else if (code === 503) {
      options.onLost(new CpError('unavailable', `stream ${stream} or its consumer ${durable} is gone`))
    }
    // 408 expired, 404 nothing there, 409 over a limit: either way this request is over. A heartbeat (100) is not.
    if (code !== 100) finish(message.subject.slice(base.length + 1))
  }

  function firstOpen(): string {
    for (const token of requests.keys()) return token
    return ''
  }

  function finish(token: string): void {
    const request = requests.get(token)
    if (request === undefined) return
    clearTimeout(request.timer)
    requests.delete(token)
    if (requests.size === 0) stopping?.()
    if (stopping === undefined) options.onIdle()
  }

  return {
    stream,
    durable,
    request: (count) => {
      if (stopping !== undefined || count <= 0) return
      const token = (serial++).toString(36)
      const timer = setTimeout(() => finish(token), EXPIRES_MS + GRACE_MS)
      requests.set(token, { left: count, timer })
      try {
        connection.publish(next, JSON.stringify({ batch: count, expires: nanos(EXPIRES_MS) }), {
          reply: `${base}.${token}`,
        })
      } catch (error) {
        finish(token)
        throw toBusError(error, `consumer ${durable}`)
      }
    },
    outstanding: () => {
      let total = 0
      for (const { left } of requests.values()) total += left
      return total
    },
    stop: async () => {
      if (requests.size > 0) {
        await new Promise<void>((resolve) => {
          stopping = resolve
        })
      }
      stopping ??= () => undefined
      subscription.unsubscribe()
    },
  }
}

async function ensureConsumer(connection: NatsConnection, options: SourceOptions): Promise<string> {
  const manager = await connection.jetstreamManager({ timeout: API_DEADLINE_MS, checkAPI: false })
  const { address, durable } = options
  const stream = await streamOf(connection, address)
  const existing = await manager.consumers.info(stream, durable).catch(undefinedIfMissing)
  const limits = { ack_wait: nanos(options.ackWaitMs), max_ack_pending: options.maxAckPending }
  if (existing === undefined) {
    await manager.consumers.add(stream, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: address.deliver === 'all' ? DeliverPolicy.All : DeliverPolicy.New,
      max_deliver: -1,
      ...limits,
      ...(address.subject === undefined ? {} : { filter_subject: address.subject }),
    })
  } else {
    if (existing.config.ack_policy !== AckPolicy.Explicit || existing.config.deliver_subject !== undefined) {
      throw new CpError('refused', `consumer ${durable} of stream ${stream} is no pull consumer with explicit acks`)
    }
    if (!options.isForeign && differs(existing, limits)) await manager.consumers.update(stream, durable, limits)
  }
  return stream
}

function differs({ config }: ConsumerInfo, wanted: { ack_wait: number; max_ack_pending: number }): boolean {
  return config.ack_wait !== wanted.ack_wait || config.max_ack_pending !== wanted.max_ack_pending
}

async function streamOf(connection: NatsConnection, address: SourceAddress): Promise<string> {
  if (address.stream !== undefined) return address.stream
  const manager = await connection.jetstreamManager({ timeout: API_DEADLINE_MS, checkAPI: false })
  return manager.streams.find(address.subject!)
}

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

function undefinedIfMissing(error: { code?: string; api_error?: { err_code?: number } }): undefined {
  // 10014: no such consumer. A missing stream is another matter.
  if (error.code === '404' && error.api_error?.err_code === 10014) return undefined
  throw error
}

const ACK = Buffer.from('+ACK')
const TERM = Buffer.from('+TERM')

/** A class and not an object of functions: one of these is made per message. */
class Delivered implements SourceMessage {
  readonly stream: string
  readonly sequence: number
  readonly deliveries: number
  readonly subject: string
  readonly data: Uint8Array

  constructor(private readonly message: Msg) {
    const { stream, deliveries, sequence } = readReply(message.reply!)
    this.stream = stream
    this.sequence = sequence
    this.deliveries = deliveries
    this.subject = message.subject
    this.data = message.data
  }

  header(name: string): string | undefined {
    const { headers } = this.message
    return headers?.has(name) ? headers.get(name) : undefined
  }

  headers(): Record<string, string> {
    const found: Record<string, string> = {}
    const { headers } = this.message
    for (const key of headers?.keys() ?? []) found[key] = headers!.get(key)
    return found
  }

  ack(): void {
    respond(this.message, ACK)
  }

  retryLater(ms: number): void {
    respond(this.message, Buffer.from(`-NAK ${JSON.stringify({ delay: nanos(ms) })}`))
  }

  drop(): void {
    respond(this.message, TERM)
  }
}

/** An answer that is lost is a redelivery, which is counted on anyway. */
function respond(message: Msg, answer: Uint8Array): void {
  try {
    message.respond(answer)
  } catch {
    // The link is closed.
  }
}

/** `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>…`; newer servers put domain and account in front. */
function readReply(reply: string): { stream: string; deliveries: number; sequence: number } {
  const tokens = reply.split('.')
  const at = tokens.length === 9 ? 2 : 4
  return { stream: tokens[at]!, deliveries: Number(tokens[at + 2]), sequence: Number(tokens[at + 3]) }
}
