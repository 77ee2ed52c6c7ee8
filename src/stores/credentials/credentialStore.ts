// Whether credentials are stored in a database; never what they are.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('credential_any')

export async function holdsCredentials(db: Queryable): Promise<boolean> {
  const [row] = await db.run<{ found: boolean }>(q.credential_any)
  return row?.found === true
}
