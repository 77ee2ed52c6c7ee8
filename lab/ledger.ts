// What the clients were told: every write that was acknowledged, and every one whose outcome nobody knows. The ledger
// is kept outside the product and is what its log is held against.
import { composeSnowflake, SEQUENCE_MAX } from '../src/domain/ids/snowflake.js'

export interface LedgerEvent {
  eventId: string
  type: string
  step: string
  /** Unique; carried in the payload, so that the content is compared, too. */
  mark: string
  /** Seconds since the start of the run. */
  at: number
  acknowledged: boolean
}

export interface LedgerExecution {
  executionId: string
  /** In the workload of the start event. */
  mark: string
  writer: 'http' | 'foreign' | 'source'
  events: LedgerEvent[]
  /** Ids that daemons minted for its events, each asked for when the one before was acknowledged. */
  chain?: string[]
  /** The status that an acknowledged end gave it. */
  ended?: 'COMPLETED' | 'FAILED' | 'CANCELLED'
}

export interface PauseRecord {
  subscriptionId: string
  from: number
  to: number
  /** Messages that were started when the pause had answered, and just before the resume was asked for. */
  startedAtPause: number
  startedAtResume: number
}

export interface Ledger {
  readonly executions: Map<string, LedgerExecution>
  /** The last ones that were started over HTTP, for those who want to meddle with them. */
  recent(): readonly LedgerExecution[]
  add(execution: LedgerExecution): void
  /** Dedup keys of starts that were acknowledged, and the ids they were answered with. */
  readonly starts: Map<string, Set<string>>
  /** Numbers of messages that the source stream has acknowledged. */
  readonly sourced: Set<number>
  readonly pauses: PauseRecord[]
  /** Marks of requests that had to be refused; nothing of them may be stored. */
  readonly refused: Set<string>
  /** What the broker had stored and lost with a disk that was replaced by an older one. */
  readonly restored: { times: number; messages: Set<string>; sourced: Set<number> }
  counts: {
    requests: number
    retries: number
    refusals: number
    replays: number
    foreignRows: number
    audits: number
  }
  mintId(): string
  acknowledgedCount(executionId: string): number
}

/** Outside the ranges that daemons and commands lease from would be 1024; this one is theirs and never taken here. */
const MACHINE_ID = 1007
const RECENT_MAX = 100

export function openLedger(): Ledger {
  let sequence = 0
  let lastMs = 0
  const executions = new Map<string, LedgerExecution>()
  let recent: LedgerExecution[] = []
  return {
    executions,
    recent: () => recent,
    add: (execution) => {
      executions.set(execution.executionId, execution)
      if (execution.writer === 'http') recent = [...recent.slice(1 - RECENT_MAX), execution]
    },
    starts: new Map(),
    sourced: new Set(),
    pauses: [],
    refused: new Set(),
    restored: { times: 0, messages: new Set(), sourced: new Set() },
    counts: { requests: 0, retries: 0, refusals: 0, replays: 0, foreignRows: 0, audits: 0 },
    mintId: () => {
      const now = Date.now()
      sequence = now > lastMs ? 0 : sequence + 1
      lastMs = Math.max(now, lastMs)
      if (sequence > SEQUENCE_MAX) {
        lastMs += 1
        sequence = 0
      }
      return composeSnowflake(lastMs, MACHINE_ID, sequence).toString()
    },
    acknowledgedCount: (executionId) =>
      executions.get(executionId)?.events.filter(({ acknowledged }) => acknowledged).length ?? 0,
  }
}
