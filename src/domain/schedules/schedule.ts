// `metadata.schedule` of a playbook: when it starts by itself. Times are judged in the named time zone, clock changes included:
// what falls into the hour that is left out in spring starts right after it, what falls into the hour that comes twice starts once.
import { Cron } from 'croner'
import { CpError, messageOf } from '../../errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export const MISSED = ['skip', 'once', 'all'] as const
export const OVERLAP = ['allow', 'skip'] as const

export interface Schedule {
  /** Five fields, or six with seconds first. */
  cron: string
  timezone: string
  /** What happens to starts that nobody was there for: none of them, the last one, or each. */
  missed: (typeof MISSED)[number]
  /** Whether it starts while the run before is under way. */
  overlap: (typeof OVERLAP)[number]
}

/** Undefined: it has none. Throws `refused` with its place in the document. */
export function scheduleOf(document: JsonObject): Schedule | undefined {
  const metadata = document['metadata']
  const value = isJsonObject(metadata) ? metadata['schedule'] : undefined
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw wrong('', 'must be a map with cron and timezone')
  const cron = value['cron']
  if (typeof cron !== 'string' || cron.trim() === '') throw wrong('/cron', 'is missing, such as "0 7 * * 1-5"')
  const schedule: Schedule = {
    cron: cron.trim(),
    timezone: textOf(value['timezone'], '/timezone') ?? 'UTC',
    missed: choiceOf(value['missed'], MISSED, '/missed') ?? 'once',
    overlap: choiceOf(value['overlap'], OVERLAP, '/overlap') ?? 'allow',
  }
  try {
    nextTick(schedule, 0)
  } catch (error) {
    throw wrong('', `is no schedule: ${messageOf(error)}`)
  }
  return schedule
}

/** The first moment after another, in milliseconds; undefined: there is none. */
export function nextTick({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>, afterMs: number): number | undefined {
  return new Cron(cron, { timezone, paused: true }).nextRun(new Date(afterMs))?.getTime()
}

/** Of those after one moment up to another the last `max`, in order. */
export function ticksBetween(schedule: Schedule, afterMs: number, untilMs: number, max: number): number[] {
  const ticks: number[] = []
  for (let at = nextTick(schedule, afterMs); at !== undefined && at <= untilMs; at = nextTick(schedule, at)) {
    ticks.push(at)
    if (ticks.length > max) ticks.shift()
  }
  return ticks
}

/** Later than this, a start counts as missed. */
const ON_TIME_MS = 60_000

/** Which of the moments that have passed are made up for. */
export function ticksToStart(schedule: Schedule, ticks: readonly number[], nowMs: number): number[] {
  const last = ticks.at(-1)
  if (last === undefined) return []
  if (schedule.missed === 'all') return [...ticks]
  return schedule.missed === 'once' || nowMs - last <= ON_TIME_MS ? [last] : []
}

function textOf(value: JsonValue | undefined, place: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw wrong(place, 'must be text')
  return value
}

function choiceOf<T extends string>(value: JsonValue | undefined, choices: readonly T[], place: string): T | undefined {
  if (value === undefined || value === null) return undefined
  const found = choices.find((choice) => choice === value)
  if (found === undefined) throw wrong(place, `must be one of ${choices.join(', ')}`)
  return found
}

function wrong(place: string, message: string): CpError {
  const path = `/metadata/schedule${place}`
  return new CpError('refused', `the catalog document: ${path} ${message}`, {
    details: { violations: [{ path, message }] },
  })
}
