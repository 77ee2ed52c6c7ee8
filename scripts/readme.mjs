// Writes the generated tables of the documentation: `make readme`. A table lies between two markers,
// <!-- name:begin --> and <!-- name:end -->; everything outside them is written by people.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { benchTable, KEPT } from './benchReport.mjs'

/** Block → the page it stands on. */
export const PAGES = {
  settings: 'docs/settings.md',
  metrics: 'docs/metrics.md',
  bench: 'docs/benchmarks.md',
  commands: 'docs/commands.md',
}

/** The text with one named block replaced; a missing marker is an error, not a silent no. */
export function fillBlock(text, name, content) {
  const begin = `<!-- ${name}:begin -->`
  const end = `<!-- ${name}:end -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the page lacks the markers ${begin} … ${end}`)
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`
}

export function metricsTable(metrics) {
  const rows = Object.entries(metrics).map(([name, { kind, help, labels }]) => {
    const names = Object.keys(labels ?? {})
      .map((label) => `\`${label}\``)
      .join(', ')
    return `| \`${name}\` | ${kind} | ${names} | ${help.replaceAll('|', '\\|')} |`
  })
  return ['| Metric | Kind | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

export function commandsTable(commands) {
  const rows = commands.map(({ path, args = [], summary }) => {
    const words = args.map(({ name, optional, variadic }) => {
      const word = variadic === true ? `${name}...` : name
      return optional === true ? `[${word}]` : `<${word}>`
    })
    return `| \`${[...path, ...words].join(' ')}\` | ${summary.replaceAll('|', '\\|')} |`
  })
  return ['| Command | What it does |', '| --- | --- |', ...rows].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { settingsTable } = await import('../dist/config/settingsTable.js')
  const { METRICS } = await import('../dist/daemon/metricTable.js')
  const { allCommands } = await import('../dist/cli/commands/index.js')
  const bench = benchTable(JSON.parse(readFileSync(KEPT, 'utf8')))
  const commands = commandsTable(await allCommands())
  const tables = { settings: settingsTable(), metrics: metricsTable(METRICS), bench, commands }
  for (const [name, content] of Object.entries(tables)) {
    const page = new URL(`../${PAGES[name]}`, import.meta.url)
    const before = readFileSync(page, 'utf8')
    const after = fillBlock(before, name, content)
    if (after !== before) writeFileSync(page, after)
    process.stdout.write(`${PAGES[name]} ${after === before ? 'is current' : 'was brought up to date'}\n`)
  }
}
