// Scrubbing: how long a log takes to be ready, a jump to any event, a checksum there; and the same in a browser, from the
// pointer to the exact state on the screen.
import { chromium } from 'playwright-core'
import { openDatabases } from '../dist/db/databases.js'
import { parseTopology } from '../dist/domain/shards/topology.js'
import { systemClock } from '../dist/runtime/clock.js'
import { toWorkerDatabase } from '../dist/services/replay/inThread/database.js'
import { createScrubbing } from '../dist/services/replay/scrubbing.js'
import { createTapeThread } from '../dist/workers/resident.js'
import { median, percentile } from './lib/context.mjs'
import { generateLog, loadVectorLog, readVectorLog } from './lib/replayLog.mjs'
import { settingsOf } from './lib/replayPool.mjs'

const VECTOR = '9301'
const LONG = '9302'
const PARTS = { head: true, counts: true, touched: true, entities: [], pages: [] }
const JUMPS = 200
const PAGE_JUMPS = 60

export default {
  name: 'console',
  run: async (ctx) => {
    const database = await ctx.database()
    const sql = database.open({ max: 1, fetch_types: false })
    await loadVectorLog(sql, readVectorLog(), VECTOR)
    await plantExecution(sql, VECTOR)
    const rows = [
      ...(await measure(database.url, VECTOR, 100_000, { readyMs: 1_200, jumpMs: 50, checksumMs: 150 })),
      ...(await measurePage(ctx, database.url, VECTOR)),
    ]
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
  await sql.unsafe(
    `insert into noetl.execution (execution_id, catalog_id, status, path, start_time, event_count)
     select ${id}, 1, 'RUNNING', 'bench/console', now(), count(*) from noetl.event where execution_id = ${id}`,
  )
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
  const checksums = []
  for (let round = 0; round < 5; round++) {
    const place = { by: 'position', value: String(next()) }
    checksums.push(await timed(() => scrubbing.checksum(id, place, 0, signal)))
  }
  const { bytes } = await scrubbing.stats()
  await scrubbing.stop(5_000)
  await databases.close(1_000)
  return [
    rowOf('tape and keyframes ready', events, ready, limits.readyMs),
    rowOf('jump to any event, p50', events, median(jumps), limits.jumpMs),
    rowOf('jump to any event, p95', events, percentile(jumps, 0.95), limits.jumpMs * 3),
    rowOf('checksum at any event, p50', events, median(checksums), limits.checksumMs),
    { name: `counted memory of the console, ${countOf(events)}`, value: bytes / 2 ** 20, unit: 'MB' },
  ]
}

/** The page as a reader has it: NOETL_TEST_CHROMIUM, or the Chromium of this machine. */
async function measurePage(ctx, url, id) {
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: url })
  const executablePath = process.env.NOETL_TEST_CHROMIUM || '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ['--no-sandbox'] : [] })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const started = performance.now()
    await page.goto(`${daemon.url}/console/executions/${id}`)
    await page.locator('.moment[aria-busy=false]').waitFor({ timeout: 60_000 })
    const drawn = performance.now() - started
    const jumps = await page.evaluate(jumpInPage, PAGE_JUMPS)
    const frames = await page.evaluate(dragInPage, PAGE_JUMPS)
    return [
      { name: `page with the state at the end, ${countOf(100_000)}`, value: drawn, unit: 'ms' },
      rowOf('browser: pointer to exact state, p50', 100_000, median(jumps), 100),
      rowOf('browser: pointer to exact state, p95', 100_000, percentile(jumps, 0.95), 150),
      rowOf('browser: script per frame of a drag, p95', 100_000, percentile(frames, 0.95), 4),
    ]
  } finally {
    await browser.close()
    await daemon.stop()
  }
}

/** Runs in the page. */
async function jumpInPage(count) {
  const track = document.querySelector('[role=slider]')
  const { left, width, top } = track.getBoundingClientRect()
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const took = []
  for (let round = 0; round < count; round++) {
    const clientX = left + (((round + 1) * 0.618) % 1) * width
    const before = track.getAttribute('aria-valuenow')
    const started = performance.now()
    track.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: top + 5, buttons: 1, bubbles: true }))
    do await frame()
    while (
      track.getAttribute('aria-valuenow') === before ||
      document.querySelector('.moment[aria-busy=false]') === null
    )
    took.push(performance.now() - started)
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  return took
}

/** Runs in the page: what one move of the handle costs until everything that follows it is painted. */
async function dragInPage(count) {
  const track = document.querySelector('[role=slider]')
  const { left, width, top } = track.getBoundingClientRect()
  const took = []
  for (let round = 0; round < count; round++) {
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const clientX = left + ((round + 1) / (count + 1)) * width
    const started = performance.now()
    track.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: top + 5, buttons: 1, bubbles: true }))
    // The screen is drawn once the handlers have returned, before any other task.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    took.push(performance.now() - started)
  }
  return took
}

function rowOf(name, events, value, limit) {
  return {
    name: `${name}, ${countOf(events)}`,
    value,
    unit: 'ms',
    ratio: value / limit,
    target: '<= 1',
    note: `ratio to ${limit} ms`,
  }
}

function countOf(events) {
  return `${events.toLocaleString('en')} events`
}
