// Writes the generated tables into README.md: `make readme`. A block lies between two markers,
// <!-- name:begin --> and <!-- name:end -->; everything outside them is written by people.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { benchTable, KEPT } from './benchReport.mjs'

const README = new URL('../README.md', import.meta.url)

/** The text with each named block replaced; a missing marker is an error, not a silent no. */
export function fillBlocks(text, blocks) {
  let result = text
  for (const [name, content] of Object.entries(blocks)) {
    const begin = `<!-- ${name}:begin -->`
    const end = `<!-- ${name}:end -->`
    const from = result.indexOf(begin)
    const to = result.indexOf(end)
    if (from < 0 || to < from) throw new Error(`README.md lacks the markers ${begin} … ${end}`)
    result = `${result.slice(0, from + begin.length)}\n${content}\n${result.slice(to)}`
  }
  return result
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { settingsTable } = await import('../dist/config/settingsTable.js')
  const { METRICS } = await import('../dist/runtime/metricTable.js')
  const before = readFileSync(README, 'utf8')
  const bench = benchTable(JSON.parse(readFileSync(KEPT, 'utf8')))
  const after = fillBlocks(before, { settings: settingsTable(), metrics: metricsTable(METRICS), bench })
  if (after !== before) writeFileSync(README, after)
  process.stdout.write(after === before ? 'README.md is current\n' : 'README.md was brought up to date\n')
}
