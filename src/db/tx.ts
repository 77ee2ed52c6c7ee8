// Short transactions. The first error is the one the caller sees, a connection whose rollback failed is
// discarded, and a deadlock or serialization failure runs the whole transaction again, a few times.
import { CpError } from '../errors.js'
import type { Connection, Rows } from './connection.js'
import type { Tx, TxOptions } from './db.js'
import type { Param } from './params.js'
import { isRetryable, sqlstateOf } from './pgErrors.js'
import { type Query, statement } from './queries.js'

export interface TxSource {
  acquire(): Promise<Connection>
  release(connection: Connection): void
  queryTimeoutMs: number
}

const COMMIT = statement('commit')
const ROLLBACK = statement('rollback')
const ROLLBACK_DEADLINE_MS = 3000
// Making a plan for a few keys costs more than finding their rows, and a plan that was made while a table was small must not
// read all of it when it has grown.
const BY_KEY = [
  'plan_cache_mode = force_generic_plan',
  ...['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan', 'material'].map((way) => `enable_${way} = off`),
].map((setting) => `; set local ${setting}`)
const IN_FAILED_TRANSACTION = '25P02'

export async function runTransaction<T>(
  source: TxSource,
  work: (tx: Tx) => Promise<T>,
  options: TxOptions,
): Promise<T> {
  const tries = options.tries ?? 3
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(source, work, options)
    } catch (error) {
      if (attempt >= tries || !isRetryable(error)) throw error
    }
  }
}

async function runOnce<T>(source: TxSource, work: (tx: Tx) => Promise<T>, options: TxOptions): Promise<T> {
  const deadlineMs = options.deadlineMs ?? source.queryTimeoutMs
  const connection = await source.acquire()
  try {
    // Not awaited: the first statement of the work travels with it. If it fails, so does every statement, at once: on a
    // database that is away each would wait for a connection of its own.
    const begun = connection.run(beginStatement(options), [], deadlineMs)
    const notBegun = begun.then(() => new Promise<never>(() => undefined))
    notBegun.catch(() => undefined)
    let firstError: unknown
    const last: Promise<unknown>[] = [begun]
    const tx = {
      run: (query, values = [], run = {}) =>
        Promise.race([connection.run(query, values, run.deadlineMs ?? deadlineMs), notBegun]).catch(
          (error: unknown) => {
            firstError ??= error
            throw error
          },
        ),
      finishWith: (sent) => {
        sent.catch(() => undefined)
        last.push(sent)
      },
    } as Tx
    try {
      const result = await work(tx)
      const committed = connection.run(COMMIT, [], deadlineMs)
      committed.catch(() => undefined)
      await Promise.all(last)
      const { command } = await committed
      // The server answers COMMIT of a failed transaction with a quiet ROLLBACK; somebody swallowed an error.
      if (command === 'ROLLBACK') throw firstError ?? new CpError('internal', 'the transaction was rolled back')
      return result
    } catch (error) {
      await rollBack(connection)
      // A statement behind the failed one is refused for that reason alone.
      throw sqlstateOf(error) === IN_FAILED_TRANSACTION ? (firstError ?? error) : error
    }
  } finally {
    source.release(connection)
  }
}

/** One query in a transaction of its own, so that its plan is made as those of `byKey` are. All of it is one round trip. */
export async function runByKey<R>(
  connection: Connection,
  query: Query,
  values: readonly Param[],
  deadlineMs: number,
): Promise<Rows<R>> {
  const [begun, answered, ended] = await Promise.allSettled([
    connection.run(beginStatement({ readOnly: true, byKey: true }), [], deadlineMs),
    connection.run<R>(query, values, deadlineMs),
    // After an error the server makes a rollback of it.
    connection.run(COMMIT, [], deadlineMs),
  ])
  for (const one of [begun, answered, ended]) if (one.status === 'rejected') throw one.reason
  return (answered as PromiseFulfilledResult<Rows<R>>).value
}

async function rollBack(connection: Connection): Promise<void> {
  if (connection.isBroken()) return
  try {
    await connection.run(ROLLBACK, [], ROLLBACK_DEADLINE_MS)
  } catch {
    // The caller gets the first error; a connection in an unknown state must not be used again.
    connection.discard()
  }
}

function beginStatement(options: TxOptions): Query {
  const isolation = options.isolation === 'repeatable read' ? ' isolation level repeatable read' : ''
  const ways = options.byKey === true ? BY_KEY.join('') : ''
  // One message: the server answers each, and every answer wakes us.
  return statement(`begin${isolation}${options.readOnly === true ? ' read only' : ''}${ways}`)
}
