// Writes a decision together with what follows it at once, and keeps the state in step: a state that went ahead of what was
// committed is dropped, and built again from the log.
import type { Decision } from '../../domain/state/orchestrator.js'
import { isOwnTrouble } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { withDeadline } from '../../runtime/deadline.js'
import type { AheadOutput, ResidentThreads } from '../../workers/resident.js'
import type { LogNews } from '../events/logNews.js'
import type { DecisionOutcome, DecisionWriter } from './decisions.js'
import { handedEventsOf } from './handedNews.js'
import type { DecisionRequest } from './preparedDecision.js'
import type { Outcome, SlotPlace } from './stateSlots.js'

export interface DecidingOnDeps {
  threads: Pick<ResidentThreads, 'ask'>
  clock: Clock
  onAdvanced(applied: number, seconds: number): void
  drop(places: readonly SlotPlace[]): void
  /** What follows must be asked for. */
  onUndecided(executionId: string): void
}

export interface DecidedOn {
  outcome: DecisionOutcome
  /** What was written behind the decision. */
  decisions: readonly Decision[]
  /** What the state has come to. */
  state: Partial<Outcome>
}

// A transaction and the lock of its execution wait meanwhile.
const SHOWN_MS_MAX = 5_000
const GONE: Partial<Outcome> = { resident: false, bytes: 0 }

export async function decideOn(
  deps: DecidingOnDeps,
  writer: DecisionWriter,
  place: SlotPlace,
  { shard, request }: { shard: number; request: DecisionRequest },
): Promise<DecidedOn> {
  const { executionId } = place
  let isAhead = false
  let isLost = false

  let shown: Promise<unknown> = Promise.resolve()

  async function ask({ afterVersion, mark, rows }: LogNews): Promise<AheadOutput | undefined> {
    const events = handedEventsOf(rows)
    if (events === undefined) return undefined
    const since = performance.now()
    const handed = [{ afterVersion, mark, events }]
    try {
      const asked = deps.threads.ask(place.thread, 'goAhead', { executionId, nowMs: deps.clock.now(), handed })
      const ahead = await withDeadline(asked, SHOWN_MS_MAX, { what: `what follows in execution ${executionId}` })
      if (ahead === undefined) return undefined
      isAhead = true
      deps.onAdvanced(ahead.applied, (performance.now() - since) / 1000)
      return ahead
    } catch {
      // With its thread, by these events, or too slow. What was decided so far stands; whoever asks next builds the state again.
      isLost = true
      return undefined
    }
  }

  try {
    const { outcome, chain } = await writer.writeChain(request, (news) => {
      const answer = ask(news)
      shown = answer
      return answer
    })
    const { ahead, decisions, isOpen } = chain
    await shown
    // Another try of the transaction shows nothing.
    if (isLost || (isAhead && ahead === undefined)) {
      deps.drop([place])
      deps.onUndecided(executionId)
      return { outcome, decisions, state: GONE }
    }
    if (isOpen) deps.onUndecided(executionId)
    return { outcome, decisions, state: ahead === undefined ? {} : { version: ahead.version, bytes: ahead.bytes } }
  } catch (error) {
    await shown
    if (!isAhead && !isLost) throw error
    deps.drop([place])
    if (isOwnTrouble(error)) throw error
    // What followed may be the reason; what was decided first stands alone.
    return { outcome: await writer.write(shard, request), decisions: [], state: GONE }
  }
}
