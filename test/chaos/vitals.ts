// Memory, open handles and readiness of the daemons over time, read from outside.
import { readdirSync, readFileSync } from 'node:fs'
import type { LabDaemon } from './daemons.js'
import type { Journal, Violation } from './journal.js'

export interface Sample {
  at: number
  daemon: string
  pid: number
  rssMb: number
  handles: number
}

export interface VitalsSummary {
  /** Of the process that lived longest, once it was warm; undefined when none lived long enough. */
  memorySlopeMbPerMinute: number | undefined
  memoryMaxMb: number
  handlesFirst: number
  handlesMax: number
  handlesLast: number
  longestLifeSeconds: number
}

const EVERY_MS = 1_000
/** The first part of a life is spent filling pools and caches. */
const WARM_SHARE = 0.4
const SAMPLES_MIN = 20
const SLOPE_MAX = 1
const HANDLES_MORE_MAX = 20

export function watchVitals(daemons: readonly LabDaemon[], journal: Journal) {
  const samples: Sample[] = []
  const timer = setInterval(() => {
    for (const daemon of daemons) {
      const pid = daemon.running()?.pid
      if (pid === undefined) continue
      const sample = look(pid)
      if (sample !== undefined) samples.push({ at: journal.seconds(), daemon: daemon.name, pid, ...sample })
    }
  }, EVERY_MS)
  return {
    stop: (): VitalsSummary => {
      clearInterval(timer)
      return summarise(samples)
    },
  }
}

function look(pid: number): { rssMb: number; handles: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0)
    return { rssMb: kilobytes / 1024, handles: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    // It ended while we looked.
    return undefined
  }
}

export function summarise(samples: readonly Sample[]): VitalsSummary {
  const lives = new Map<number, Sample[]>()
  for (const sample of samples) lives.set(sample.pid, [...(lives.get(sample.pid) ?? []), sample])
  const longest = [...lives.values()].sort((left, right) => right.length - left.length)[0] ?? []
  const warm = longest.slice(Math.floor(longest.length * WARM_SHARE))
  return {
    memorySlopeMbPerMinute: warm.length < SAMPLES_MIN ? undefined : slope(warm) * 60,
    memoryMaxMb: Math.max(0, ...samples.map(({ rssMb }) => rssMb)),
    handlesFirst: warm[0]?.handles ?? 0,
    handlesMax: Math.max(0, ...samples.map(({ handles }) => handles)),
    handlesLast: warm.at(-1)?.handles ?? 0,
    longestLifeSeconds: longest.length === 0 ? 0 : longest.at(-1)!.at - longest[0]!.at,
  }
}

/** For runs in which processes live long enough to tell growth from warming up. */
export function judgeVitals(summary: VitalsSummary): Violation[] {
  const { memorySlopeMbPerMinute: slope, handlesFirst, handlesLast, longestLifeSeconds } = summary
  const found: Violation[] = []
  const life = `in ${Math.round(longestLifeSeconds)} s`
  if (slope === undefined || slope > SLOPE_MAX)
    found.push({ invariant: 'I8', kind: 'memory grows', message: `by ${slope?.toFixed(2) ?? '?'} MB a minute ${life}` })
  if (handlesLast > handlesFirst + HANDLES_MORE_MAX)
    found.push({ invariant: 'I8', kind: 'handles grow', message: `from ${handlesFirst} to ${handlesLast} ${life}` })
  return found
}

/** Least squares, in MB per second. */
function slope(samples: readonly Sample[]): number {
  const meanAt = samples.reduce((sum, { at }) => sum + at, 0) / samples.length
  const meanRss = samples.reduce((sum, { rssMb }) => sum + rssMb, 0) / samples.length
  let above = 0
  let below = 0
  for (const { at, rssMb } of samples) {
    above += (at - meanAt) * (rssMb - meanRss)
    below += (at - meanAt) ** 2
  }
  return below === 0 ? 0 : above / below
}
