// Scrubbing: how long a log takes to be ready, a jump to any event, and a checksum there.
import { openDatabases } from '../dist/db/databases.js'
import { parseTopology } from '../dist/domain/shards/topology.js'
import { systemClock } from '../dist/runtime/clock.js'
import { toWorkerDatabase } from '../dist/services/replay/inThread/database.js'
import { createScrubbing } from '../dist/services/replay/scrubbing.js'
import { createTapeThread } from '../dist/workers/resident.js'
import { median } from './lib/context.mjs'
import { generateLog, loadVectorLog, readVectorLog } from './lib/replayLog.mjs'
import { settingsOf } from './lib/replayPool.mjs'

const VECTOR = '9301'
const LONG = '9302'
const PARTS = { head: true, counts: true, touched: true, entities: [], pages: [] }
const JUMPS = 200

export default {
  name: 'console',
  run: async (ctx) => {
    const database = await ctx.database()
    const sql = database.open({ max: 1, fetch_types: false })
    await loadVectorLog(sql, readVectorLog(), VECTOR)
    await plantExecution(sql, VECTOR)
    const rows = await measure(database.url, VECTOR, 100_000, { readyMs: 1_200, jumpMs: 50, checksumMs: 150 })
    if (!ctx.full) return rows
    await generateLog(sql, LONG, 1_000_000)
    await plantExecution(sql, LONG)
    return [
      ...rows,
      ...(await measure(database.url, LONG, 1_000_000, { readyMs: 12_000, jumpMs: 100, checksumMs: 1_000 })),
    ]
  },
}

async function plantExecution(sql, id) {
  await sql.unsafe(`insert into noetl.execution (execution_id, catalog_id, status) values (${id}, 1, 'RUNNING')`)
}

async function measure(url, id, events, limits) {
  const settings = settingsOf(url)
  const databases = openDatabases(parseTopology({ fallback: settings.target }), {
    ...settings,
    tls: () => false,
    max: 2,
    acquireTimeoutMs: 5_000,
    queryTimeoutMs: 600_000,
  })
  const scrubbing = createScrubbing({
    databases,
    clock: systemClock,
    openThread: () =>
      createTapeThread({
        memoryMb: 1_024,
        parallelMax: 8,
        stallMs: 600_000,
        onLost: (_, reason) => {
          throw new Error(reason)
        },
        setup: {
          databases: databases.shards.map((shard) => toWorkerDatabase(shard.settings)),
          bytesMax: 512 * 2 ** 20,
          deadlineMs: 600_000,
          secretNames: [],
        },
      }),
  })
  const { signal } = new AbortController()
  const timed = async (work) => {
    const started = performance.now()
    await work()
    return performance.now() - started
  }
  const jump = (position) => scrubbing.at(id, { by: 'position', value: String(position) }, 0, PARTS, signal)
  const ready = await timed(() => scrubbing.at(id, { by: 'end' }, 0, PARTS, signal))
  let seed = 17
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return 1 + (seed % events)
  }
  const jumps = []
  for (let round = 0; round < JUMPS; round++) {
    const position = next()
    jumps.push(await timed(() => jump(position)))
  }
  jumps.sort((left, right) => left - right)
  const checksums = []
  for (let round = 0; round < 5; round++) {
    const place = { by: 'position', value: String(next()) }
    checksums.push(await timed(() => scrubbing.checksum(id, place, 0, signal)))
  }
  const { bytes } = await scrubbing.stats()
  await scrubbing.stop(5_000)
  await databases.close(1_000)
  const what = `${events.toLocaleString('en')} events`
  const row = (name, value, limit) => ({
    name: `${name}, ${what}`,
    value,
    unit: 'ms',
    ratio: value / limit,
    target: '<= 1',
    note: `ratio to ${limit} ms`,
  })
  return [
    row('tape and keyframes ready', ready, limits.readyMs),
    row('jump to any event, p50', median(jumps), limits.jumpMs),
    row('jump to any event, p95', jumps[Math.floor(JUMPS * 0.95)], limits.jumpMs * 3),
    row('checksum at any event, p50', median(checksums), limits.checksumMs),
    { name: `counted memory of the console, ${what}`, value: bytes / 2 ** 20, unit: 'MB' },
  ]
}
