// Which installation this is, and what all its processes do alike.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { CpError } from '../../errors.js'

const q = queries('identity_cluster', 'identity_publishes_adopted', 'identity_publish_adopted')

export async function readClusterId(db: Queryable): Promise<string> {
  const [row] = await db.run<{ cluster_id: string }>(q.identity_cluster)
  if (row === undefined)
    throw new CpError('corrupt', 'noetl.cp_identity is empty; run: insert into noetl.cp_identity default values;')
  return row.cluster_id
}

/** Whether events that others wrote are published by us. */
export async function publishesAdopted(db: Queryable): Promise<boolean> {
  const [row] = await db.run<{ publishes: boolean }>(q.identity_publishes_adopted)
  return row?.publishes === true
}

/** From now on, if it was not so before. */
export async function setPublishesAdopted(db: Queryable, wanted: boolean): Promise<void> {
  await db.run(q.identity_publish_adopted, [wanted])
}
