// Replay end to end against its two halves, each measured alone in the same run; memory against the length of the
// log; and how the main loop of the daemon fares meanwhile.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from './lib/context.mjs'
import { createClient } from './lib/http.mjs'
import { foldAlone, readAlone } from './lib/replayAlone.mjs'
import { generateLog, loadVectorLog, readVectorLog } from './lib/replayLog.mjs'
import { openReplay, settingsOf } from './lib/replayPool.mjs'

const VECTOR = '9001'
const SHORT = '9100'
const LONG = '9200'
const MEMORY = fileURLToPath(new URL('./lib/replayMemory.mjs', import.meta.url))

export default {
  name: 'replay',
  run: async (ctx) => {
    const database = await ctx.database()
    const sql = database.open({ max: 1, fetch_types: false })
    await loadVectorLog(sql, readVectorLog(), VECTOR)
    await generateLog(sql, SHORT, 100_000)
    const rows = [
      ...(await compare(database.url, VECTOR, '100,000 events, state of 27,000 entities', 7)),
      ...(await compare(database.url, SHORT, '100,000 events, small state', 7)),
    ]
    if (!ctx.full) return rows
    await generateLog(sql, LONG, 1_000_000)
    rows.push(...(await compare(database.url, LONG, '1,000,000 events, small state', 3)))
    rows.push(...(await memory(database.url)), ...(await mainLoop(ctx, database.url)))
    return rows
  },
}

async function compare(url, executionId, what, rounds) {
  const settings = settingsOf(url)
  const replay = openReplay(url)
  const once = async () => {
    const started = performance.now()
    const output = await replay.run(executionId)
    return { ms: performance.now() - started, output }
  }
  await once()
  await readAlone(settings, executionId)
  await foldAlone(settings, executionId)
  const times = { replay: [], read: [], fold: [] }
  for (let round = 0; round < rounds; round++) {
    const read = await readAlone(settings, executionId)
    const { ms, output } = await once()
    const fold = await foldAlone(settings, executionId)
    if (fold.checksum !== output.checksum) throw new Error('replay and fold in memory do not agree')
    times.read.push(read.ms)
    times.replay.push(ms)
    times.fold.push(fold.ms)
  }
  await replay.close()
  const ratio = median(times.replay.map((ms, round) => ms / Math.max(times.read[round], times.fold[round])))
  return [
    { name: `read alone, ${what}`, value: median(times.read), unit: 'ms' },
    { name: `fold alone, ${what}`, value: median(times.fold), unit: 'ms' },
    {
      name: `replay, ${what}`,
      value: median(times.replay),
      unit: 'ms',
      ratio,
      target: '<= 1.25',
      note: 'ratio to the larger of the two',
    },
  ]
}

async function memory(url) {
  const measure = async (executionId) => {
    const { stdout } = await promisify(execFile)(process.execPath, [MEMORY, url, executionId])
    const { peak, document } = JSON.parse(stdout)
    return (peak - document) / 2 ** 20
  }
  const short = []
  const long = []
  for (let round = 0; round < 3; round++) {
    short.push(await measure(SHORT))
    long.push(await measure(LONG))
  }
  return [
    { name: 'resident memory, 100,000 events', value: median(short), unit: 'MB', note: 'of the whole process' },
    {
      name: 'resident memory, 1,000,000 events',
      value: median(long),
      unit: 'MB',
      ratio: median(long) / median(short),
      target: '<= 1.2',
    },
  ]
}

async function mainLoop(ctx, url) {
  const daemon = await ctx.daemon({
    NOETL_DATABASE_URL: url,
    NOETL_CP_REPLAY_SNAPSHOT_EVENTS: '0',
    NOETL_CP_RELAY: 'false',
  })
  const client = createClient(daemon.url, 2)
  const delay = async () => {
    const text = await client.get('/metrics')
    return Number(/^noetl_cp_event_loop_delay_p99_seconds (\S+)/m.exec(text)[1]) * 1000
  }
  const diff = () => client.get(`/api/replay/diff?execution_id=${LONG}&from=event:0&to=now`)
  await diff()
  await delay()
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const idle = await delay()
  await diff()
  const busy = await delay()
  client.close()
  await daemon.stop()
  return [
    { name: 'main loop delay p99, idle', value: idle, unit: 'ms' },
    {
      name: 'main loop delay p99 while 1,000,000 events fold',
      value: busy,
      unit: 'ms',
      ratio: busy - idle,
      target: '<= 20',
      note: 'the ratio column is the difference in ms',
    },
  ]
}
