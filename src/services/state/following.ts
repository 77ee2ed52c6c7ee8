// Decisions that follow at once: what a worker's answer leads to commits with the answer. While the transaction of the answer
// is under way, and before anything is written, the thread that holds the state is shown what is about to be committed and
// asked what follows. Its state is then ahead of the log: if the transaction fails, it is dropped and built again.
// Only a shorter way: what is not answered in time, or needs more than is known here, is decided after the commit as ever.

import { canonicalEventType } from '../../domain/events/eventType.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { NewCommand } from '../../domain/state/orchestrator.js'
import { type CpError, toCpError } from '../../errors.js'
import { type Span, startSpan } from '../../runtime/tracing.js'
import { type NewCommandRow, rowOfNew } from '../../stores/commands/commandStore.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'
import type { Fence } from '../../stores/leases/leaseStore.js'
import { followDecisions } from '../../stores/state/stateStore.js'
import type { HandedPart } from '../../stores/state/tailEvent.js'
import type { AheadOutput, ResidentThreads } from '../../workers/resident.js'
import type { Handed, HandOver } from '../commands/handOver.js'
import { commandNamed } from '../events/commandBook.js'
import type { Follower, Following } from '../events/follower.js'
import type { LogNews } from '../events/logNews.js'
import { newCommandRows, writeCommandRows } from './commandRows.js'
import { handedEventsOf } from './handedNews.js'
import { type HandingOver, offerCommands, poolsLeftWaiting } from './handingOver.js'
import { receiveDecision } from './inThread/sentVerdict.js'
import {
  type DecisionRequest,
  handedBy,
  issuedBy,
  itemsOf,
  type PrepareDeps,
  type Prepared,
  prepare,
} from './preparedDecision.js'
import type { Borrowed, SlotPlace } from './stateSlots.js'

export interface FollowingDeps extends PrepareDeps {
  threads: Pick<ResidentThreads, 'ask'>
  handOver?: HandOver | undefined
  /** How long a transaction and its locks may wait for what follows. */
  patienceMs?: number | undefined
  /** The state, if it is here and driven by this process, as soon as its thread has answered what it was asked before. */
  borrow(executionId: string, patienceMs: number): Promise<Borrowed | undefined>
  fenceOf(executionId: string): Fence | undefined
  /** What it was not told yet of its log; undefined: it has to be read. */
  newsBefore(executionId: string): readonly HandedPart[] | undefined
  /** The state contains what was committed. The seconds are those since it was shown. */
  onAhead(executionId: string, ahead: AheadOutput, seconds: number): void
  /** The decision was committed. */
  onDecided(request: DecisionRequest, seconds: number): void
  /** The snapshot of the state, which is at this version and committed, has fallen behind. */
  onSaveDue(place: SlotPlace, version: number): void
  /** What follows must be asked for again. */
  onUndecided(executionId: string): void
  /** Commands of this execution wait for claims, in these pools. */
  onIssued(executionId: string, pools: readonly string[]): void
  onError(error: CpError): void
}

type Executions = ReadonlyMap<string, LockedExecution>

const PATIENCE_MS = 25
// When threads have other things to do, appends do not wait for them at all for a while.
const REST_MS = 250
const ANSWERS: ReadonlySet<string> = new Set(['command.completed', 'command.failed'])

/** A state that was shown what is about to be committed. */
interface Shown {
  news: LogNews
  borrowed: Borrowed
  since: number
  /** `refused`: it cannot go on by these events. `lost`: it is gone. */
  answer: Promise<AheadOutput | 'refused' | 'lost'>
}

interface Decided {
  shown: Shown
  request: DecisionRequest
  span: Span
}

export function createFollower(deps: FollowingDeps): Follower {
  let restUntil = 0
  const onLate = (): void => {
    restUntil = deps.clock.monotonic() + REST_MS
  }
  return {
    follow: async (news, executions) => {
      if (deps.clock.monotonic() < restUntil) return undefined
      const shown = (await Promise.all(news.map((one) => show(deps, one)))).flat()
      if (shown.length === 0) return undefined
      try {
        return await followBy(deps, shown, executions, onLate)
      } catch (error) {
        // The news stand without it; their states are built again and asked then.
        deps.onError(toCpError(error))
        for (const one of shown) void settleOne(deps, one, { isCommitted: false, isTaken: false })
        return undefined
      }
    },
  }
}

async function followBy(
  deps: FollowingDeps,
  shown: readonly Shown[],
  executions: Executions,
  onLate: () => void,
): Promise<Following> {
  const { patienceMs = PATIENCE_MS } = deps
  const answers = await Promise.all(shown.map(({ answer }) => soon(answer, patienceMs, () => undefined)))
  if (answers.includes(undefined)) onLate()
  const asked = shown.flatMap((one, index) => {
    const answer = answers[index]
    return answer === undefined || typeof answer === 'string' ? [] : decidedBy(deps, one, answer, executions)
  })
  const handing = await soon(
    offerCommands(
      deps.handOver,
      asked.map(({ request }) => request.decision),
    ),
    patienceMs,
    (late) => late.settle(new Map()),
  )
  const decided = handing === undefined ? [] : asked
  // One that does not answer in time has the news nevertheless, or notices the gap.
  const taken = shown.filter((_, index) => typeof answers[index] !== 'string')
  try {
    return following(deps, { shown, taken, decided, handing, executions })
  } catch (error) {
    // Whoever was to get a command waits for it otherwise, and for nothing else.
    handing?.settle(new Map())
    for (const { span } of asked) span.end(error)
    throw error
  }
}

async function show(deps: FollowingDeps, news: LogNews): Promise<Shown[]> {
  if (!news.rows.some(({ event }) => ANSWERS.has(canonicalEventType(event.eventType)))) return []
  const events = handedEventsOf(news.rows)
  const { patienceMs = PATIENCE_MS } = deps
  const borrowed = events === undefined ? undefined : await deps.borrow(news.executionId, patienceMs)
  if (events === undefined || borrowed === undefined) return []
  const { executionId, afterVersion, mark, trace: parent } = news
  const attributes = { 'noetl.execution_id': executionId, 'noetl.fold': 'live' }
  const span = startSpan('noetl.fold', { parent, attributes })
  const answer = deps.threads
    .ask(borrowed.place.thread, 'goAhead', {
      executionId,
      nowMs: deps.clock.now(),
      handed: [...(deps.newsBefore(executionId) ?? []), { afterVersion, mark, events }],
    })
    .then(
      (ahead) => {
        span.set({ 'noetl.events': ahead?.applied ?? 0, 'noetl.version': ahead?.version ?? 0 })
        span.end()
        return ahead ?? 'refused'
      },
      (error: unknown) => {
        span.end(error)
        return 'lost' as const
      },
    )
    .finally(borrowed.handBack)
  return [{ news, borrowed, since: performance.now(), answer }]
}

/** What can be written with the news: at most one decision. */
function decidedBy(
  deps: FollowingDeps,
  shown: Shown,
  { verdict, version }: AheadOutput,
  executions: Executions,
): Decided[] {
  const { executionId, trace: parent } = shown.news
  const fence = deps.fenceOf(executionId)
  const execution = executions.get(executionId)
  if (verdict === undefined || !('key' in verdict) || fence === undefined || execution === undefined) return []
  // Large parts are stored before their decision, which takes longer than a transaction should wait.
  if (isTerminalStatus(execution.summary.status) || verdict.large.size > 0) return []
  const decision = receiveDecision(verdict)
  const attributes = { 'noetl.execution_id': executionId, 'noetl.decision': decision.key }
  const span = startSpan('noetl.decide', { parent, attributes })
  return [{ shown, span, request: { executionId, version, decision, fence, trace: span.carrier } }]
}

interface Parts {
  shown: readonly Shown[]
  taken: readonly Shown[]
  decided: readonly Decided[]
  /** Undefined: nothing is written but the news. */
  handing: HandingOver | undefined
  executions: Executions
}

function following(deps: FollowingDeps, { shown, taken, decided, handing, executions }: Parts): Following {
  const made: { decided: Decided; prepared: Prepared }[] = []
  for (const one of handing === undefined ? [] : decided) {
    const prepared = prepare(deps, one.request, handing!)
    // What is decided about commands that have rows depends on those, and nobody has looked at them.
    if (!prepared.items.some(({ event }) => commandNamed(event) !== undefined)) made.push({ decided: one, prepared })
  }
  const all = made.map(({ prepared }) => prepared)
  let written: Parameters<Following['write']>[1] = []
  let leases: ReadonlyMap<string, string> = new Map()
  let issued: readonly NewCommandRow[] = []
  return {
    taken: taken.map(({ news }) => news.executionId),
    items: all.flatMap(itemsOf),
    write: (tx, outcomes) => {
      if (made.length === 0) return Promise.resolve()
      written = outcomes
      const keys = made.map(({ decided: { request } }) => ({ ...request, key: request.decision.key }))
      // It refuses at once, before anything is sent.
      issued = newCommandRows(issuedBy(all, outcomes, executions))
      return Promise.all([followDecisions(tx, keys), writeCommandRows(tx, issued)]).then(([, held]) => {
        leases = held
      })
    },
    issued: () => issued.map(rowOfNew),
    settle: (isCommitted) => {
      const handed: ReadonlyMap<NewCommand, Handed> = isCommitted ? handedBy(all, written, leases) : new Map()
      handing?.settle(handed)
      const requests = new Map(made.map(({ decided: { shown, request } }) => [shown, request]))
      for (const { span } of decided) span.end(isCommitted ? undefined : 'its transaction failed')
      for (const one of shown)
        void settleOne(deps, one, { isCommitted, isTaken: taken.includes(one), request: requests.get(one) })
      if (!isCommitted) return
      for (const { executionId, decision } of requests.values()) {
        const pools = poolsLeftWaiting(decision, handed)
        if (pools.length > 0) deps.onIssued(executionId, pools)
      }
    },
  }
}

async function settleOne(
  deps: FollowingDeps,
  { news: { executionId }, borrowed, since, answer }: Shown,
  { isCommitted, isTaken, request }: { isCommitted: boolean; isTaken: boolean; request?: DecisionRequest | undefined },
): Promise<void> {
  const ahead = await answer
  if (ahead === 'refused') {
    borrowed.end('unchanged')
    // It said so too late, or there are none: nobody else tells it of what there is.
    return isTaken || !isCommitted ? deps.onUndecided(executionId) : undefined
  }
  if (ahead === 'lost' || !isCommitted) {
    borrowed.end('worthless')
    return deps.onUndecided(executionId)
  }
  const seconds = (performance.now() - since) / 1000
  const { verdict } = ahead
  deps.onAhead(executionId, ahead, seconds)
  if (request !== undefined) deps.onDecided(request, seconds)
  borrowed.end({ ...ahead, terminal: false, digest: '', view: undefined, open: undefined, sealed: undefined })
  const isOpen = verdict !== undefined && !('checkAfterMs' in verdict && !('key' in verdict))
  if (ahead.terminal || (isOpen && request === undefined)) deps.onUndecided(executionId)
  else if (ahead.isSaveDue === true) deps.onSaveDue(borrowed.place, ahead.version)
}

/** Undefined: it takes too long; what it comes to then is given to `onLate`. */
function soon<T>(promise: Promise<T>, patienceMs: number, onLate: (value: T) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      resolve(undefined)
    }, patienceMs)
    promise.then((value) => {
      clearTimeout(timer)
      if (isLate) onLate(value)
      else resolve(value)
    }, reject)
  })
}
