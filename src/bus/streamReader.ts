// Which message ids a stream holds, at given sequences or on one subject. Neighbours are read together through a short-lived consumer that
// delivers headers only. A consumer's silence proves nothing: the broker may be slow, or the link was lost with messages
// on it. So each sequence that it did not deliver is asked for by itself, and only an answer says that it is not there.
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  type JetStreamManager,
  type NatsConnection,
  nanos,
  ReplayPolicy,
} from 'nats'
import { withDeadline } from '../runtime/deadline.js'
import { toBusError } from './busErrors.js'

export interface StreamFacts {
  firstSeq: number
  lastSeq: number
  /** Milliseconds since 1970. */
  createdMs: number
  /** 0: messages do not age out. */
  maxAgeMs: number
  duplicateWindowMs: number
  /** Messages may leave it before their age, because of a limit on number or size. */
  isBoundedBySize: boolean
}

const DEADLINE_MS = 5_000
const READ_DEADLINE_MS = 30_000
// Reading over a gap this wide costs less than asking anew.
const GAP_MAX = 500
const FETCH = 1_000
const ASKED_AT_ONCE = 32
const MESSAGE_ID = 'Nats-Msg-Id'

/** Undefined when there is no such stream. */
export async function readStreamFacts(connection: NatsConnection, stream: string): Promise<StreamFacts | undefined> {
  return guarded(stream, DEADLINE_MS * 2, async () => {
    const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS, checkAPI: false })
    const info = await manager.streams.info(stream).catch(undefinedIfMissing)
    if (info === undefined) return undefined
    const { state, config } = info
    return {
      firstSeq: state.first_seq,
      lastSeq: state.last_seq,
      createdMs: Date.parse(String(info.created)),
      maxAgeMs: config.max_age / 1e6,
      duplicateWindowMs: config.duplicate_window / 1e6,
      isBoundedBySize: config.max_bytes > 0 || config.max_msgs > 0 || config.max_msgs_per_subject > 0,
    }
  })
}

/** The message ids at these sequences (ascending, without repeats); what is not there is missing in the answer. */
export async function readMessageIds(
  connection: NatsConnection,
  stream: string,
  seqs: readonly number[],
): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  await guarded(stream, READ_DEADLINE_MS * 4, async () => {
    const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS, checkAPI: false })
    for (const run of runsOf(seqs)) if (run.length >= 3) await readRun(connection, manager, stream, run, found)
    await askSingly(
      manager,
      stream,
      seqs.filter((seq) => !found.has(seq)),
      found,
    )
  })
  return found
}

/** Where the stream holds this message id on this subject; undefined when not; 'unclear' when it holds more than `most` there. */
export async function findMessageId(
  connection: NatsConnection,
  stream: string,
  place: { subject: string; messageId: string; most: number },
): Promise<number | undefined | 'unclear'> {
  return guarded(stream, READ_DEADLINE_MS, async () => {
    const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS, checkAPI: false })
    const read = { deliver_policy: DeliverPolicy.All, filter_subject: place.subject }
    return withHeaders(connection, manager, stream, read, async (headers, pending) => {
      if (pending > place.most) return 'unclear'
      let left = pending
      for await (const { seq, messageId } of headers(pending)) {
        if (messageId === place.messageId) return seq
        left -= 1
      }
      if (left > 0) throw new Error(`${left} of ${pending} messages on ${place.subject} did not come`)
      return undefined
    })
  })
}

export interface RecentMessage {
  seq: number
  /** Undefined when it has no such header. */
  header(name: string): string | undefined
}

/** The last messages of the stream, at most `most`, that were stored since; oldest first, without their bodies. */
export async function readRecentHeaders(
  connection: NatsConnection,
  stream: string,
  { sinceMs, most }: { sinceMs: number; most: number },
): Promise<RecentMessage[]> {
  const facts = await readStreamFacts(connection, stream)
  // One that never had a message begins and ends at 0.
  if (facts === undefined || facts.lastSeq === 0 || facts.lastSeq < facts.firstSeq) return []
  return guarded(stream, READ_DEADLINE_MS, async () => {
    const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS, checkAPI: false })
    const start = Math.max(facts.firstSeq, facts.lastSeq - most + 1)
    const read = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: start }
    return withHeaders(connection, manager, stream, read, async (headers, pending) => {
      const found: RecentMessage[] = []
      for await (const message of headers(Math.min(pending, most))) if (message.storedMs >= sinceMs) found.push(message)
      return found
    })
  })
}

/** The texts of these messages; what is not there any more is missing in the answer. */
export async function readBodies(
  connection: NatsConnection,
  stream: string,
  seqs: readonly number[],
): Promise<Map<number, string>> {
  return guarded(stream, READ_DEADLINE_MS, async () => {
    const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS, checkAPI: false })
    const bodies = new Map<number, string>()
    for (const seq of seqs) {
      const message = await manager.streams.getMessage(stream, { seq }).catch(undefinedIfMissing)
      if (message !== undefined) bodies.set(seq, message.string())
    }
    return bodies
  })
}

function runsOf(seqs: readonly number[]): number[][] {
  const runs: number[][] = []
  for (const seq of seqs) {
    const run = runs[runs.length - 1]
    if (run !== undefined && seq - run[run.length - 1]! <= GAP_MAX) run.push(seq)
    else runs.push([seq])
  }
  return runs
}

async function askSingly(
  manager: JetStreamManager,
  stream: string,
  seqs: readonly number[],
  found: Map<number, string>,
): Promise<void> {
  const waiting = seqs.values()
  const asker = async (): Promise<void> => {
    // One iterator for all askers: each takes the next sequence.
    for (const seq of waiting) {
      const message = await manager.streams.getMessage(stream, { seq }).catch(undefinedIfMissing)
      if (message !== undefined) found.set(seq, message.header.get(MESSAGE_ID))
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, asker))
}

async function readRun(
  connection: NatsConnection,
  manager: JetStreamManager,
  stream: string,
  run: readonly number[],
  found: Map<number, string>,
): Promise<void> {
  const wanted = new Set(run)
  const end = run[run.length - 1]!
  const read = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: run[0]! }
  await withHeaders(connection, manager, stream, read, async (headers, pending) => {
    // Its neighbours beyond the end are fetched with it and not looked at.
    for await (const { seq, messageId } of headers(Math.min(pending, end - run[0]! + 1))) {
      if (wanted.has(seq)) found.set(seq, messageId)
      if (seq >= end) return
    }
  })
}

/** Messages in the order of the stream, headers only, at most `most`; ends early when none comes for a while. */
type ReadHeaders = (most: number) => AsyncIterable<HeadersOnly>

interface HeadersOnly extends RecentMessage {
  messageId: string
  /** Milliseconds since 1970, by the broker. */
  storedMs: number
}

async function withHeaders<T>(
  connection: NatsConnection,
  manager: JetStreamManager,
  stream: string,
  read: Partial<ConsumerConfig>,
  work: (headers: ReadHeaders, pending: number) => Promise<T>,
): Promise<T> {
  const { name, num_pending: pending } = await manager.consumers.add(stream, {
    ...read,
    ack_policy: AckPolicy.None,
    replay_policy: ReplayPolicy.Instant,
    headers_only: true,
    mem_storage: true,
    inactive_threshold: nanos(30_000),
    num_replicas: 1,
  })
  async function* headers(most: number): AsyncIterable<HeadersOnly> {
    try {
      const consumer = await connection.jetstream({ timeout: DEADLINE_MS }).consumers.get(stream, name)
      for (let left = most; left > 0; ) {
        const batch = await consumer.fetch({ max_messages: Math.min(FETCH, left), expires: DEADLINE_MS })
        const before = left
        for await (const message of batch) {
          left -= 1
          const header = (wanted: string): string | undefined => message.headers?.get(wanted) || undefined
          const storedMs = message.info.timestampNanos / 1e6
          yield { seq: message.seq, header, messageId: header(MESSAGE_ID) ?? '', storedMs }
        }
        if (left === before) return
      }
    } catch (error) {
      // It is kept in memory, and the server was started again: no more comes from it.
      undefinedIfMissing(error as { code?: string })
    }
  }
  try {
    return await work(headers, pending)
  } finally {
    // It ends by itself when this fails.
    await manager.consumers.delete(stream, name).catch(() => undefined)
  }
}

function undefinedIfMissing(error: { code?: string }): undefined {
  if (error.code === '404') return undefined
  throw error
}

async function guarded<T>(stream: string, deadlineMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await withDeadline(work(), deadlineMs, { what: `reading stream ${stream}` })
  } catch (error) {
    throw toBusError(error, `stream ${stream}`)
  }
}
