// Commits one small write. A server that only answers reads would pass a weaker check.
import type { Db } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('write_probe')

export async function probeWrite(db: Db, deadlineMs: number): Promise<void> {
  await db.run(q.write_probe, [], { deadlineMs })
}
