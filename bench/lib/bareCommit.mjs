// One row and its commit, nothing else: what every hop is measured by.
import { median } from './context.mjs'

const COMMITS = 300

/** Milliseconds. */
export async function bareCommit(sql) {
  await sql`create table if not exists bare (n int)`
  const took = []
  for (let n = 0; n < COMMITS; n++) {
    const started = performance.now()
    await sql`insert into bare values (${n})`
    took.push(performance.now() - started)
  }
  return median(took)
}
