// Statements that come in two forms, for one row and for many: nearly always it is one, and then neither arrays must be written and
// read nor more than one partition opened.
import type { Rows } from './connection.js'
import type { Tx } from './db.js'
import type { Scalar } from './params.js'
import type { Query } from './queries.js'

/** At least one row, each with its values in the order of the parameters, which are the same in both forms. */
export function runOneOrMany<R>(
  tx: Tx,
  forms: { one: Query; many: Query },
  rows: readonly Scalar[][],
): Promise<Rows<R>> {
  const [first] = rows
  if (rows.length === 1) return tx.run<R>(forms.one, first!)
  const columns = first!.map((_, column) => rows.map((row) => row[column]!))
  return tx.run<R>(forms.many, columns)
}
