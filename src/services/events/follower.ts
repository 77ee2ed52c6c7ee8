// Whoever decides by what is about to be committed: what follows from it commits with it, in one transaction where there
// would be two.
import type { Tx } from '../../db/db.js'
import type { CommandRow } from '../../domain/commands/commandRules.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'
import type { AppendItem, AppendOutcome } from './appendOutcome.js'
import type { LogNews } from './logNews.js'

export interface Follower {
  /** Asked once per transaction, under the locks of its executions and before anything is written. Never refuses. */
  follow(news: readonly LogNews[], executions: ReadonlyMap<string, LockedExecution>): Promise<Following | undefined>
}

export interface Following {
  /** Executions whose news were taken: they need not be told of them again. */
  readonly taken: readonly string[]
  readonly items: readonly AppendItem[]
  /** Further writes, sent with the events; fails when the items may not be written. Told what became of each item. */
  write(tx: Tx, outcomes: readonly AppendOutcome[]): Promise<void>
  /** Commands that were written, as they are then. */
  issued(): readonly CommandRow[]
  /** To be called once, when the transaction has ended. */
  settle(isCommitted: boolean): void
}
