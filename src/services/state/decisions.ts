// Writes what the orchestrator decided: the events, the key and the proof that this daemon still owns the execution
// in one transaction. A decision that was made before, by whomever, is dropped; so is one for an execution that has
// ended meanwhile. Decisions that arrive while a transaction is under way share the next one. Commands for which workers
// wait in this process are claimed for them in the same transaction.

import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { NewCommand } from '../../domain/state/orchestrator.js'
import type { CpError } from '../../errors.js'
import { answerJobs } from '../../runtime/isolateRefused.js'
import { holdFences } from '../../stores/leases/leaseStore.js'
import { releaseDecisions, reserveDecisions } from '../../stores/state/stateStore.js'
import type { Handed, HandOver } from '../commands/handOver.js'
import type { Appender } from '../events/appender.js'
import { lookUp } from '../events/lookUp.js'
import { newCommandRows, writeCommandRows } from './commandRows.js'
import { type Chain, NO_CHAIN, type ShowAhead, type Showing, writeChain } from './decisionChain.js'
import { type HandingOver, NOBODY, offerCommands, poolsLeftWaiting } from './handingOver.js'
import { type StorePart, withPartsStored } from './largeParts.js'
import { type DecisionRequest, handedBy, issuedBy, itemsOf, type PrepareDeps, prepare } from './preparedDecision.js'

export interface DecisionDeps extends PrepareDeps {
  appender: Appender
  /** Undefined: every command waits for a claim. */
  handOver?: HandOver | undefined
  /** Where parts go that are too large for the log. */
  store: StorePart
  /** Commands of this execution wait for claims, in these pools. */
  onIssued?: ((executionId: string, pools: readonly string[]) => void) | undefined
}

/** `fenced`: the lane had gone to another daemon, which decides now. */
export type DecisionOutcome = 'appended' | 'repeated' | 'fenced' | 'ended'

export interface DecisionWriter {
  write(shard: number, request: DecisionRequest): Promise<DecisionOutcome>
  /** The same for a decision that goes on, with what follows it at once. */
  writeChain(request: DecisionRequest, show: ShowAhead): Promise<{ outcome: DecisionOutcome; chain: Chain }>
}

interface Job {
  request: DecisionRequest
  resolve(outcome: DecisionOutcome): void
  reject(error: CpError): void
}

const BATCH_MAX = 100

export function createDecisionWriter(deps: DecisionDeps): DecisionWriter {
  const waiting = new Map<number, Job[]>()
  const busy = new Set<number>()

  async function flush(shard: number): Promise<void> {
    if (busy.has(shard)) return
    busy.add(shard)
    try {
      for (;;) {
        const jobs = waiting.get(shard)?.splice(0, BATCH_MAX) ?? []
        if (jobs.length === 0) return
        // Nobody pays for what the data of another refuses.
        await answerJobs(jobs, (some) =>
          appendDecisions(
            deps,
            some.map(({ request }) => request),
          ),
        )
      }
    } finally {
      busy.delete(shard)
    }
  }

  function queue(shard: number, request: DecisionRequest): Promise<DecisionOutcome> {
    return new Promise((resolve, reject) => {
      const jobs = waiting.get(shard)
      const job = { request, resolve, reject }
      if (jobs === undefined) waiting.set(shard, [job])
      else jobs.push(job)
      void flush(shard)
    })
  }

  return {
    write: async (shard, request) => {
      const decision = await withPartsStored(deps, request.executionId, request.decision)
      return queue(shard, { ...request, decision })
    },
    // Alone: others would wait for the end of the chain.
    writeChain: async (request, show) => {
      const { outcomes, chain } = await writeDecisions(deps, [request], NOBODY, show)
      return { outcome: outcomes[0]!, chain }
    },
  }
}

/** All of one shard and of different executions. */
export async function appendDecisions(
  deps: Omit<DecisionDeps, 'store'>,
  requests: readonly DecisionRequest[],
): Promise<DecisionOutcome[]> {
  const handing = await offerCommands(
    deps.handOver,
    requests.map(({ decision }) => decision),
  )
  let handed: ReadonlyMap<NewCommand, Handed> = new Map()
  try {
    const written = await writeDecisions(deps, requests, handing)
    handed = written.handed()
    for (const [index, { executionId, decision }] of requests.entries()) {
      if (written.outcomes[index] !== 'appended') continue
      const pools = poolsLeftWaiting(decision, handed)
      if (pools.length > 0) deps.onIssued?.(executionId, pools)
    }
    return written.outcomes
  } finally {
    handing.settle(handed)
  }
}

interface Written {
  outcomes: DecisionOutcome[]
  /** To be asked after the commit. */
  handed(): ReadonlyMap<NewCommand, Handed>
  chain: Chain
}

function writeDecisions(
  deps: Omit<DecisionDeps, 'store'>,
  requests: readonly DecisionRequest[],
  handing: HandingOver,
  show?: ShowAhead,
): Promise<Written> {
  let isTried = false
  return deps.appender.appendWith(requests[0]!.executionId, async (tx, append) => {
    // A state that was shown what a failed try would have committed fits no other.
    const showNow = isTried ? undefined : show
    isTried = true
    const prepared = requests.map((request) => prepare(deps, request, handing))
    const keys = requests.map(({ executionId, version, decision }) => ({ executionId, version, key: decision.key }))
    // Everything that must be known travels together: one round trip before the writing, one with it.
    const [isHeld, fresh, found] = await Promise.all([
      holdFences(
        tx,
        requests.map(({ fence }) => fence),
      ),
      reserveDecisions(tx, keys),
      lookUp(
        tx,
        prepared.flatMap(({ items }) => items),
      ),
    ])
    const outcomes = requests.map(({ fence, executionId, decision }): DecisionOutcome => {
      if (!isHeld(fence)) return 'fenced'
      const execution = found.executions.get(executionId)
      if (execution === undefined || isTerminalStatus(execution.summary.status)) return 'ended'
      return fresh.has(`${executionId}:${decision.key}`) ? 'appended' : 'repeated'
    })
    // A key says that its decision was written.
    const unused = keys.filter(
      ({ executionId, key }, index) => outcomes[index] !== 'appended' && fresh.has(`${executionId}:${key}`),
    )
    if (unused.length > 0) await releaseDecisions(tx, unused)
    const made = prepared.filter((_, index) => outcomes[index] === 'appended')
    if (made.length === 0) return { outcomes, handed: () => new Map(), chain: NO_CHAIN }
    let showing: Showing | undefined
    let leases: ReadonlyMap<string, string> = new Map()
    const written = await append(made.flatMap(itemsOf), {
      found,
      alongside: (all) => {
        // It refuses at once, before anything is sent.
        const issued = issuedBy(made, all, found.executions)
        return writeCommandRows(tx, newCommandRows(issued)).then((held) => {
          leases = held
        })
      },
      onNews: (news) => {
        if (showNow !== undefined) showing = { news, answer: showNow(news) }
      },
    })
    const chain =
      showNow === undefined || showing === undefined
        ? NO_CHAIN
        : await writeChain(deps, tx, append, { request: requests[0]!, show: showNow, found, first: showing })
    return { outcomes, handed: () => handedBy(made, written, leases), chain }
  })
}
