// The console: how soon a long log can be scrubbed, a jump to any event, the checksum there; the same in a browser, from
// the pointer to the exact state on the screen, and the script of each frame; the list among
// very many executions; and what all of it costs those who ingest.
import { readFileSync } from 'node:fs'
import { costOfWorkerIndex, ingestBesideScrubbing } from './lib/consoleIngest.mjs'
import { measureList } from './lib/consoleList.mjs'
import { measureFrames, measureJumps, openBrowser, openScrubber } from './lib/consolePage.mjs'
import { median, percentile } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'
import { processorMs, untilQuiet } from './lib/processorTime.mjs'
import { generateGrowingLog, loadVectorLog, readVectorLog } from './lib/replayLog.mjs'

const VECTOR = {
  id: '9301',
  events: 100_000,
  readyMs: 1_200,
  jumpMs: 50,
  worstJumpMs: 150,
  differenceMs: 250,
  checksumMs: 150,
  memoryMb: 40,
}
const LONG = {
  id: '9302',
  events: 1_000_000,
  readyMs: 12_000,
  jumpMs: 100,
  worstJumpMs: 250,
  differenceMs: 2_500,
  checksumMs: 1_000,
  memoryMb: 300,
}
const BARS = { id: '9303', commands: 10_000, steps: 12 }
const JUMPS = 200
const DIFFERENCES = 20
const CHECKSUMS = 5
const PAGE_JUMPS = 60
const LOADS = 5
const FRAMES = 120
const WAIT_MS = 30_000

export default {
  name: 'console',
  run: async (ctx) => {
    const database = await ctx.database()
    const sql = database.open({ max: 1, fetch_types: false })
    await loadVectorLog(sql, readVectorLog(), VECTOR.id)
    await plantExecution(sql, VECTOR.id)
    await generateGrowingLog(sql, BARS.id, BARS)
    await plantExecution(sql, BARS.id)
    // As logs are that were not written a second ago: the first reader of a row marks it otherwise.
    await sql.unsafe('vacuum analyze noetl.event')
    const rows = [
      ...(await measure(ctx, database.url, VECTOR)),
      ...(await measurePages(ctx, database.url)),
      rowOfList(await measureList(ctx)),
      ...(await measureCost(ctx, database.url, sql)),
    ]
    if (!ctx.full) return rows
    // In a database of its own: a daemon that takes up what was ingested above grows and shrinks by itself.
    const { url, open } = await ctx.database()
    const long = open({ max: 1, fetch_types: false })
    await generateGrowingLog(long, LONG.id, { commands: LONG.events / 4, steps: 12 })
    await plantExecution(long, LONG.id)
    await long.unsafe('vacuum analyze noetl.event')
    return [...rows, ...(await measure(ctx, url, LONG))]
  },
}

async function plantExecution(sql, id) {
  await sql.unsafe(
    `insert into noetl.execution (execution_id, catalog_id, status, path, start_time, event_count)
     select ${id}, 1, 'COMPLETED', 'bench/console', now(), count(*) from noetl.event where execution_id = ${id}`,
  )
}

/** What a daemon answers that nobody has asked about the log before. */
async function measure(ctx, url, log) {
  const { id, events, readyMs, jumpMs, worstJumpMs, differenceMs, checksumMs, memoryMb } = log
  // The first one writes a snapshot of a log that long, and gives back the memory for it while the next is measured.
  const first = await ctx.daemon({ NOETL_DATABASE_URL: url })
  await untilQuiet(first.pid)
  await first.stop()
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: url })
  await untilQuiet(daemon.pid)
  const client = createClient(daemon.url, 2)
  const timed = async (work) => {
    const started = performance.now()
    await work()
    return performance.now() - started
  }
  const before = { mb: residentMb(daemon.pid), ms: processorMs([daemon.pid]) }
  const ready = await timed(() => wholeTape(daemon.url, id))
  const memory = residentMb(daemon.pid) - before.mb
  const spent = processorMs([daemon.pid]) - before.ms
  let seed = 17
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return 1 + (seed % events)
  }
  const ask = async (what, count, isDifference = false) => {
    const took = []
    for (let round = 0; round < count; round++) {
      const position = next()
      const since = isDifference ? `&part=counts&since=${next()}` : ''
      took.push(await timed(() => client.get(`/api/executions/${id}/${what}?position=${position}${since}`)))
    }
    return took
  }
  const jumps = await ask('at', JUMPS)
  const differences = await ask('at', DIFFERENCES, true)
  const checksums = await ask('checksum', CHECKSUMS)
  client.close()
  await daemon.stop()
  return [
    {
      ...rowOf('tape and keyframes ready', events, ready, readyMs),
      note: `ratio to ${readyMs} ms; ${Math.round(spent)} ms of processor, all threads of the daemon`,
    },
    rowOf('jump to any event, p50', events, median(jumps), jumpMs),
    rowOf('jump to any event, p95', events, percentile(jumps, 0.95), worstJumpMs),
    rowOf('difference between any two events, p50', events, median(differences), differenceMs),
    rowOf('checksum at any event, p50', events, median(checksums), checksumMs),
    {
      name: `memory of the daemon for it, ${countOf(events)}`,
      value: memory,
      unit: 'MB',
      ratio: memory / memoryMb,
      target: '<= 1',
      note: `ratio to ${memoryMb} MB, the thread itself included`,
    },
  ]
}

/** The tape as the page asks for it, until it has every event. */
async function wholeTape(url, id) {
  for (;;) {
    const response = await fetch(`${url}/api/executions/${id}/tape?level=full&wait_ms=${WAIT_MS}`)
    const { length } = new Uint8Array(await response.arrayBuffer())
    if (!response.ok) throw new Error(`the tape was answered with ${response.status}`)
    const about = (name) => Number(response.headers.get(`x-noetl-tape-${name}`))
    if (about('built') === about('total')) return length
  }
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}

async function measurePages(ctx, url) {
  const { events } = VECTOR
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: url })
  await untilQuiet(daemon.pid)
  const browser = await openBrowser()
  try {
    const scrubber = await openScrubber(browser, daemon.url, VECTOR.id)
    const jumps = await measureJumps(scrubber.page, PAGE_JUMPS)
    await scrubber.page.close()
    const again = await measurePaint(browser, daemon.url, VECTOR.id)
    const bars = await openScrubber(browser, daemon.url, BARS.id, '?zoom=0.02..0.98')
    const drag = await measureFrames(bars.page, 'drag', FRAMES)
    const pan = await measureFrames(bars.page, 'pan', FRAMES)
    const what = `${BARS.commands.toLocaleString('en')} bars`
    return [
      rowOf('browser: timeline on the screen, daemon and browser new to it', events, scrubber.paintMs, 400),
      rowOf('browser: timeline on the screen, p50', events, median(again), 400),
      { name: `browser: page with the state at the end, ${countOf(events)}`, value: scrubber.ms, unit: 'ms' },
      rowOf('browser: pointer to exact state, p50', events, median(jumps), 100),
      rowOf('browser: pointer to exact state, p95', events, percentile(jumps, 0.95), 150),
      row(`browser: script per frame of a drag, p95, ${what}`, percentile(drag, 0.95), 4),
      row(`browser: script per frame of a pan, p95, ${what}`, percentile(pan, 0.95), 4),
      row(`browser: most script of any of these frames, ${what}`, Math.max(...drag, ...pan), 50),
    ]
  } finally {
    await browser.close()
    await daemon.stop()
  }
}

async function measurePaint(browser, url, id) {
  const took = []
  for (let load = 0; load < LOADS; load++) {
    const { page, paintMs } = await openScrubber(browser, url, id)
    took.push(paintMs)
    await page.close()
  }
  return took
}

function rowOfList({ executions, ms }) {
  return row(`browser: rows of the list on the screen, ${executions.toLocaleString('en')} executions`, ms, 500)
}

async function measureCost(ctx, url, sql) {
  const daemon = await ctx.daemon({ NOETL_DATABASE_URL: url, NOETL_CP_ENGINE_NATIVE_NOOP: 'false' })
  await untilQuiet(daemon.pid)
  const { ratio, perSecond, jumps } = await ingestBesideScrubbing(daemon.url, VECTOR.id, VECTOR.events)
  const index = await costOfWorkerIndex(daemon, sql)
  await daemon.stop()
  return [
    {
      name: 'ingest beside a page that scrubs',
      value: perSecond / ratio,
      unit: 'events/s',
      ratio,
      target: '<= 1.05',
      note: `time against alone, in turn; alone ${Math.round(perSecond)} events/s, a jump meanwhile ${median(jumps).toFixed(0)} ms p50`,
    },
    {
      name: 'index of workers, per command',
      value: index.extraMs * 1_000,
      unit: 'µs of processor',
      ratio: index.ratio,
      target: '<= 1.05',
      note: `a command from issue to end takes ${index.wholeMs.toFixed(2)} ms of daemon and Postgres; ratio to that without the index`,
    },
  ]
}

function rowOf(name, events, value, limit) {
  return row(`${name}, ${countOf(events)}`, value, limit)
}

function row(name, value, limit) {
  return { name, value, unit: 'ms', ratio: value / limit, target: '<= 1', note: `ratio to ${limit} ms` }
}

function countOf(events) {
  return `${events.toLocaleString('en')} events`
}
