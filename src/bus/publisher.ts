// Pipelined JetStream publishing: plain publishes with a shared reply inbox, many acknowledgements
// outstanding. The client's own js.publish makes a request object, a timer and an Error per message, which
// costs most of the throughput. Every message gets exactly one outcome, at the latest at its deadline.
import { type Msg, type NatsConnection, NatsError, nuid, type Subscription } from 'nats'
import { messageOf } from '../errors.js'
import type { Clock } from '../runtime/clock.js'
import type { Bus } from './connect.js'

export interface OutMessage {
  subject: string
  /** Header lines, each ended by CRLF; the caller has made sure that no value breaks its line. */
  headers: string
  body: string
}

export type PublishOutcome =
  | { kind: 'stored'; seq: number; duplicate: boolean }
  /** No answer: it may or may not be stored. */
  | { kind: 'unknown'; reason: string }
  /** The broker or the stream cannot take anything now; nothing is wrong with the message. */
  | { kind: 'unavailable'; reason: string }
  /** This message was refused. */
  | { kind: 'rejected'; reason: string; permanent: boolean }

export interface Publisher {
  /** `done` is called exactly once, never synchronously with a stored outcome. */
  publish(message: OutMessage, done: (outcome: PublishOutcome) => void): void
  inFlight(): number
  /** The largest message the server takes, headers included. */
  maxPayload(): number
  close(): void
}

interface Pending {
  subject: string
  deadline: number
  done: (outcome: PublishOutcome) => void
}

// JetStream's own codes for "not now": storage, account and stream limits, no leader, stream not found.
const NOT_NOW = new Set([10002, 10008, 10023, 10028, 10047, 10059, 10076, 10077, 10074])
const TOO_LARGE = 10054
const SWEEP_MS = 100

export interface PublisherOptions {
  bus: Bus
  clock: Clock
  ackTimeoutMs: number
}

export function createPublisher({ bus, clock, ackTimeoutMs }: PublisherOptions): Publisher {
  const pending = new Map<string, Pending>()
  let connection: NatsConnection | undefined
  let subscription: Subscription | undefined
  let inbox = ''
  let counter = 0
  let sweeper: NodeJS.Timeout | undefined

  function attach(current: NatsConnection): void {
    connection = current
    subscription?.unsubscribe()
    // A fresh inbox per connection: an answer to something already given up must not find a new message.
    inbox = `_INBOX.${nuid.next()}.`
    subscription = current.subscribe(`${inbox}*`, { callback: (_, message) => onAnswer(message) })
    void followErrors(current)
  }

  /** A publish that the server does not permit is answered by an error on the connection, not in the inbox. */
  async function followErrors(current: NatsConnection): Promise<void> {
    for await (const status of current.status()) {
      if (current !== connection) return
      if (status.type === 'disconnect') giveUpAll('the link to NATS was lost')
      if (status.type !== 'error' || status.data !== 'PERMISSIONS_VIOLATION') continue
      const subject = status.permissionContext?.subject
      for (const [token, entry] of pending) {
        if (entry.subject === subject)
          settle(token, { kind: 'rejected', reason: `NATS does not permit publishing to ${subject}`, permanent: false })
      }
    }
  }

  function onAnswer(message: Msg): void {
    const token = message.subject.slice(inbox.length)
    if (!pending.has(token)) return
    settle(token, readAnswer(message))
  }

  function settle(token: string, outcome: PublishOutcome): void {
    const entry = pending.get(token)
    if (entry === undefined) return
    pending.delete(token)
    if (pending.size === 0 && sweeper !== undefined) {
      clearInterval(sweeper)
      sweeper = undefined
    }
    entry.done(outcome)
  }

  function giveUpAll(reason: string): void {
    for (const token of [...pending.keys()]) settle(token, { kind: 'unknown', reason })
  }

  function giveUpLate(): void {
    const now = clock.monotonic()
    for (const [token, entry] of pending) {
      // In the order of sending, so the first that still has time ends the search.
      if (entry.deadline > now) return
      settle(token, { kind: 'unknown', reason: `no acknowledgement within ${ackTimeoutMs} ms` })
    }
  }

  return {
    publish: (message, done) => {
      try {
        const current = bus.connection()
        if (current !== connection) attach(current)
        const token = (counter++).toString(36)
        pending.set(token, { subject: message.subject, deadline: clock.monotonic() + ackTimeoutMs, done })
        sweeper ??= setInterval(giveUpLate, SWEEP_MS)
        try {
          current.publish(message.subject, message.body, {
            reply: inbox + token,
            headers: encoded(message.headers) as never,
          })
        } catch (error) {
          settle(token, refusal(error))
        }
      } catch (error) {
        done({ kind: 'unavailable', reason: messageOf(error) })
      }
    },
    inFlight: () => pending.size,
    maxPayload: () => (bus.isConnected() ? (bus.connection().info?.max_payload ?? 1_048_576) : 1_048_576),
    close: () => {
      giveUpAll('the relay is stopping')
      subscription?.unsubscribe()
      clearInterval(sweeper)
      connection = undefined
    },
  }
}

/** The client only calls encode() on headers; handing it the block saves its map and its checks. */
function encoded(lines: string): { encode(): Uint8Array } {
  return { encode: () => Buffer.from(`NATS/1.0\r\n${lines}\r\n`, 'latin1') }
}

function refusal(error: unknown): PublishOutcome {
  const code = error instanceof NatsError ? error.code : ''
  if (code === 'MAX_PAYLOAD_EXCEEDED')
    return { kind: 'rejected', reason: 'larger than the server takes', permanent: true }
  if (code === 'BAD_SUBJECT' || code === 'BAD_HEADER')
    return { kind: 'rejected', reason: messageOf(error), permanent: true }
  return { kind: 'unavailable', reason: messageOf(error) }
}

interface AckBody {
  seq?: number
  duplicate?: boolean
  error?: { code?: number; err_code?: number; description?: string }
}

function readAnswer(message: Msg): PublishOutcome {
  if (message.data.length === 0) {
    const reason =
      message.headers?.code === 503 ? 'no stream takes this subject, or JetStream is off' : 'empty answer from NATS'
    return { kind: 'unavailable', reason }
  }
  let body: AckBody
  try {
    body = JSON.parse(
      Buffer.from(message.data.buffer, message.data.byteOffset, message.data.length).toString('latin1'),
    ) as AckBody
  } catch {
    return { kind: 'unknown', reason: 'unreadable answer from NATS' }
  }
  if (body.error === undefined) return { kind: 'stored', seq: body.seq ?? 0, duplicate: body.duplicate === true }
  const { err_code: code = 0, description = 'refused by JetStream' } = body.error
  if (code === TOO_LARGE) return { kind: 'rejected', reason: description, permanent: true }
  if (NOT_NOW.has(code) || body.error.code === 503) return { kind: 'unavailable', reason: description }
  return { kind: 'rejected', reason: `${description} (${code})`, permanent: false }
}
