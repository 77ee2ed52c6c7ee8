// The verdict as people read it, and as programs do.
import Table from 'cli-table3'
import type { Agreement } from './agreement.js'
import type { FaultRecord, Invariant, Violation } from './journal.js'
import { INVARIANTS } from './journal.js'
import type { Tally } from './judge.js'
import type { Ledger } from './ledger.js'
import type { VitalsSummary } from './vitals.js'

export interface Report {
  seed: string
  cluster: boolean
  command: string
  seconds: number
  faults: FaultRecord[]
  skipped: { name: string; reason: string }[]
  tally: Tally
  counts: Ledger['counts']
  agreement: Omit<Agreement, 'violations'>
  /** Seconds from the heal of a round of faults to everything working again. */
  recoveries: number[]
  /** Seconds that each daemon took to stop when asked. */
  stops: number[]
  vitals: VitalsSummary
  violations: Violation[]
  trails: string[]
  passed: boolean
}

const style = { head: [], border: [], compact: true }

export function renderVerdict(report: Report): string {
  const blocks = [
    `Chaos run of ${Math.round(report.seconds)} s, seed ${report.seed}${report.cluster ? ', JetStream cluster of three' : ''}`,
    faultTable(report),
    figureTable(report),
    invariantTable(report),
    ...report.skipped.map(({ name, reason }) => `skipped: ${name} (${reason})`),
  ]
  if (report.violations.length > 0) {
    blocks.push(`${report.violations.length} violation(s). Repeat with: ${report.command}`)
    blocks.push(...report.trails)
  }
  blocks.push(report.passed ? 'PASSED: every invariant held' : 'FAILED')
  return `${blocks.join('\n\n')}\n`
}

function faultTable({ faults }: Report): string {
  const counts = new Map<string, { times: number; seconds: number }>()
  for (const { name, from, to } of faults) {
    const entry = counts.get(name) ?? { times: 0, seconds: 0 }
    counts.set(name, { times: entry.times + 1, seconds: entry.seconds + ((to ?? from) - from) })
  }
  const table = new Table({ head: ['fault', 'times', 'seconds'], style, colAligns: ['left', 'right', 'right'] })
  for (const [name, { times, seconds }] of [...counts].sort()) table.push([name, times, seconds.toFixed(1)])
  table.push(['all', faults.length, ''])
  return table.toString()
}

function figureTable({ tally, counts, agreement, recoveries, stops, vitals, violations }: Report): string {
  const of = (...kinds: string[]): number => violations.filter(({ kind }) => kinds.includes(kind)).length
  const table = new Table({ head: ['figure', 'value'], style, colAligns: ['left', 'right'] })
  const slope = vitals.liveSlopeMbPerMinute
  const [second, last] = vitals.residentThirdsMb
  table.push(
    ['events written', tally.events],
    ['  acknowledged to a client', tally.acknowledged],
    ['  written straight into the table', counts.foreignRows],
    ['executions (ended)', `${tally.executions} (${tally.ended})`],
    ['outbox rows', tally.outboxRows],
    ['delivered to the stream', tally.delivered],
    ['stored by the other installation', tally.projected],
    ['duplicates stored', of('duplicate')],
    ['out of order', of('out of order')],
    ['lost', of('lost')],
    ['stuck', of('stuck', 'not recovered', 'hung')],
    ['source messages (started)', `${tally.sourced} (${tally.started})`],
    ['pauses of the subscription', tally.pauses],
    ['requests (repeated)', `${counts.requests} (${counts.retries})`],
    ['wrong requests refused', counts.refusals],
    ['reads compared with writes', counts.replays],
    ['audits of the outbox', counts.audits],
    [
      'executions compared (snapshots, seeds, replays)',
      `${agreement.executions} (${agreement.snapshots}, ${agreement.seeds}, ${agreement.replays})`,
    ],
    ['recovery p50 / p99', `${show(percentile(recoveries, 0.5))} / ${show(percentile(recoveries, 0.99))} s`],
    ['stop of a daemon, longest', `${show(percentile(stops, 1))} s`],
    [
      'memory alive after collection, slope',
      slope === undefined
        ? 'not collected'
        : `${slope.toFixed(2)} MB/min over ${Math.round(vitals.longestLifeSeconds)} s`,
    ],
    ['  largest', slope === undefined ? '–' : `${Math.round(vitals.liveMaxMb)} MB`],
    ['memory resident, largest', `${Math.round(vitals.residentMaxMb)} MB`],
    ['  second / last third of a life', `${Math.round(second)} / ${Math.round(last)} MB`],
    ['open handles first / last / most', `${vitals.handlesFirst} / ${vitals.handlesLast} / ${vitals.handlesMax}`],
  )
  return table.toString()
}

function invariantTable({ violations }: Report): string {
  const table = new Table({ head: ['', 'invariant', 'result'], style })
  for (const [name, text] of Object.entries(INVARIANTS) as [Invariant, string][]) {
    const broken = violations.filter(({ invariant }) => invariant === name).length
    table.push([name, text, broken === 0 ? 'held' : `broken ${broken} time(s)`])
  }
  return table.toString()
}

const show = (seconds: number | undefined): string => (seconds === undefined ? '–' : seconds.toFixed(1))

export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]
}
