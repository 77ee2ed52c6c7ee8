// Claims over HTTP: 500 rows of 200 executions, beside nothing, beside a million rows in backoff, and beside a million rows
// behind one that waits, in turn in one run. Then four publishers at once against one.
import { median } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'
import { fillOutbox } from './lib/outboxRows.mjs'

const CLAIM = 500
const EXECUTIONS = 200
const ROUNDS = 15
const WAITING = 1_000_000
const PUBLISHERS = 4
const SHARED_CLAIMS = 40
const GIVE_UP_MS = 120_000
const TOKEN = 'internal-token-of-the-benchmark'

const WAITING_SQL = {
  backoff: `select 1000000 + n % 100000, n, '{}', 'FAILED', now() + interval '1 day'`,
  behind: `select 1000000, n, '{}', case n when -1 then 'FAILED' else 'PENDING' end, now() + case n when -1 then interval '1 day' else interval '-1 day' end`,
}

export default {
  name: 'claims',
  run: async (ctx) => {
    const alone = await prepare(ctx)
    const sides = {
      alone,
      backoff: await prepare(ctx, WAITING_SQL.backoff),
      behind: await prepare(ctx, WAITING_SQL.behind),
    }
    const took = { alone: [], backoff: [], behind: [] }
    // The first round of each warms up caches and plans.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, side] of Object.entries(sides)) {
        const ms = await side.claim()
        if (round > 0) took[name].push(ms)
      }
    }
    const base = median(took.alone)
    const shared = await together(alone)
    for (const side of Object.values(sides)) await side.close()
    const beside = (name, what) => ({
      name: `claim of ${CLAIM} ${what}`,
      value: median(took[name]),
      unit: 'ms',
      ratio: median(took[name].map((ms, round) => ms / took.alone[round])),
      target: '<= 2',
      note: `${base.toFixed(1)} ms beside nothing`,
    })
    return [
      beside('backoff', `beside ${WAITING.toLocaleString('en')} rows in backoff`),
      beside('behind', `beside ${WAITING.toLocaleString('en')} rows behind one that waits`),
      {
        name: `${PUBLISHERS} publishers at once`,
        value: shared.together,
        unit: 'rows/s',
        ratio: shared.together / shared.one,
        note: `one alone ${Math.round(shared.one)} rows/s, claims and marks`,
      },
    ]
  },
}

/** A database with what waits in it, and a daemon without a relay. */
async function prepare(ctx, waiting) {
  const database = await ctx.database()
  const sql = database.open({ max: 1 })
  let events = 0
  const fill = async (rows) => {
    await fillOutbox(sql, { rows, executions: EXECUTIONS, firstEvent: events + 1 })
    events += rows
  }
  if (waiting !== undefined) {
    await sql.unsafe(`insert into noetl.outbox (execution_id, event_id, payload, status, available_at)
      ${waiting} from generate_series(-1, -${WAITING}, -1) as n order by n desc`)
  }
  await fill(CLAIM * (ROUNDS + 2))
  await sql.unsafe('vacuum analyze noetl.outbox')
  const daemon = await ctx.daemon({
    NOETL_DATABASE_URL: database.url,
    NOETL_CP_RELAY: 'false',
    NOETL_CP_STATE: 'false',
    NOETL_INTERNAL_API_TOKEN: TOKEN,
  })
  const client = createClient(daemon.url, PUBLISHERS, { authorization: `Bearer ${TOKEN}` })
  const post = async (path, body) => JSON.parse(await client.post(`/api/internal/outbox/${path}`, JSON.stringify(body)))
  const mark = async (rows) => {
    if (rows.length === 0) return
    await post('mark-published', {
      outbox_ids: rows.map((row) => row.outbox_id),
      lease_tokens: rows.map((row) => row.lease_token),
    })
  }
  return {
    fill,
    /** Milliseconds of a claim; marking is not timed. */
    claim: async () => {
      const started = performance.now()
      const { rows } = await post('claim', { limit: CLAIM })
      const ms = performance.now() - started
      // It may be a few less, never so few that the time says nothing.
      if (rows.length < CLAIM * 0.9) throw new Error(`${rows.length} rows claimed`)
      await mark(rows)
      return ms
    },
    work: async () => {
      const { rows } = await post('claim', { limit: CLAIM })
      await mark(rows)
      return rows.length
    },
    close: async () => {
      client.close()
      await daemon.stop()
    },
  }
}

/** Rows per second, claimed and marked, by one publisher and by several. */
async function together(side) {
  const run = async (publishers) => {
    const rows = CLAIM * SHARED_CLAIMS
    await side.fill(rows)
    let left = rows
    const started = performance.now()
    const publisher = async () => {
      while (left > 0) {
        const done = await side.work()
        left -= done
        if (performance.now() - started > GIVE_UP_MS) throw new Error(`${left} rows were never claimed`)
      }
    }
    await Promise.all(Array.from({ length: publishers }, publisher))
    return (rows / (performance.now() - started)) * 1000
  }
  return { one: await run(1), together: await run(PUBLISHERS) }
}
