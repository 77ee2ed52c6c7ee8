// Runs the benchmarks on real servers and prints one table: values, ratios, targets. Writes the same as JSON to
// bench/results, with the seconds each took. `--full` adds the long ones; names pick (`node bench/run.mjs relay state`,
// or `--only relay,state`).
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { formatValue, isMet } from '../scripts/benchReport.mjs'
import alive from './alive.mjs'
import attacks from './attacks.mjs'
import claims from './claims.mjs'
import commands from './commands.mjs'
import console_ from './console.mjs'
import engine from './engine.mjs'
import fold from './fold.mjs'
import history from './history.mjs'
import ingest from './ingest.mjs'
import latency from './latency.mjs'
import { createContext } from './lib/context.mjs'
import listing from './listing.mjs'
import peers from './peers.mjs'
import plan from './plan.mjs'
import relay from './relay.mjs'
import replay from './replay.mjs'
import scale from './scale.mjs'
import single from './single.mjs'
import state from './state.mjs'
import subscription from './subscription.mjs'
import templates from './templates.mjs'
import tools from './tools.mjs'
import worker from './worker.mjs'

/** Each: { name, run(ctx) → rows of { name, value, unit, ratio?, target?, note? } }. A target is a bound of the ratio. */
const BENCHMARKS = [
  ingest,
  single,
  listing,
  relay,
  latency,
  history,
  claims,
  commands,
  worker,
  peers,
  templates,
  tools,
  plan,
  engine,
  fold,
  replay,
  console_,
  state,
  subscription,
  attacks,
  alive,
  scale,
]

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { full: { type: 'boolean', default: false }, only: { type: 'string' } },
})
const named = [...positionals, ...(options.only?.split(',') ?? [])]
const wanted = named.length === 0 ? undefined : named
const unknown = wanted?.find((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name))
if (unknown !== undefined) {
  console.error(`there is no benchmark ${unknown}; known: ${BENCHMARKS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const chosen = BENCHMARKS.filter(({ name, fullOnly }) => wanted?.includes(name) ?? (fullOnly !== true || options.full))
const context = createContext({ full: options.full })
const results = []
const durations = {}
const begun = performance.now()
const secondsSince = (from) => Number(((performance.now() - from) / 1000).toFixed(1))
let failed = false
try {
  for (const [index, benchmark] of chosen.entries()) {
    const started = performance.now()
    process.stderr.write(`[${index + 1}/${chosen.length}] ${benchmark.name} …`)
    try {
      const rows = await benchmark.run(context)
      results.push(...rows.map((row) => ({ benchmark: benchmark.name, ...row })))
    } catch (error) {
      failed = true
      console.error(error)
      results.push({ benchmark: benchmark.name, name: 'failed', note: String(error.message ?? error) })
    }
    durations[benchmark.name] = secondsSince(started)
    process.stderr.write(` ${durations[benchmark.name]} s, ${secondsSince(begun)} s in all\n`)
  }
} finally {
  await context.close()
}

const table = new Table({
  head: ['benchmark', 'what', 'value', 'ratio', 'target', 'met', 'note'],
  style: { head: [], border: [], compact: true },
})
for (const row of results) {
  const met = row.ratio === undefined || row.target === undefined ? '' : isMet(row) ? 'yes' : 'NO'
  table.push([
    row.benchmark,
    row.name,
    row.value === undefined ? '' : `${formatValue(row.value)} ${row.unit ?? ''}`,
    row.ratio === undefined ? '' : row.ratio.toFixed(2),
    row.target ?? '',
    met,
    row.note ?? '',
  ])
}
console.log(table.toString())

const document = {
  at: new Date().toISOString(),
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  load: loadavg(),
  full: options.full,
  seconds: secondsSince(begun),
  durations,
  results,
}
const folder = new URL('./results/', import.meta.url)
mkdirSync(folder, { recursive: true })
const text = `${JSON.stringify(document, null, 2)}\n`
writeFileSync(new URL(`${document.at.replace(/[:.]/g, '-')}.json`, folder), text)
writeFileSync(new URL('latest.json', folder), text)
process.exitCode = failed ? 1 : 0
