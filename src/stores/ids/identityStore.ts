// Which installation this is.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { CpError } from '../../errors.js'

const q = queries('identity_cluster')

export async function readClusterId(db: Queryable): Promise<string> {
  const [row] = await db.run<{ cluster_id: string }>(q.identity_cluster)
  if (row === undefined)
    throw new CpError('corrupt', 'noetl.cp_identity is empty; run: insert into noetl.cp_identity default values;')
  return row.cluster_id
}
