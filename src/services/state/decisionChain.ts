// A long run of steps that wait for nobody, in one transaction: while the events of one decision are being written, the thread
// that holds the state is shown them and decides the next. Its state is then ahead of the log; should the transaction fail,
// whoever began the chain drops it. Only a shorter way: what the chain leaves undecided is asked for again after the commit.
import type { Tx } from '../../db/db.js'
import type { Decision } from '../../domain/state/orchestrator.js'
import { followDecisions } from '../../stores/state/stateStore.js'
import type { AheadOutput } from '../../workers/resident.js'
import type { AppendHere } from '../events/appendTransactions.js'
import { commandNamed } from '../events/commandBook.js'
import type { LogNews } from '../events/logNews.js'
import type { Found } from '../events/lookUp.js'
import { NOBODY } from './handingOver.js'
import { receiveDecision } from './inThread/sentVerdict.js'
import { type DecisionRequest, type PrepareDeps, prepare, storedId } from './preparedDecision.js'

/** Shows the state what is about to be committed. Undefined: it does not go on by that. Never rejects. */
export type ShowAhead = (news: LogNews) => Promise<AheadOutput | undefined>

/** News that were shown before they were even sent: thread and database work on them at the same time. */
export interface Showing {
  news: LogNews
  answer: Promise<AheadOutput | undefined>
}

export interface Chain {
  /** What was written behind the first decision. */
  decisions: Decision[]
  /** The state as it was last shown; undefined: it was shown nothing. */
  ahead: AheadOutput | undefined
  /** Something follows that was not written. */
  isOpen: boolean
}

export const NO_CHAIN: Chain = { decisions: [], ahead: undefined, isOpen: false }

// The execution is locked meanwhile, and whoever wants to cancel it waits so long.
const DECISIONS_MAX = 10
const CHAIN_MS_MAX = 250

export async function writeChain(
  deps: PrepareDeps,
  tx: Tx,
  append: AppendHere,
  { request, show, found, first }: { request: DecisionRequest; show: ShowAhead; found: Found; first: Showing },
): Promise<Chain> {
  const chain: Chain = { decisions: [], ahead: undefined, isOpen: false }
  const until = deps.clock.monotonic() + CHAIN_MS_MAX
  const { executionId, fence, trace } = request
  for (let showing: Showing | undefined = first; showing !== undefined; ) {
    const { news, answer }: Showing = showing
    const ahead = await answer
    if (ahead === undefined) return chain
    news.isShown = true
    chain.ahead = ahead
    const decision = plainDecisionOf(ahead)
    const { items } = decision === undefined ? { items: [] } : prepare(deps, { executionId, decision, trace }, NOBODY)
    // What is decided about commands that have rows depends on those, and nobody has looked at them.
    if (decision === undefined || items.some(({ event }) => commandNamed(event) !== undefined)) {
      chain.isOpen = ahead.verdict !== undefined
      return chain
    }
    const keyed = { executionId, fence, version: ahead.version, key: decision.key }
    chain.decisions.push(decision)
    const isLong = chain.decisions.length >= DECISIONS_MAX || deps.clock.monotonic() > until
    const goesOn = decision.goesOn === true && !isLong
    showing = undefined
    const outcomes = await append(items, {
      found,
      alongside: () => followDecisions(tx, [keyed]),
      onNews: (one) => {
        if (goesOn) showing = { news: one, answer: show(one) }
      },
    })
    // All of it or nothing.
    for (const outcome of outcomes) storedId(outcome)
  }
  return chain
}

/** One that needs nothing but its events: no worker, no child, no store. */
function plainDecisionOf({ verdict }: AheadOutput): Decision | undefined {
  if (verdict === undefined || !('key' in verdict)) return undefined
  const decision = receiveDecision(verdict)
  return isPlain(decision) ? decision : undefined
}

const isPlain = ({ commands = [], events }: Decision): boolean =>
  commands.length === 0 && events.every(({ large }) => large === undefined)

export function beginsChain(decision: Decision): boolean {
  return decision.goesOn === true && isPlain(decision)
}
