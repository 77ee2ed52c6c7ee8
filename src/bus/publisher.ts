// Pipelined JetStream publishing: plain publishes with a shared reply inbox, many acknowledgements
// outstanding. The client's own js.publish makes a request object, a timer and an Error per message, which
// costs most of the throughput. Every message gets exactly one outcome, at the latest at its deadline.
import { type Msg, type NatsConnection, nuid, type Subscription } from 'nats'
import { messageOf } from '../errors.js'
import type { Clock } from '../runtime/clock.js'
import { PassingMap } from '../runtime/passingMap.js'
import type { Bus } from './connect.js'
import { createFrameWriter, type FrameWriter } from './frameWriter.js'

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
  | { kind: 'rejected'; reason: string; permanent: boolean; why?: 'subject' | 'too_large' }

export interface Publisher {
  /**
   * `now` is the caller's monotonic time. `done` is called exactly once, never synchronously with a stored outcome.
   * What is published leaves with the next `flush`, at the latest when a chunk is full.
   */
  publish(message: OutMessage, now: number, done: (outcome: PublishOutcome) => void): void
  flush(): void
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
// The last message of the subject is not the expected one: this message may be the one that came in between.
const WRONG_LAST = new Set([10071, 10164])
const SWEEP_MS = 100

export interface PublisherOptions {
  bus: Bus
  clock: Clock
  ackTimeoutMs: number
}

export function createPublisher({ bus, clock, ackTimeoutMs }: PublisherOptions): Publisher {
  const pending = new PassingMap<string, Pending>()
  let connection: NatsConnection | undefined
  let subscription: Subscription | undefined
  let frames: FrameWriter | undefined
  let inbox = ''
  let counter = 0
  let sweeper: NodeJS.Timeout | undefined

  function attach(current: NatsConnection): void {
    connection = current
    frames = createFrameWriter(current)
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
          finish(token, entry, {
            kind: 'rejected',
            reason: `NATS does not permit publishing to ${subject}`,
            permanent: false,
          })
      }
    }
  }

  function onAnswer(message: Msg): void {
    const token = message.subject.slice(inbox.length)
    const entry = pending.get(token)
    if (entry !== undefined) finish(token, entry, readAnswer(message))
  }

  function finish(token: string, entry: Pending, outcome: PublishOutcome): void {
    pending.delete(token)
    if (pending.size === 0 && sweeper !== undefined) {
      clearInterval(sweeper)
      sweeper = undefined
    }
    entry.done(outcome)
  }

  function giveUpAll(reason: string): void {
    for (const [token, entry] of [...pending]) finish(token, entry, { kind: 'unknown', reason })
  }

  function giveUpLate(): void {
    const now = clock.monotonic()
    for (const [token, entry] of pending) {
      // In the order of sending, so the first that still has time ends the search.
      if (entry.deadline > now) return
      finish(token, entry, { kind: 'unknown', reason: `no acknowledgement within ${ackTimeoutMs} ms` })
    }
  }

  return {
    publish: (message, now, done) => {
      try {
        const current = bus.connection()
        if (current !== connection) attach(current)
        const token = (counter++).toString(36)
        const written = frames!.write(message.subject, inbox + token, message.headers, message.body)
        if (!written) {
          done({ kind: 'rejected', reason: 'larger than the server takes', permanent: true, why: 'too_large' })
          return
        }
        pending.set(token, { subject: message.subject, deadline: now + ackTimeoutMs, done })
        sweeper ??= setInterval(giveUpLate, SWEEP_MS)
      } catch (error) {
        done({ kind: 'unavailable', reason: messageOf(error) })
      }
    },
    flush: () => frames?.flush(),
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

// What nearly every answer looks like. Anything else in it, and it is read as JSON.
const PLAIN_ACK = /^\{"stream":"[^"\\]+", ?"seq":(\d+)\}$/

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
  const text = Buffer.from(message.data.buffer, message.data.byteOffset, message.data.length).toString('latin1')
  const plain = PLAIN_ACK.exec(text)
  if (plain !== null) return { kind: 'stored', seq: Number(plain[1]), duplicate: false }
  let body: AckBody
  try {
    body = JSON.parse(text) as AckBody
  } catch {
    return { kind: 'unknown', reason: 'unreadable answer from NATS' }
  }
  if (body.error === undefined) return { kind: 'stored', seq: body.seq ?? 0, duplicate: body.duplicate === true }
  const { err_code: code = 0, description = 'refused by JetStream' } = body.error
  if (code === TOO_LARGE) return { kind: 'rejected', reason: description, permanent: true, why: 'too_large' }
  if (WRONG_LAST.has(code)) return { kind: 'unknown', reason: description }
  if (NOT_NOW.has(code) || body.error.code === 503) return { kind: 'unavailable', reason: description }
  return { kind: 'rejected', reason: `${description} (${code})`, permanent: false }
}
