// One committed write, and nothing else: an answer to a question proves little about a server that only reads.
import type { Db } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('write_probe')

export async function probeWrite(db: Db, deadlineMs: number): Promise<void> {
  await db.run(q.write_probe, [], { deadlineMs })
}
