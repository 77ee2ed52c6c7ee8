// The events of one execution as they come, until it ends. Appends of this daemon wake whoever follows at once; those of
// others are found by looking again after a moment. Bounded: so many may follow at a time, and all end with the daemon.
import type { Databases } from '../../db/databases.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { PassingMap } from '../../runtime/passingMap.js'
import type { Service } from '../../runtime/service.js'
import { findExecution } from '../executions/executionQueries.js'
import { readEvents } from './eventReading.js'
import { wholeEventPath } from './wholeEvent.js'

export type Followed =
  | { kind: 'event'; version: string | undefined; event: JsonObject }
  /** Nothing came for a while: a sign of life. */
  | { kind: 'quiet' }
  /** The execution has ended, and everything was sent. */
  | { kind: 'end'; status: string }

export interface EventFollowing extends Service {
  /** These executions have news. */
  wake(executionIds: Iterable<string>): void
  /** From after a version of the execution. Throws `not_found`, or `overloaded` when too many follow. */
  follow(id: ExecutionId, options: FollowOptions): Promise<AsyncIterable<Followed>>
}

export interface FollowOptions {
  afterVersion: string
  /** For what comes, until the execution ends; otherwise only what is there is sent. */
  waits: boolean
  signal: AbortSignal
}

const FOLLOWERS_MAX = 500
const LOOK_AGAIN_MS = 500
const QUIET_MS = 15_000
const COLUMN_CHARACTERS_MAX = 65_536

export function createEventFollowing(deps: { databases: Databases; clock: Clock }): EventFollowing {
  const { clock } = deps
  const ending = new AbortController()
  const waiting = new PassingMap<string, Set<() => void>>()
  let followers = 0

  /** Until there is news, or it is time to look again. */
  async function news(id: string, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    const wake = (): void => woken.abort()
    const others = waiting.get(id) ?? new Set()
    waiting.set(id, others.add(wake))
    await clock.sleep(LOOK_AGAIN_MS, signal, ending.signal, woken.signal)
    others.delete(wake)
    if (others.size === 0 && waiting.get(id) === others) waiting.delete(id)
  }

  async function* following(id: ExecutionId, options: FollowOptions): AsyncIterable<Followed> {
    const { afterVersion, waits, signal } = options
    // Not before somebody reads: an answer that is never begun would count for ever.
    followers += 1
    try {
      const reader = await readEvents(deps, id, afterVersion)
      let saidAt = clock.monotonic()
      while (!signal.aborted && !ending.signal.aborted) {
        // Before the events: what is written after this look is found by the next.
        const { status } = await findExecution(deps, id)
        for await (const lines of reader.pages(signal)) {
          for (const line of lines) yield eventOf(id, line)
          saidAt = clock.monotonic()
        }
        if (isTerminalStatus(status)) {
          yield { kind: 'end', status }
          return
        }
        if (!waits) return
        await news(id, signal)
        if (clock.monotonic() - saidAt < QUIET_MS) continue
        saidAt = clock.monotonic()
        yield { kind: 'quiet' }
      }
    } finally {
      followers -= 1
    }
  }

  return {
    name: 'event following',
    start: async () => undefined,
    stop: async () => ending.abort(),
    wake: (executionIds) => {
      if (waiting.size === 0) return
      for (const id of executionIds) for (const wake of waiting.get(id) ?? []) wake()
    },
    follow: async (id, options) => {
      if (followers >= FOLLOWERS_MAX) {
        throw new CpError('overloaded', `${FOLLOWERS_MAX} followers of events are connected; try again later`)
      }
      await findExecution(deps, id)
      return following(id, options)
    },
  }
}

function eventOf(id: string, line: string): Followed {
  const { sealed, ...event } = parseJson(line) as JsonObject
  const version = event['stream_version']
  return { kind: 'event', version: version === undefined ? undefined : String(version), event: shortened(id, event) }
}

/** Whoever follows wants to see what happens; large values are fetched by those who need them. */
function shortened(id: string, event: JsonObject): JsonObject {
  const short = { ...event }
  for (const column of ['context', 'result', 'payload_ref']) {
    const value: JsonValue | undefined = event[column]
    if (value === undefined || writeJson(value).length <= COLUMN_CHARACTERS_MAX) continue
    short[column] = { _left_out: wholeEventPath(id, String(event['event_id'])), _reason: 'too large to be followed' }
  }
  return short
}
