// The way into the event log for everything but executions that begin, which take a shorter one (starts.ts). Inside a
// transaction of its shard: lock the executions in id order, tell repetitions from clashes, number what is new without
// gaps, write events, outbox rows and read model.
// All of it or nothing. An id that we mint is above everything the execution's log holds at that moment: whatever
// clocks and whoever else wrote, what is appended later sorts later.
import type { Tx } from '../../db/db.js'
import type { Judgement } from '../../domain/commands/commandRules.js'
import { writeEnvelope, writeParts } from '../../domain/events/envelope.js'
import { type EventRecord, eventChecksum } from '../../domain/events/eventRecord.js'
import { isStartEventType } from '../../domain/events/eventType.js'
import { evolveExecution } from '../../domain/executions/executionEffect.js'
import { isSubscriptionLog, subscriptionUntouched } from '../../domain/executions/kinds.js'
import { type Labels, labelsOf } from '../../domain/executions/labels.js'
import type { EventId } from '../../domain/ids/ids.js'
import { CpError } from '../../errors.js'
import { createTurns } from '../../runtime/turns.js'
import {
  insertEvents,
  moveEvents,
  type NumberedEvent,
  type PublishedEvent,
  publishEvents,
} from '../../stores/events/eventStore.js'
import { type LockedExecution, labelExecutions, updateExecutions } from '../../stores/executions/executionStore.js'
import { noteLifecycle } from '../subscriptions/lifecycleNotes.js'
import type { AppendContext, AppendItem, AppendOutcome } from './appendOutcome.js'
import { type ClaimedRow, type CommandBook, endedBy, withAttempt } from './commandBook.js'
import { checkOwner, foreignOwnerMessage, owned } from './eventOwner.js'
import type { Following } from './follower.js'
import { fromRow, type KnownEvent } from './knownEvent.js'
import type { LogNews } from './logNews.js'
import { claimOf, type Found, lookUp } from './lookUp.js'
import { oneByOne, slicesOf } from './slices.js'

export type { AppendContext, AppendItem, AppendOutcome, Unclaimable } from './appendOutcome.js'

/** What else a caller knows and wants. */
export interface AppendWishes {
  /** `lookUp` of these items, and maybe of others, in this transaction. */
  found?: Found | undefined
  /** Further writes, sent with the events; their answers are not looked at. Told what became of each event. */
  alongside?: ((outcomes: readonly AppendOutcome[]) => Promise<void>) | undefined
  /** Told what driven executions have grown by, if the transaction commits. */
  onNews?: ((news: LogNews) => void) | undefined
  /** What follows from the news, to be written with them. */
  follow?: ((news: readonly LogNews[], executions: Found['executions']) => Promise<Following | undefined>) | undefined
}

export async function appendInTx(
  tx: Tx,
  items: readonly AppendItem[],
  context: AppendContext,
  { found, alongside, onNews, follow }: AppendWishes = {},
): Promise<AppendOutcome[]> {
  const known = knownFrom(found ?? (await lookUp(tx, items)), context)
  const plan = emptyPlan()
  const outcomes = await decide(items, known, plan, context)
  const following = plan.news.size === 0 ? undefined : await follow?.([...plan.news.values()], known.executions)
  for (const executionId of following?.taken ?? []) plan.news.set(executionId, newsBehind(plan.news.get(executionId)!))
  const followed = await decide(withoutSecrets(following?.items ?? [], context), known, plan, context)
  for (const news of plan.news.values()) onNews?.(news)
  const ended = endedBy(
    plan.published.map(({ row }) => row.event),
    known.executions,
  )
  // Sent together: when the connection breaks, each of them fails, and nobody may be left with that failure. The caller
  // comes first: it may still refuse.
  const added = Promise.all([alongside?.(outcomes), following?.write(tx, followed)])
  const leasing = known.commands.write(tx, ended)
  const storing = store(tx, plan, context)
  const claiming = leasing.then((leases) => {
    for (const claim of plan.claims) claim.leaseUntil = leases.get(claim.commandId) ?? undefined
  })
  const writing = Promise.all([claiming, storing.written, added])
  if (storing.isSent) tx.finishWith(writing)
  else await writing
  return outcomes
}

/** `isSent`: all of it is on its way already. */
function store(tx: Tx, plan: Plan, context: AppendContext): { written: Promise<unknown>; isSent: boolean } {
  if (plan.events.length === 0) return { written: Promise.resolve(), isSent: true }
  const quiet = slicesOf(plan.quiet, (row) => row)
  const published = slicesOf(plan.published, ({ row }) => row)
  const written = Promise.all([
    oneByOne(quiet, (rows) => insertEvents(tx, rows)),
    oneByOne(published, (list) =>
      publishEvents(
        tx,
        list.map(({ item, row }) => withMessage(item, row, context)),
      ),
    ),
    updateExecutions(tx, [...plan.touched]),
    plan.labelled.size === 0 ? undefined : labelExecutions(tx, plan.labelled),
    plan.moved.size === 0 ? undefined : moveEvents(tx, [...plan.moved]),
    noteLifecycle(
      tx,
      plan.events.map(({ event }) => event),
    ),
  ])
  return { written, isSent: quiet.length <= 1 && published.length <= 1 }
}

/** The items as they may be stored and published. */
export function withoutSecrets(items: readonly AppendItem[], { secrets }: AppendContext): AppendItem[] {
  return items.map((item) => {
    const event = secrets.hide(item.event)
    return event === item.event ? item : { ...item, event }
  })
}

interface Plan {
  /** All of them, in order. */
  events: NumberedEvent[]
  /** Those that are stored and not published. */
  quiet: NumberedEvent[]
  published: { item: AppendItem; row: NumberedEvent }[]
  touched: Set<LockedExecution>
  /** Executions whose owner was learned just now; what is stored of them follows. */
  moved: Set<LockedExecution>
  /** Executions whose start came after the first news of them. */
  labelled: Map<string, Labels>
  claims: ClaimedRow[]
  /** By execution. */
  news: Map<string, LogNews>
}

interface Known {
  executions: Map<string, LockedExecution>
  commands: CommandBook
  events: Map<string, KnownEvent>
  holders: Map<string, string | undefined>
  highest: Map<string, bigint>
}

const emptyPlan = (): Plan => ({
  events: [],
  quiet: [],
  published: [],
  touched: new Set(),
  moved: new Set(),
  labelled: new Map(),
  claims: [],
  news: new Map(),
})

function knownFrom(found: Found, { secrets }: AppendContext): Known {
  return {
    executions: found.executions,
    commands: found.commands,
    events: new Map(found.existing.map((row) => [`${row.execution_id}:${row.event_id}`, fromRow(row, secrets)])),
    holders: new Map(
      found.claimed.map((claim) => [`${claim.execution_id}:${claim.command_id}`, claim.worker_id ?? undefined]),
    ),
    highest: found.highest,
  }
}

/** Everything is locked and known here: a plain decision, in the order given. */
async function decide(
  items: readonly AppendItem[],
  known: Known,
  plan: Plan,
  context: AppendContext,
): Promise<AppendOutcome[]> {
  const outcomes: AppendOutcome[] = []
  const turns = createTurns()
  for (const item of items) {
    outcomes.push(decideOne(item, known, plan, context))
    const rest = turns.rest()
    if (rest !== undefined) await rest
  }
  return outcomes
}

function decideOne(item: AppendItem, known: Known, plan: Plan, context: AppendContext): AppendOutcome {
  const { event } = item
  const { holders } = known
  const execution = known.executions.get(event.executionId)
  if (execution === undefined) return { kind: 'unknownExecution', executionId: event.executionId }
  const key = `${event.executionId}:${event.eventId}`
  const before = item.idGiven ? known.events.get(key) : undefined
  if (before !== undefined) {
    if (!before.saysTheSame(event)) return { kind: 'conflict', eventId: event.eventId }
    return {
      kind: 'duplicate',
      eventId: event.eventId,
      streamVersion: before.streamVersion,
      executionStatus: execution.summary.status,
    }
  }
  const ownership = item.restores === true ? 'same' : checkOwner(event, execution)
  if (ownership === 'other') return refused(event, foreignOwnerMessage(event, execution))
  if (item.onlyExecutions === true && isSubscriptionLog(execution.summary.startEventType)) {
    return refused(event, subscriptionUntouched(event.executionId).message)
  }
  // What is projected has happened elsewhere; only what is said here can be refused.
  const judged = item.publish ? known.commands.judge(event, execution) : undefined
  if (judged !== undefined && judged.kind !== 'taken') return withoutEvent(event, judged, known, plan)
  const claim = item.publish && judged === undefined ? claimOf(event) : undefined
  if (claim !== undefined) {
    const claimKey = `${claim.executionId}:${claim.commandId}`
    if (holders.has(claimKey)) {
      const workerId = holders.get(claimKey)
      return { kind: 'claimed', eventId: event.eventId, own: workerId === event.workerId, workerId }
    }
    holders.set(claimKey, event.workerId)
  }
  const eventId = item.idGiven ? event.eventId : mintInOrder(event, known.highest, context)
  if (eventId === undefined) return refused(event, endOfIdsMessage(execution))
  const own = owned(event, execution, eventId)
  if (ownership === 'learned') moveOwner(execution, plan)
  noteHighest(known.highest, own)
  learnFromStart(execution, item, plan)
  const news = newsOf(execution, plan)
  execution.streamVersion += 1n
  execution.eventCount += 1n
  execution.summary = evolveExecution(execution.summary, own)
  const streamVersion = execution.streamVersion
  const checksum = item.idGiven ? eventChecksum(own) : null
  plan.touched.add(execution)
  const stored = judged === undefined ? own : withAttempt(own, judged)
  const row: NumberedEvent = {
    event: stored,
    parts: writeParts(stored),
    catalogId: own.catalogId ?? execution.catalogId,
    streamVersion,
    checksum,
    sealed: context.secrets.seal(own),
  }
  if (judged !== undefined) known.commands.note(judged, stored)
  plan.events.push(row)
  if (news !== undefined) {
    news.rows.push(row)
    news.trace = item.trace ?? news.trace
  }
  if (item.publish) plan.published.push({ item, row })
  else plan.quiet.push(row)
  // An id that was minted for this event cannot come again in the same call.
  if (checksum !== null) {
    known.events.set(key, {
      streamVersion: streamVersion.toString(),
      saysTheSame: (other) => eventChecksum(owned(other, execution)) === row.checksum,
    })
  }
  return {
    kind: 'stored',
    eventId,
    streamVersion: streamVersion.toString(),
    executionStatus: execution.summary.status,
    ...(own.hidden === undefined ? {} : { isHidden: true }),
    ...(judged?.kind === 'taken' && claimOf(event) !== undefined ? { claim: claimedRow(judged, plan) } : {}),
  }
}

/** What the execution grows by in this call; undefined when nobody drives it. */
function newsOf({ executionId, engine, streamVersion, summary }: LockedExecution, { news }: Plan): LogNews | undefined {
  const known = news.get(executionId)
  if (known !== undefined || engine === undefined) return known
  const afterVersion = Number(streamVersion)
  const begun: LogNews = { executionId, engine, afterVersion, mark: summary.lastEventId, rows: [] }
  news.set(executionId, begun)
  return begun
}

/** What comes behind news that somebody has taken. */
function newsBehind({ executionId, engine, afterVersion, mark, rows }: LogNews): LogNews {
  const last = rows.at(-1)?.event.eventId ?? mark
  return { executionId, engine, afterVersion: afterVersion + rows.length, mark: last, isDecision: true, rows: [] }
}

/** The event changes the log in no way. */
function withoutEvent(
  event: EventRecord,
  judged: Exclude<Judgement, { kind: 'taken' }>,
  { commands }: Known,
  plan: Plan,
): AppendOutcome {
  commands.note(judged, event)
  const { eventId } = event
  if (judged.kind === 'ignored') return { kind: 'ignored', eventId, reason: judged.reason }
  const { workerId } = judged.row
  if (judged.kind === 'held') return { kind: 'claimed', eventId, own: true, workerId, claim: claimedRow(judged, plan) }
  return { kind: 'unclaimable', eventId, code: judged.code, workerId, retryAfterSeconds: judged.retryAfterSeconds }
}

function claimedRow({ row }: Extract<Judgement, { kind: 'taken' | 'held' }>, plan: Plan): ClaimedRow {
  const { commandId, attempt, leaseToken, leaseSeconds } = row
  const claim: ClaimedRow = { commandId, attempt, leaseToken, leaseSeconds, leaseUntil: undefined }
  plan.claims.push(claim)
  return claim
}

function refused(event: EventRecord, reason: string): AppendOutcome {
  return { kind: 'refused', eventId: event.eventId, reason }
}

/** The id as it was minted, if nothing in the log is above it. Undefined: the log ends at the highest id there is. */
function mintInOrder(event: EventRecord, highest: Map<string, bigint>, context: AppendContext): EventId | undefined {
  const floor = highest.get(event.executionId)
  if (floor === undefined || BigInt(event.eventId) > floor) return event.eventId
  try {
    return context.mintAbove(floor) as EventId
  } catch (error) {
    if (error instanceof CpError && error.code === 'refused') return undefined
    throw error
  }
}

function noteHighest(highest: Map<string, bigint>, { executionId, eventId }: EventRecord): void {
  const id = BigInt(eventId)
  if (id > (highest.get(executionId) ?? -1n)) highest.set(executionId, id)
}

function endOfIdsMessage({ executionId }: LockedExecution): string {
  return `the log of execution ${executionId} holds the highest event id there is, so nothing can be appended to it; cancel what depends on it and start it again`
}

/** What was decided before in this call was given the owner that was assumed. */
function moveOwner(execution: LockedExecution, plan: Plan): void {
  plan.moved.add(execution)
  const { executionId, tenantId, organizationId } = execution
  for (const row of plan.events) {
    if (row.event.executionId !== executionId) continue
    row.event = { ...row.event, tenantId, organizationId }
    if (row.checksum !== null) row.checksum = eventChecksum(row.event)
  }
}

/** A projected event may have made the execution before its start arrived; the start knows where it came from. */
function learnFromStart(execution: LockedExecution, { event, path }: AppendItem, { labelled }: Plan): void {
  if (!isStartEventType(event.eventType)) return
  const labels = execution.isLabelled ? undefined : labelsOf(event)
  if (labels !== undefined) labelled.set(execution.executionId, labels)
  if (execution.catalogId === '0' && event.catalogId !== undefined) execution.catalogId = event.catalogId
  execution.path ??= path
  execution.parentExecutionId ??= event.parentExecutionId
}

function withMessage(item: AppendItem, row: NumberedEvent, context: AppendContext): PublishedEvent {
  const { event, streamVersion, catalogId, parts } = row
  const payload = writeEnvelope(event, streamVersion.toString(), catalogId, parts)
  return { ...row, subject: context.subjectOf(event), payload, trace: item.trace ?? null }
}
