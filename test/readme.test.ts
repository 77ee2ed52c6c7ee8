// Promise: the generated tables of the README say what the program does, and the hand-written parts name only
// commands, exit codes and make targets that exist.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../src/cli/commands/index.js'
import { EXIT } from '../src/cli/exit.js'
import { settingsTable } from '../src/config/settingsTable.js'
import { METRICS } from '../src/runtime/metricTable.js'

const at = (path: string) => new URL(`../${path}`, import.meta.url)
const readme = readFileSync(at('README.md'), 'utf8')

interface Generator {
  fillBlocks(text: string, blocks: Record<string, string>): string
  metricsTable(metrics: unknown): string
}

interface Reporter {
  benchTable(run: unknown): string
  drawChart(run: unknown): string
}

describe('README.md', () => {
  it('has current tables; "make readme" writes them', async () => {
    const { fillBlocks, metricsTable } = (await import(at('scripts/readme.mjs').href)) as Generator
    const { benchTable, drawChart } = (await import(at('scripts/benchReport.mjs').href)) as Reporter
    const run = JSON.parse(readFileSync(at('docs/bench/results.json'), 'utf8'))
    const bench = benchTable(run)
    expect(fillBlocks(readme, { settings: settingsTable(), metrics: metricsTable(METRICS), bench })).toBe(readme)
    expect(readFileSync(at('docs/bench/ratios.svg'), 'utf8')).toBe(drawChart(run))
    expect(() => fillBlocks('no markers', { settings: '' })).toThrow('lacks the markers')
  })

  it('lists every exit code', () => {
    for (const code of [...Object.values(EXIT), 130, 143])
      expect(readme).toMatch(new RegExp(`^\\| .*\\b${code}\\b.* \\|`, 'm'))
  })

  it('calls only commands and make targets that exist', () => {
    const known = new Set(COMMANDS.map((spec) => spec.path[0]))
    const code = [...readme.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map((match) => match[0]).join('\n')
    const called = [...code.matchAll(/(?:^|[\s`"$|])noetl-cp ([a-z][a-z-]*)/gm)].map((match) => match[1]!)
    expect(called.length).toBeGreaterThan(5)
    expect(called.filter((name) => !known.has(name) && name !== 'help')).toEqual([])
    const targets = new Set(
      [...readFileSync(at('Makefile'), 'utf8').matchAll(/^([a-z-]+):/gm)].map((match) => match[1]),
    )
    const made = [...code.matchAll(/(?:^|[\s`"$])make ([a-z][a-z-]*)/gm)].map((match) => match[1]!)
    expect(made.filter((name) => !targets.has(name))).toEqual([])
  })
})
