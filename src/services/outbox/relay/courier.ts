// The publishing side of the relay: takes rows from the queues, keeps up to `window` messages unanswered at a time,
// and acts on each outcome:
//
//   stored       the row is acked, the settler marks it PUBLISHED
//   unknown      no answer: sent again with the same message id; after 5 silences while others were answered: refused
//   unavailable  the broker or the stream: everything pauses for 0.25 s, doubling up to 5 s; costs no attempt
//   rejected     this row: FAILED with a growing wait, DEAD after the last attempt or when it can never succeed
//
// A row that may be stored already is looked for in the stream first, and sent with the number of the last message of its
// subject: a broker that reads it late, when it no longer knows message ids, refuses it if the row arrived in between.
import type { Publisher, PublishOutcome } from '../../../bus/publisher.js'
import type { StreamLimits } from '../../../bus/streams.js'
import { compareIds } from '../../../domain/ids/ids.js'
import { type Settlement, settleAttempt } from '../../../domain/outbox/outcome.js'
import { toCpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import { jittered } from '../../../runtime/jitter.js'
import { isTracing, type Span, startSpan } from '../../../runtime/tracing.js'
import type { OutboxRow } from '../../../stores/outbox/outboxStore.js'
import { bothOutcomes } from './bothOutcomes.js'
import { type ExecutionQueues, keyOf } from './executionQueues.js'
import type { Found } from './findStored.js'
import { expectingLast, type MessageSettings, toMessage, toNotice } from './message.js'
import type { RelayHooks, RelayLimits } from './relayLimits.js'
import type { Settler } from './settler.js'

export interface CourierDeps {
  queues: ExecutionQueues
  publisher: Publisher
  settler: Settler
  clock: Clock
  random: () => number
  limits: RelayLimits
  hooks: RelayHooks
  message: MessageSettings
  stream(): StreamLimits
  /** Leases are certainly ours and nobody is stopping. */
  mayPublish(): boolean
  findStored(row: OutboxRow): Promise<Found>
  /** The queues are running low. */
  onHungry(): void
  signal: AbortSignal
}

export interface Courier {
  /** Sends what may be sent, once per turn of the event loop however often it is called. */
  schedule(): void
  /** This row was first sent at `since` and got no answer, by us or by an earlier owner of its lane. */
  unanswered(row: OutboxRow, since: number): void
  /** Rows of this lane up to this id may have been published by an owner that vanished. */
  suspect(lane: number, upTo: string): void
  forgetLanes(lanes: ReadonlySet<number>): void
  published(): bigint
  pausedFor(): string | undefined
}

interface Attempt {
  firstSentAt: number
  /** It was sent and no answer came, so it may be stored; the table knows. */
  isInDoubt: boolean
  sentAt: number
  silentTries: number
}

/** Rows of a lane that an owner that vanished may have published. */
interface Suspects {
  upTo: string
  /** Executions of which nothing behind the rows that we sent is in the stream. */
  clearedKeys: Set<string>
}

interface Sending {
  /** 0 sends a reference whatever the size of the row. */
  maxBytes?: number
  /** The broker refuses the message when the last one of its subject is another. */
  lastSeq?: number | undefined
}

const SILENT_TRIES_MAX = 5
const PAUSE_MS = 250
const PAUSE_MS_MAX = 5_000

export function createCourier(deps: CourierDeps): Courier {
  const { queues, publisher, settler, clock, limits, hooks } = deps
  // Only of rows that will be sent again; a row that is on its way carries its own.
  const retries = new Map<string, { attempt: Attempt; lane: number }>()
  const suspects = new Map<number, Suspects>()
  const unanswered = new Map<string, { since: number; lane: number }>()
  let published = 0
  let lastAckAt = 0
  let pausedUntil = 0
  let pauseMs = 0
  let pauseReason: string | undefined
  let scheduled = false
  let lookingUp = 0

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      pump()
    })
  }

  function pump(): void {
    // Refilled by halves: a few large writes to the socket instead of one per acknowledgement.
    if (publisher.inFlight() > limits.window / 2 || clock.monotonic() < pausedUntil || !deps.mayPublish()) return
    const now = clock.monotonic()
    // An answer may come at once and pause everything: look again before each row.
    while (publisher.inFlight() + lookingUp < limits.window && now >= pausedUntil) {
      const row = queues.next()
      if (row === undefined) break
      send(row, now)
    }
    publisher.flush()
    if (queues.queued() < limits.page / 2) deps.onHungry()
  }

  function send(row: OutboxRow, now: number): void {
    const attempt = resumed(row.outbox_id) ?? firstAttempt(row.outbox_id, now)
    if (attempt.isInDoubt || isSuspect(row)) void lookUpThenPublish(row, attempt)
    else publish(row, attempt, now)
  }

  function resumed(outboxId: string): Attempt | undefined {
    if (retries.size === 0) return undefined
    const attempt = retries.get(outboxId)?.attempt
    retries.delete(outboxId)
    return attempt
  }

  function firstAttempt(outboxId: string, now: number): Attempt {
    const since = unanswered.get(outboxId)?.since
    unanswered.delete(outboxId)
    return { firstSentAt: since ?? now, isInDoubt: since !== undefined, sentAt: now, silentTries: 0 }
  }

  function sendAgain(row: OutboxRow, attempt: Attempt): void {
    retries.set(row.outbox_id, { attempt, lane: row.lane })
    queues.again(row)
  }

  function isSuspect(row: OutboxRow): boolean {
    const lane = suspects.get(row.lane)
    return lane !== undefined && compareIds(row.outbox_id, lane.upTo) <= 0 && !lane.clearedKeys.has(keyOf(row))
  }

  function publish(row: OutboxRow, attempt: Attempt, now: number, sending: Sending = {}): void {
    const { maxBytes = messageBytesMax(), lastSeq } = sending
    const span = isTracing() ? publishSpan(row) : undefined
    // Consumers continue from this span instead of from the one that wrote the row.
    const traced = span === undefined ? row : { ...row, trace: span.carrier ?? null }
    const built = toMessage(traced, maxBytes, deps.message)
    const settle = (outcome: PublishOutcome): void => {
      span?.end(outcome.kind === 'stored' ? undefined : outcome.reason)
      if (outcome.kind === 'rejected' && outcome.why === 'too_large' && built.ok && !built.isReference) {
        // The limit of the stream was lowered since it was last looked at.
        publish(row, attempt, clock.monotonic(), { ...sending, maxBytes: 0 })
        publisher.flush()
      } else onOutcome(row, attempt, outcome)
    }
    if (!built.ok) {
      settle({ kind: 'rejected', reason: built.reason, permanent: true, why: 'subject' })
      return
    }
    span?.set({ 'messaging.destination.name': built.message.subject })
    attempt.sentAt = now
    const { first, second } = bothOutcomes(settle)
    const notice = toNotice(row, deps.message)
    const message = lastSeq === undefined ? built.message : expectingLast(built.message, lastSeq)
    publisher.publish(message, now, notice === undefined ? settle : first)
    // One behind the other on the same connection: workers hear of a command after its event, without a wait in between.
    if (notice !== undefined) publisher.publish(notice, now, second)
  }

  /** The event is stored already; workers may not have been told. */
  function tellWorkers(row: OutboxRow, attempt: Attempt, stored: PublishOutcome): void {
    const notice = toNotice(row, deps.message)
    const { first, second } = bothOutcomes((outcome) => onOutcome(row, attempt, outcome))
    if (notice === undefined) {
      onOutcome(row, attempt, stored)
      return
    }
    first(stored)
    publisher.publish(notice, clock.monotonic(), second)
    publisher.flush()
  }

  function messageBytesMax(): number {
    return Math.min(publisher.maxPayload(), deps.stream().maxMessageBytes)
  }

  async function lookUpThenPublish(row: OutboxRow, attempt: Attempt): Promise<void> {
    try {
      const found = await lookUp(row)
      if (found.kind === 'stored') {
        tellWorkers(row, attempt, { kind: 'stored', seq: found.seq, duplicate: true })
        return
      }
      // The lease may have ended meanwhile.
      if (!deps.mayPublish()) {
        sendAgain(row, attempt)
        return
      }
      if (found.kind === 'unclear') hooks.onPossibleDuplicate()
      if (found.kind === 'absent' && found.nothingNewer) suspects.get(row.lane)?.clearedKeys.add(keyOf(row))
      publish(row, attempt, clock.monotonic(), { lastSeq: found.kind === 'absent' ? found.lastSeq : undefined })
      publisher.flush()
    } catch (error) {
      onOutcome(row, attempt, { kind: 'unavailable', reason: toCpError(error).message })
    }
  }

  async function lookUp(row: OutboxRow): Promise<Found> {
    lookingUp += 1
    try {
      return await deps.findStored(row)
    } finally {
      lookingUp -= 1
      schedule()
    }
  }

  function onOutcome(row: OutboxRow, attempt: Attempt, outcome: PublishOutcome): void {
    hooks.onOutcome(outcome.kind)
    if (outcome.kind === 'stored') {
      onStored(row, attempt, outcome.seq, outcome.duplicate)
      return
    }
    if (outcome.kind === 'unknown' && !attempt.isInDoubt) {
      attempt.isInDoubt = true
      settler.unanswered(row, attempt.firstSentAt)
    }
    // Silence only speaks against the row if others were heard in the meantime.
    if (outcome.kind === 'unknown' && lastAckAt > attempt.sentAt) attempt.silentTries += 1
    const facts = {
      attempts: row.attempts,
      attemptsMax: limits.attemptsMax,
      silentTries: attempt.silentTries,
      silentTriesMax: SILENT_TRIES_MAX,
    }
    const unansweredMs = outcome.kind === 'unknown' ? clock.monotonic() - attempt.firstSentAt : undefined
    apply(row, attempt, settleAttempt(outcome, facts, deps.random()), unansweredMs)
  }

  function onStored(row: OutboxRow, attempt: Attempt, seq: number, duplicate: boolean): void {
    const now = clock.monotonic()
    lastAckAt = now
    published += 1
    pauseMs = 0
    pauseReason = undefined
    hooks.onPublished(duplicate, (now - attempt.sentAt) / 1000)
    queues.acked(row)
    settler.published(row, seq === 0 ? null : seq)
    schedule()
  }

  function apply(row: OutboxRow, attempt: Attempt, settlement: Settlement, unansweredMs: number | undefined): void {
    switch (settlement.action) {
      case 'published':
        break
      case 'again':
        sendAgain(row, attempt)
        schedule()
        break
      case 'pause':
        sendAgain(row, attempt)
        pause(settlement.reason)
        break
      case 'fail':
        settler.failed(row, {
          status: 'FAILED',
          waitMs: settlement.waitMs,
          error: settlement.reason,
          unansweredMs,
        })
        queues.hold(row, clock.monotonic() + settlement.waitMs, clock.monotonic())
        schedule()
        break
      case 'die':
        hooks.onDead(settlement.reason, settlement.why)
        settler.failed(row, {
          status: 'DEAD',
          waitMs: 0,
          error: settlement.reason,
          unansweredMs,
        })
        if (limits.deadPolicy === 'hold') queues.hold(row, clock.monotonic(), clock.monotonic())
        else queues.givenUp(row)
        schedule()
        break
    }
  }

  function pause(reason: string): void {
    const now = clock.monotonic()
    if (now < pausedUntil) return
    if (pauseReason === undefined) hooks.onPaused(reason)
    pauseReason = reason
    pauseMs = Math.min(PAUSE_MS_MAX, pauseMs === 0 ? PAUSE_MS : pauseMs * 2)
    pausedUntil = now + jittered(pauseMs, deps.random)
    void clock.sleep(pausedUntil - now + 1, deps.signal).then(schedule)
  }

  return {
    schedule,
    unanswered: (row, since) => {
      unanswered.set(row.outbox_id, { since, lane: row.lane })
    },
    suspect: (lane, upTo) => {
      suspects.set(lane, { upTo, clearedKeys: new Set() })
    },
    forgetLanes: (lanes) => {
      for (const lane of lanes) suspects.delete(lane)
      for (const rows of [retries, unanswered]) for (const [id, { lane }] of rows) if (lanes.has(lane)) rows.delete(id)
    },
    published: () => BigInt(published),
    pausedFor: () => pauseReason,
  }
}

function publishSpan(row: OutboxRow): Span {
  return startSpan('noetl.publish', {
    kind: 'producer',
    parent: row.trace,
    attributes: { 'messaging.system': 'nats', 'noetl.outbox_id': row.outbox_id, 'noetl.event_id': row.event_id },
  })
}
