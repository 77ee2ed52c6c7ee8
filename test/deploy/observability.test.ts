// Promise: dashboard and alerts ask only for metrics and labels that the daemon exports, in PromQL that parses; each
// alert has its section in the runbook, and the runbook names only commands that exist.
import { describe, expect, it } from 'vitest'
import { allCommands } from '../../src/cli/commands/index.js'
import { METRICS } from '../../src/daemon/metricTable.js'
import type { MetricRow } from '../../src/runtime/metrics.js'
import { type Asked, askedBy, readText, readYaml } from './deployFiles.js'

const COMMANDS = await allCommands()

const TABLE: Readonly<Record<string, MetricRow>> = METRICS
const OF_PROMETHEUS = ['job', 'instance']

function problemsOf({ errors, metrics, labels }: Asked): string[] {
  const found = [...errors]
  const allowed = new Set(OF_PROMETHEUS)
  if (metrics.length === 0) found.push('asks for no metric')
  for (const name of metrics.filter((metric) => metric !== 'up')) {
    const base = name.replace(/_(bucket|sum|count)$/, '')
    const row = TABLE[name] ?? TABLE[base]
    if (row === undefined) found.push(`there is no metric ${name}`)
    else if (TABLE[name] === undefined && row.kind !== 'histogram') found.push(`${base} is not a histogram`)
    else if (TABLE[name]?.kind === 'histogram') found.push(`${name} is a histogram; ask for its parts`)
    for (const label of Object.keys(row?.labels ?? {})) allowed.add(label)
    if (row?.kind === 'histogram') allowed.add('le')
  }
  for (const label of labels) if (!allowed.has(label)) found.push(`no metric here has the label ${label}`)
  return found
}

const dashboard = JSON.parse(readText('deploy/grafana/noetl-cp.json'))
const panels = dashboard.panels.filter(({ type }: { type: string }) => type !== 'row')
const alerts = readYaml('deploy/prometheus/alerts.yaml').groups.flatMap(({ rules }: { rules: unknown[] }) => rules)
const runbook = readText('docs/runbook.md')

describe('the dashboard', () => {
  it('asks for what there is', () => {
    expect(panels.length).toBeGreaterThan(15)
    const problems = panels.flatMap(({ title, targets }: { title: string; targets: { expr: string }[] }) =>
      targets.flatMap(({ expr }) => problemsOf(askedBy(expr)).map((problem) => `${title}: ${problem}`)),
    )
    expect(problems).toEqual([])
  })

  it('has panels that do not overlap, with ids of their own', () => {
    const taken = new Map<string, string>()
    for (const { title, gridPos } of dashboard.panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.get(`${x},${y}`), `${title} lies on it`).toBeUndefined()
          taken.set(`${x},${y}`, title)
        }
      }
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    }
    const ids = dashboard.panels.map(({ id }: { id: number }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('the alerts', () => {
  it('ask for what there is', () => {
    expect(alerts.length).toBeGreaterThan(10)
    const problems = alerts.flatMap(({ alert, expr }: { alert: string; expr: string }) =>
      problemsOf(askedBy(expr)).map((problem) => `${alert}: ${problem}`),
    )
    expect(problems).toEqual([])
  })

  it('have a severity, a summary and a section of the runbook, and the runbook no other', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity)
      expect(annotations.summary, alert).toMatch(/\S/)
      expect(annotations.runbook, alert).toBe(`docs/runbook.md#${alert.toLowerCase()}`)
    }
    const sections = [...runbook.matchAll(/^## (\S+)$/gm)].map((match) => match[1])
    expect(sections.sort()).toEqual(alerts.map(({ alert }: { alert: string }) => alert).sort())
  })

  it('a wrong name, a wrong label and broken PromQL are noticed', () => {
    expect(problemsOf(askedBy('rate(noetl_cp_outbox_ghost_total[5m]) > 0'))).toEqual([
      'there is no metric noetl_cp_outbox_ghost_total',
    ])
    expect(problemsOf(askedBy('sum by (colour) (noetl_cp_outbox_lanes)'))).toEqual([
      'no metric here has the label colour',
    ])
    expect(problemsOf(askedBy('noetl_cp_outbox_publish_seconds'))).toHaveLength(1)
    expect(problemsOf(askedBy('sum(rate(noetl_cp_outbox_dead_total[5m])'))).not.toEqual([])
  })
})

describe('the runbook', () => {
  it('names only commands and options that exist', () => {
    const calls = [...runbook.matchAll(/(?:^ {4}|`)noetl-cp ([^`\n#]+)/gm)].map((match) =>
      match[1]!.trim().split(/\s+/),
    )
    expect(calls.length).toBeGreaterThan(20)
    for (const words of calls) {
      const spec = [...COMMANDS]
        .sort((left, right) => right.path.length - left.path.length)
        .find(({ path }) => path.every((word, index) => words[index] === word))
      expect(spec, words.join(' ')).toBeDefined()
      const known = (spec!.options ?? []).map(({ flags }) => /--[a-z-]+/.exec(flags)![0])
      for (const word of words.filter((text) => text.startsWith('--'))) expect(known, words.join(' ')).toContain(word)
    }
  })
})
