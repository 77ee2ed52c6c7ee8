// Memory, open handles and readiness of the daemons over time, read from outside. What is alive in a process after a
// collection is what a leak makes grow; the memory that it holds besides depends on when V8 last looked, so that is
// bounded but not drawn as a line.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LabDaemon } from './daemons.js'
import type { Journal, Violation } from './journal.js'

export interface Sample {
  at: number
  daemon: string
  pid: number
  rssMb: number
  /** After a collection, all threads together; undefined where nobody collects. */
  liveMb: number | undefined
  handles: number
}

export interface VitalsSummary {
  /** The steepest of the processes that lived long, once they were warm; undefined when none did or nobody collected. */
  liveSlopeMbPerMinute: number | undefined
  liveMaxMb: number
  residentMaxMb: number
  /** Of the process whose resident memory grew most: its largest value in the second and in the last third of its life. */
  residentThirdsMb: readonly [second: number, last: number]
  handlesFirst: number
  handlesMax: number
  handlesLast: number
  longestLifeSeconds: number
}

const EVERY_MS = 1_000
/** The first part of a life is spent filling pools and caches. */
const WARM_SHARE = 0.4
const SAMPLES_MIN = 20
const LIVE_SLOPE_MAX = 1
const RESIDENT_GROWTH_MAX = 1.1
const HANDLES_MORE_MAX = 20
/** A thread that has not collected for so long is gone. */
const REPORT_AGE_MAX_MS = 60_000

export function watchVitals(daemons: readonly LabDaemon[], journal: Journal, reports: string) {
  const samples: Sample[] = []
  const timer = setInterval(() => {
    for (const daemon of daemons) {
      const pid = daemon.running()?.pid
      if (pid === undefined) continue
      const sample = look(pid, reports)
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

function look(pid: number, reports: string): Pick<Sample, 'rssMb' | 'liveMb' | 'handles'> | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0)
    const handles = readdirSync(`/proc/${pid}/fd`).length
    return { rssMb: kilobytes / 1024, liveMb: readLive(pid, reports), handles }
  } catch {
    // It ended while we looked.
    return undefined
  }
}

/** What the threads of a process wrote down after their last collection. */
function readLive(pid: number, reports: string): number | undefined {
  const oldest = Date.now() - REPORT_AGE_MAX_MS
  const fresh = readdirSync(reports)
    .filter((name) => name.startsWith(`${pid}-`))
    .map((name) => join(reports, name))
    .filter((path) => statSync(path).mtimeMs > oldest)
  if (fresh.length === 0) return undefined
  return fresh.reduce((sum, path) => sum + Number(readFileSync(path, 'utf8')), 0) / 2 ** 20
}

export function summarise(samples: readonly Sample[]): VitalsSummary {
  const lives = new Map<number, Sample[]>()
  for (const sample of samples) {
    const life = lives.get(sample.pid)
    if (life === undefined) lives.set(sample.pid, [sample])
    else life.push(sample)
  }
  const sorted = [...lives.values()].sort((left, right) => right.length - left.length)
  const longest = sorted[0] ?? []
  const long = sorted.filter((life) => life.length >= longest.length / 2)
  const warm = warmPart(longest)
  const slopes = long.map(liveSlope).filter((slope) => slope !== undefined)
  const thirds = long.map(residentThirds).sort((left, right) => right[1] / right[0] - left[1] / left[0])
  return {
    liveSlopeMbPerMinute: slopes.length === 0 ? undefined : Math.max(...slopes),
    liveMaxMb: Math.max(0, ...samples.map(({ liveMb }) => liveMb ?? 0)),
    residentMaxMb: Math.max(0, ...samples.map(({ rssMb }) => rssMb)),
    residentThirdsMb: thirds[0] ?? [0, 0],
    handlesFirst: warm[0]?.handles ?? 0,
    handlesMax: Math.max(0, ...samples.map(({ handles }) => handles)),
    handlesLast: warm.at(-1)?.handles ?? 0,
    longestLifeSeconds: longest.length === 0 ? 0 : longest.at(-1)!.at - longest[0]!.at,
  }
}

function warmPart(life: readonly Sample[]): readonly Sample[] {
  return life.slice(Math.floor(life.length * WARM_SHARE))
}

function liveSlope(life: readonly Sample[]): number | undefined {
  const points = warmPart(life).flatMap(({ at, liveMb }) => (liveMb === undefined ? [] : [{ at, value: liveMb }]))
  return points.length < SAMPLES_MIN ? undefined : slope(points) * 60
}

function residentThirds(life: readonly Sample[]): [second: number, last: number] {
  const third = Math.floor(life.length / 3)
  const peak = (part: readonly Sample[]): number => Math.max(1, ...part.map(({ rssMb }) => rssMb))
  return [peak(life.slice(third, 2 * third)), peak(life.slice(2 * third))]
}

/** For runs in which processes live long enough to tell growth from warming up. */
export function judgeVitals(summary: VitalsSummary): Violation[] {
  const { liveSlopeMbPerMinute: slope, residentThirdsMb, handlesFirst, handlesLast, longestLifeSeconds } = summary
  const [second, last] = residentThirdsMb
  const found: Violation[] = []
  const life = `in ${Math.round(longestLifeSeconds)} s`
  if (slope === undefined || slope > LIVE_SLOPE_MAX) {
    const message = `what is alive, by ${slope?.toFixed(2) ?? '?'} MB a minute ${life}`
    found.push({ invariant: 'I8', kind: 'memory grows', message })
  }
  if (last > second * RESIDENT_GROWTH_MAX) {
    const message = `what is resident, from ${Math.round(second)} to ${Math.round(last)} MB in the last third ${life}`
    found.push({ invariant: 'I8', kind: 'memory grows', message })
  }
  if (handlesLast > handlesFirst + HANDLES_MORE_MAX)
    found.push({ invariant: 'I8', kind: 'handles grow', message: `from ${handlesFirst} to ${handlesLast} ${life}` })
  return found
}

/** Least squares, per second. */
function slope(points: readonly { at: number; value: number }[]): number {
  const meanAt = points.reduce((sum, { at }) => sum + at, 0) / points.length
  const mean = points.reduce((sum, { value }) => sum + value, 0) / points.length
  let above = 0
  let below = 0
  for (const { at, value } of points) {
    above += (at - meanAt) * (value - mean)
    below += (at - meanAt) ** 2
  }
  return below === 0 ? 0 : above / below
}
