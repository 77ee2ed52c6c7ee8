// Live states as one service: triggers in, states and decisions out. After each commit the execution is advanced in
// the thread that holds its state; rows of others are numbered first, so that what the state contains is exact; then
// the orchestrator's decision, if there is one, is written under the lane's fence.

import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { Decision } from '../../domain/state/orchestrator.js'
import { CpError } from '../../errors.js'
import type { Service } from '../../runtime/service.js'
import { isTracing, startSpan, traced } from '../../runtime/tracing.js'
import type { AdvanceOutput } from '../../workers/resident.js'
import { ADOPTED_PAGES_MAX, adoptExecution, overtaken } from '../events/adoption.js'
import type { LogNews } from '../events/logNews.js'
import { type DecidedOn, type DecidingOnDeps, decideOn } from './decidingOn.js'
import { beginsChain } from './decisionChain.js'
import { createDecisionWriter, type DecisionOutcome } from './decisions.js'
import { createFollower } from './following.js'
import { createHandedNews } from './handedNews.js'
import { receiveDecision } from './inThread/sentVerdict.js'
import { createNeededValues } from './neededValues.js'
import { createOwnership, type Ownership } from './ownership.js'
import type { DecisionRequest } from './preparedDecision.js'
import { isQuiet } from './quietNews.js'
import { createReconciler, type Reconciler } from './reconciler.js'
import { createRestingTriggers } from './restingTriggers.js'
import type { StateDeps } from './stateDeps.js'
import { createStateSlots, type Outcome, type SlotPlace, type StateSlots, type Want } from './stateSlots.js'

export type { StateDeps, StateHooks } from './stateDeps.js'

export interface StateLimits {
  entriesMax: number
  bytesMax: number
  parallelMax: number
}

export interface StateService extends Service {
  /** Something was appended, in this trace: the news, or what is in the log. Cheap; ignored for executions that others drive. */
  trigger(executionId: string, cause?: string | undefined, news?: LogNews | undefined): void
  owns(executionId: string): boolean
  ask(executionId: string, want: Partial<Want>): Promise<Outcome>
  /** Look through the active executions again. */
  rescan(shard: number): void
  stats(): ReturnType<StateSlots['stats']> & { tracked: number; lanes: number[] }
  /** Told by the threads when one of them is gone. */
  threadLost(thread: number): void
}

const ASK_AGAIN_MS = 1_000
const WATCHED_REST_MS = 500
// As long as a worker needs for next to nothing: its answer is shown to the state together with what came before it.
const QUIET_REST_MS = 20

export function createStateService(deps: StateDeps, limits: StateLimits): StateService {
  const { databases, clock, threads, hooks } = deps
  const { driving } = deps
  const writer =
    driving === undefined
      ? undefined
      : createDecisionWriter({
          ...driving,
          clock,
          onIssued: (executionId, pools) => hooks.onIssued(databases.shardOf(executionId), pools),
        })
  const decidingOn: DecidingOnDeps = {
    threads,
    clock,
    drop,
    onAdvanced: hooks.onAdvanced,
    onUndecided: (executionId) => slots.trigger(executionId),
  }
  const checkAfter = new Map<string, number>()
  const handedNews = createHandedNews()
  /** The trace of the latest trigger; only while somebody traces, and only until the next round takes it. */
  const causes = new Map<string, string>()
  const slots = createStateSlots(
    { ...limits, threads: threads.count },
    { run, evict, drop, onCoalesced: hooks.onCoalesced, onEvicted: hooks.onEvicted, onRound },
  )
  const resting = createRestingTriggers((executionId) => {
    if (ownership?.owns(executionId) === true) slots.trigger(executionId)
  }, WATCHED_REST_MS)
  const quiet = createRestingTriggers((executionId) => {
    if (handedNews.has(executionId)) slots.trigger(executionId, { read: false })
  }, QUIET_REST_MS)
  const ownership: Ownership | undefined =
    driving === undefined
      ? undefined
      : createOwnership({
          ...deps,
          membershipOf: driving.membershipOf,
          leaseMs: driving.leaseMs,
          onTaken: (shard, _lanes, orphaned) => {
            if (orphaned > 0) hooks.onTakenOver(orphaned)
            reconciler?.scan(shard)
          },
          onLost: loseLanes,
          busyIn: (shard, lane) => slots.busyIn((id, its) => its === lane && databases.shardOf(id) === shard),
          onError: hooks.onError,
        })
  const reconciler: Reconciler | undefined =
    ownership === undefined
      ? undefined
      : createReconciler({
          ...deps,
          owns: ownership.owns,
          trigger: (executionId) => slots.trigger(executionId),
          backlog: () => slots.stats().queued,
          onError: hooks.onError,
        })

  driving?.appender.followBy(
    createFollower({
      ...driving,
      threads,
      clock,
      borrow: async (executionId, patienceMs) =>
        ownership?.owns(executionId) === true ? slots.borrow(executionId, patienceMs) : undefined,
      fenceOf: (executionId) => ownership?.fenceOf(executionId),
      newsBefore: (executionId) => {
        quiet.remove(executionId)
        return handedNews.take(executionId)
      },
      onAhead: (executionId, { applied, verdict }, seconds) => {
        hooks.onAdvanced(applied, seconds)
        if (verdict !== undefined && 'checkAfterMs' in verdict && verdict.checkAfterMs !== undefined)
          checkAfter.set(executionId, verdict.checkAfterMs)
      },
      onDecided: (request, seconds) => noteDecision(request, 'appended', seconds),
      onSaveDue: save,
      onUndecided: (executionId) => slots.trigger(executionId),
      onIssued: (executionId, pools) => hooks.onIssued(databases.shardOf(executionId), pools),
      onError: hooks.onError,
    }),
  )

  async function advance(place: SlotPlace, want: Want, mayDrive: boolean): Promise<AdvanceOutput> {
    const { executionId, thread } = place
    const shard = databases.shardOf(executionId)
    const wants = { view: want.view, open: want.open, sealed: want.sealed }
    const isLookedAt = want.view || want.open || want.sealed
    let drive = mayDrive
    let applied = 0
    let retried = false
    const needed = createNeededValues(executionId, deps.fetch)
    const known = handedNews.take(executionId)
    let handed = want.read ? undefined : known
    for (let round = 0; ; round++) {
      const { fetched } = needed
      const output = await threads
        .ask(thread, 'advance', { shard, executionId, drive, wants, nowMs: clock.now(), fetched, handed })
        .catch((error: unknown) => {
          // Its successor builds the state again; once, because this state may be what killed it.
          if (!isThreadLoss(error) || retried) throw error
          retried = true
          return undefined
        })
      if (output === undefined) {
        handed = undefined
        continue
      }
      onTally(output.tally)
      applied += output.applied
      const { verdict } = output
      if (verdict !== undefined && 'needs' in verdict) {
        await needed.fetch(verdict.needs)
        handed = []
        continue
      }
      if (!output.unadopted) {
        if (output.resident || !isLookedAt) return { ...output, applied }
        // Driving lets go of a state that has ended, but this round was joined by somebody who wants to see it.
        drive = false
        continue
      }
      const adopted = await adoptExecution(databases.of(executionId), executionId)
      if (!output.found && adopted === 0) {
        throw noSuchExecution(executionId)
      }
      handed = undefined
      if (round > ADOPTED_PAGES_MAX) throw overtaken(executionId)
    }
  }

  async function run(place: SlotPlace, want: Want, handBack: () => void): Promise<Outcome> {
    const { executionId } = place
    const started = performance.now()
    const drive = want.drive && ownership?.owns(executionId) === true
    const parent = causes.get(executionId)
    causes.delete(executionId)
    const attributes = { 'noetl.execution_id': executionId, 'noetl.fold': 'live' }
    const output = await traced('noetl.fold', { parent, attributes }, async (span) => {
      const advanced = await advance(place, want, drive)
      span.set({ 'noetl.events': advanced.applied, 'noetl.version': advanced.version })
      return advanced
    })
    handBack()
    hooks.onAdvanced(output.applied, (performance.now() - started) / 1000)
    const { verdict } = output
    if (verdict !== undefined && 'key' in verdict)
      return { ...output, ...(await decide(place, output.version, receiveDecision(verdict), parent, started)) }
    if (verdict !== undefined && 'checkAfterMs' in verdict) checkAfter.set(executionId, verdict.checkAfterMs)
    return output
  }

  /** Answers what the state has come to by it, if it has. */
  async function decide(
    place: SlotPlace,
    version: number,
    decision: Decision,
    parent: string | undefined,
    started: number,
  ): Promise<Partial<Outcome>> {
    const { executionId } = place
    const seconds = () => (performance.now() - started) / 1000
    const fence = ownership?.fenceOf(executionId)
    if (writer === undefined || fence === undefined) {
      noteDecision({ executionId, decision }, 'fenced', seconds())
      return {}
    }
    const shard = databases.shardOf(executionId)
    const attributes = { 'noetl.execution_id': executionId, 'noetl.decision': decision.key }
    return traced('noetl.decide', { parent, attributes }, async (span) => {
      const request = { executionId, version, decision, fence, trace: span.carrier }
      const { outcome, decisions, state }: DecidedOn = beginsChain(decision)
        ? await decideOn(decidingOn, writer, place, { shard, request })
        : { outcome: await writer.write(shard, request), decisions: [], state: {} }
      span.set({
        'noetl.outcome': outcome,
        'noetl.events': decision.events.length,
        'noetl.decisions': 1 + decisions.length,
      })
      noteDecision({ executionId, decision }, outcome, seconds())
      for (const next of decisions) noteDecision({ executionId, decision: next }, 'appended', seconds())
      return state
    })
  }

  function noteDecision(
    { executionId, decision }: Pick<DecisionRequest, 'executionId' | 'decision'>,
    outcome: DecisionOutcome,
    seconds: number,
  ): void {
    hooks.onDecision(outcome, seconds)
    // Whoever has the lane decides; that may be this daemon again.
    if (outcome === 'fenced') checkAfter.set(executionId, ASK_AGAIN_MS)
    const hasChildren = decision.commands?.some(({ waitsFor }) => waitsFor === 'playbook') === true
    if (outcome === 'appended' && hasChildren) hooks.onChildren()
    if (decision.checkAfterMs !== undefined) checkAfter.set(executionId, decision.checkAfterMs)
  }

  /** Beside everything else: a round for it would keep the answer of the next worker waiting. */
  function save({ executionId, thread }: SlotPlace, version: number): void {
    threads.ask(thread, 'save', { shard: databases.shardOf(executionId), executionId, version }).then(
      ({ tally }) => onTally(tally),
      // Its thread is gone, or about to go: the log has everything.
      () => undefined,
    )
  }

  async function evict({ executionId, thread }: SlotPlace): Promise<void> {
    const { tally } = await threads.ask(thread, 'evict', { shard: databases.shardOf(executionId), executionId })
    onTally(tally)
  }

  function onTally(tally: AdvanceOutput['tally']): void {
    hooks.onTally(tally)
    for (const { executionId, version, fromMs, toMs, ok } of tally.saves) {
      const attributes = { 'noetl.execution_id': executionId, 'noetl.snapshot': 'live', 'noetl.version': version }
      startSpan('noetl.snapshot', { since: fromMs, attributes }).end(ok ? undefined : 'it could not be written', toMs)
    }
  }

  function onRound(executionId: string, outcome: Outcome | CpError, want: Want): void {
    const checkAfterMs = checkAfter.get(executionId)
    checkAfter.delete(executionId)
    if (!want.drive || reconciler === undefined || ownership?.owns(executionId) !== true) return
    if (!(outcome instanceof CpError)) {
      reconciler.roundEnded(executionId, { version: outcome.version, terminal: outcome.terminal, checkAfterMs })
      return
    }
    if (outcome.code === 'not_found') return
    hooks.onFailed(outcome)
    reconciler.failed(executionId)
  }

  /** Another daemon drives them now, from their snapshots and the log. */
  function loseLanes(shard: number, lanes: ReadonlySet<number>): void {
    reconciler?.forget(shard, lanes)
    drop(slots.forget((id, lane) => lanes.has(lane) && databases.shardOf(id) === shard))
  }

  function drop(places: readonly SlotPlace[]): void {
    for (let thread = 0; thread < threads.count; thread++) {
      const executionIds = places.filter((place) => place.thread === thread).map((place) => place.executionId)
      // A thread that cannot be told is gone, and its states with it.
      if (executionIds.length > 0) void threads.ask(thread, 'drop', { executionIds }).catch(() => undefined)
    }
  }

  return {
    name: 'live states',
    start: async () => {
      await ownership?.start()
      await reconciler?.start()
    },
    stop: async (deadlineMs) => {
      resting.close()
      quiet.close()
      await reconciler?.stop(deadlineMs)
      await slots.close(Math.max(200, deadlineMs - 1_500))
      await ownership?.stop(1_000)
      await threads.close()
    },
    trigger: (executionId, cause, news) => {
      if (ownership?.owns(executionId) !== true) return
      if (cause !== undefined && isTracing()) causes.set(executionId, cause)
      if (slots.isOnlyWatched(executionId)) {
        resting.add(executionId)
        return
      }
      // Everything was shown to the state before it was committed.
      if (news?.rows.length === 0 || news?.isShown === true) return
      if (news !== undefined) handedNews.add(news)
      if (news !== undefined && isQuiet(news)) quiet.add(executionId)
      else slots.trigger(executionId, { read: news === undefined })
    },
    owns: (executionId) => ownership?.owns(executionId) ?? false,
    ask: slots.ask,
    rescan: (shard) => reconciler?.scan(shard),
    stats: () => ({
      ...slots.stats(),
      tracked: reconciler?.tracked() ?? 0,
      lanes: databases.shards.map((_, shard) => ownership?.lanes(shard) ?? 0),
    }),
    threadLost: (thread) => slots.forgetThread(thread),
  }
}

function isThreadLoss(error: unknown): boolean {
  return error instanceof CpError && error.details['threadLost'] === true
}
