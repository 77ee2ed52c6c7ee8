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

type Times = Pick<Schedule, 'cron' | 'timezone'>

/** The first moment after another, in milliseconds; undefined: there is none. */
export function nextTick(times: Times, afterMs: number): number | undefined {
  return tickerOf(times)(afterMs)
}

function tickerOf({ cron, timezone }: Times): (afterMs: number) => number | undefined {
  const pattern = new Cron(cron, { timezone, paused: true })
  return (afterMs) => pattern.nextRun(new Date(afterMs))?.getTime()
}

const FIRST_WINDOW_MS = 60_000
const TRIES_MAX = 64

/**
 * Of the moments after one up to another the last `max`, in order. Looks back from the end, further each time, so that a long
 * absence costs no more than what is kept of it. Rests after every moment, because each is costly to find.
 */
export function* lastTicks(times: Times, afterMs: number, untilMs: number, max: number): Generator<void, number[]> {
  const next = tickerOf(times)
  // What is too short, and what is too long to be walked through: many moments may lie close together.
  let [short, long] = [0, untilMs - afterMs]
  let found: number[] = []
  for (let tries = 0, back = FIRST_WINDOW_MS; tries < TRIES_MAX && long > 0; tries++) {
    const ticks: number[] = []
    const from = untilMs - Math.min(back, long)
    for (let at = next(from); at !== undefined && at <= untilMs && ticks.length <= 2 * max; at = next(at)) {
      ticks.push(at)
      yield
    }
    yield
    if (ticks.length > 2 * max) long = untilMs - from - 1
    else {
      found = ticks
      if (ticks.length >= max || from <= afterMs) break
      short = untilMs - from
    }
    if (long - short <= 1) break
    back = long === untilMs - afterMs ? 2 * back : Math.ceil((short + long) / 2)
  }
  return found.slice(-max)
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
