// Live states: does an advance, or a cold start from a snapshot, cost more with a long history; how many completions
// of many executions at once are folded; what a snapshot of a large state costs the main loop and the thread.
import { runScript } from './lib/child.mjs'
import { median } from './lib/context.mjs'
import { addEvent, openStateService, plantHistory } from './lib/stateService.mjs'

const SHORT = 1_000
const ROUNDS = 60
const COLD_ROUNDS = 25

export default {
  name: 'state',
  run: async (ctx) => [...(await history(ctx)), ...(await completions(ctx)), ...(await snapshot(ctx))],
}

async function history(ctx) {
  const long = ctx.full ? 1_000_000 : 100_000
  const database = await ctx.database()
  const sql = database.open({ max: 2 })
  const logs = [
    { id: '350000000000000000', version: SHORT, warm: [], cold: [] },
    { id: '350100000000000000', version: long, warm: [], cold: [] },
  ]
  for (const log of logs) await plantHistory(sql, log.id, log.version)
  await sql.unsafe('vacuum analyze noetl.event')
  const state = await openStateService(database.url)
  try {
    const before = process.memoryUsage().rss
    const started = performance.now()
    await state.service.ask(logs[1].id, {})
    const fromLog = performance.now() - started
    const grown = process.memoryUsage().rss - before
    await state.service.ask(logs[0].id, {})
    for (let round = 0; round < ROUNDS; round++) {
      for (const log of logs) {
        log.version += 1
        await addEvent(sql, log.id, log.version)
        log.warm.push(await timed(() => state.service.ask(log.id, {})))
      }
    }
    for (const log of logs) await state.threads.ask(0, 'rebuild', { shard: 0, executionId: log.id })
    for (const log of logs) for (let n = 0; n < 10; n++) await addEvent(sql, log.id, ++log.version)
    for (let round = 0; round < COLD_ROUNDS; round++) {
      for (const log of logs) {
        await state.threads.ask(0, 'drop', { executionIds: [log.id] })
        log.cold.push(await timed(() => state.service.ask(log.id, {})))
      }
    }
    const [short, far] = logs
    const row = (name, key) => ({
      name,
      value: median(far[key].slice(5)),
      unit: 'ms',
      ratio: median(far[key].slice(5)) / median(short[key].slice(5)),
      target: '<= 1.2',
      note: `${median(short[key].slice(5)).toFixed(2)} ms at ${SHORT.toLocaleString('en')} events`,
    })
    const events = long.toLocaleString('en')
    return [
      row(`advance by one event after ${events}`, 'warm'),
      row(`cold start from a snapshot after ${events}`, 'cold'),
      {
        name: `fold of the whole log, ${events} events`,
        value: long / (fromLog / 1000),
        unit: 'events/s',
        note: `resident memory grew by ${(grown / 1e6).toFixed(0)} MB, states included`,
      },
    ]
  } finally {
    await state.close()
  }
}

async function completions(ctx) {
  const perExecution = ctx.full ? 1_000 : 200
  const database = await ctx.database()
  const result = await runScript('stateCompletions.mjs', { url: database.url, executions: 200, perExecution }).finished
  return [
    {
      name: `200 executions, ${perExecution.toLocaleString('en')} completions each`,
      value: result.eventsPerSecond,
      unit: 'events/s',
      note: `appended and folded; ${result.advances} advances, ${result.snapshots} snapshots, RSS ${result.rssMb} MB, main loop p99 ${result.loopP99Ms} ms`,
    },
  ]
}

async function snapshot(ctx) {
  const rows = []
  for (const repetitive of [false, true]) {
    const database = await ctx.database()
    const given = { url: database.url, bytes: 20_000_000, repetitive }
    const result = await runScript('stateSnapshot.mjs', given).finished
    const stored = `${(result.packed / 1e6).toFixed(1)} MB ${result.isCompressed ? 'compressed' : 'plain'}`
    const what = `snapshot of a state of ${(result.bytes / 1e6).toFixed(0)} MB, stored ${result.isCompressed ? 'compressed' : 'plain'}`
    rows.push(
      {
        name: `${what}: main loop busy`,
        value: result.mainMs,
        unit: 'ms',
        ratio: result.mainMs / 5,
        target: '<= 1',
        note: `while a thread folds, seals and stores it, ${result.wallMs.toFixed(0)} ms in all; bound 5 ms`,
      },
      {
        name: `${what}: thread`,
        value: result.packMs,
        unit: 'ms',
        ratio: result.packMs / result.bareMs,
        target: '<= 2',
        note: `seal, hash, compress if it pays: ${stored}; JSON.stringify and SHA-256 ${result.bareMs.toFixed(0)} ms`,
      },
    )
  }
  return rows
}

async function timed(run) {
  const started = performance.now()
  await run()
  return performance.now() - started
}
