// Promise: the generated tables say what the program does, the README is short, every page is in the index, and the
// hand-written parts name only commands, exit codes, links and make targets that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { allCommands } from '../src/cli/commands/index.js'
import { EXIT } from '../src/cli/exit.js'
import { settingsTable } from '../src/config/settingsTable.js'
import { METRICS } from '../src/daemon/metricTable.js'

const COMMANDS = await allCommands()

const at = (path: string) => new URL(`../${path}`, import.meta.url)
const readme = readFileSync(at('README.md'), 'utf8')
const commandsPage = readFileSync(at('docs/commands.md'), 'utf8')

interface Generator {
  PAGES: Record<'settings' | 'metrics' | 'bench' | 'commands', string>
  fillBlock(text: string, name: string, content: string): string
  metricsTable(metrics: unknown): string
  commandsTable(commands: unknown): string
}

interface Reporter {
  benchTable(run: unknown): string
  drawChart(run: unknown): string
}

describe('the documentation', () => {
  it('leaves tables to pages of their own, which are current; "make readme" writes them', async () => {
    const { PAGES, fillBlock, metricsTable, commandsTable } = (await import(at('scripts/readme.mjs').href)) as Generator
    const { benchTable, drawChart } = (await import(at('scripts/benchReport.mjs').href)) as Reporter
    const run = JSON.parse(readFileSync(at('docs/bench/results.json'), 'utf8'))
    const tables = {
      settings: settingsTable(),
      metrics: metricsTable(METRICS),
      bench: benchTable(run),
      commands: commandsTable(COMMANDS),
    } as const
    for (const [name, content] of Object.entries(tables)) {
      const page = readFileSync(at(PAGES[name as keyof typeof tables]), 'utf8')
      expect(fillBlock(page, name, content)).toBe(page)
    }
    expect(readFileSync(at('docs/bench/ratios.svg'), 'utf8')).toBe(drawChart(run))
    expect(() => fillBlock('no markers', 'settings', '')).toThrow('lacks the markers')
  })

  it('is short, and links only to what exists', () => {
    expect(readme.length).toBeLessThan(13_000)
    for (const page of ['README.md', 'docs/index.md', 'docs/operations.md', 'CONTRIBUTING.md']) {
      const text = readFileSync(at(page), 'utf8')
      const links = [...text.matchAll(/\]\(([^)#]+?)(?:#[^)]*)?\)/g)].map((match) => match[1]!)
      const missing = links.filter((link) => !link.includes('://') && !existsSync(new URL(link, at(page))))
      expect(missing, page).toEqual([])
    }
  })

  it('has an index of every page', () => {
    const index = readFileSync(at('docs/index.md'), 'utf8')
    const pages = readdirSync(at('docs')).filter((name) => name.endsWith('.md') && name !== 'index.md')
    expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([])
  })

  it('lists every exit code', () => {
    for (const code of [...Object.values(EXIT), 130, 143])
      expect(commandsPage).toMatch(new RegExp(`^\\| .*\\b${code}\\b.* \\|`, 'm'))
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
