// What the floors above see of a database: run a named query, or several inside one transaction.
import type { Rows } from './connection.js'
import type { Param } from './params.js'
import type { Query } from './queries.js'

export interface RunOptions {
  /** Overrides the ordinary query deadline. */
  deadlineMs?: number
}

export interface Queryable {
  run<R = Record<string, unknown>>(query: Query, values?: readonly Param[], options?: RunOptions): Promise<Rows<R>>
}

declare const insideTransaction: unique symbol

/** Only `Db.tx` makes one, so a function that asks for a Tx cannot be called outside a transaction. */
export interface Tx extends Queryable {
  /**
   * Statements that were all sent and whose answers nobody looks at: the commit travels behind them. Should one of them
   * fail, so does the transaction.
   */
  finishWith(sent: Promise<unknown>): void
  readonly [insideTransaction]: true
}

export interface TxOptions {
  isolation?: 'read committed' | 'repeatable read'
  readOnly?: boolean
  /** Runs the whole transaction again after a deadlock or serialization failure; default 3 tries. */
  tries?: number
  deadlineMs?: number
  /** Every statement finds its rows by key: plans are made once and follow indexes, however small the tables still are. */
  byKey?: boolean
}

export interface DbStats {
  open: number
  inUse: number
  waiting: number
}

export interface Db extends Queryable {
  /** For people, logs and metrics: user@host:port/database. */
  readonly name: string
  tx<T>(work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T>
  stats(): DbStats
  close(deadlineMs: number): Promise<void>
}
