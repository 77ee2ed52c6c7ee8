// Commands that this process has issued a moment ago, as the log holds them. Most claims come right behind the notice of a
// command: neither its place nor its content need be looked for then. Only a shorter way: what is not here, or was claimed
// before, is looked up as ever, and who gets a command is decided under the lock of its execution in either case.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { isRespelled } from '../../domain/json/respelled.js'
import { isJsonObject } from '../../domain/json/value.js'
import type { Clock } from '../../runtime/clock.js'
import { LruMap } from '../../runtime/lruMap.js'
import type { LogNews } from '../events/logNews.js'

/** By what a command is known. */
export interface CommandNames {
  executionId: string
  /** Of its command.issued. */
  eventId: string
  /** The text of workers. */
  commandId: string
  step: string
  kind: string
}

export interface FreshCommand {
  names: CommandNames
  pool: string
  issued: EventRecord
}

export interface FreshCommands {
  /** These events are committed. */
  note(news: LogNews): void
  /** By the event of its command.issued. */
  find(eventId: string): FreshCommand | undefined
  /** Somebody has it. */
  forget(eventId: string): void
}

const ENTRIES_MAX = 5_000
const CHARACTERS_MAX = 8_000_000
// Long before anything of an execution can be removed.
const FRESH_MS = 30_000

export function createFreshCommands(clock: Clock): FreshCommands {
  const known = new LruMap<string, FreshCommand & { since: number }>({
    entriesMax: ENTRIES_MAX,
    weightMax: CHARACTERS_MAX,
  })

  return {
    note: ({ rows }) => {
      for (const { event, parts, sealed } of rows) {
        if (event.eventType !== 'command.issued') continue
        const { context = '', meta = '' } = parts
        // Whatever stands in the log in another form has to be read.
        const isWhole = sealed === null && event.hidden === undefined && event.written === undefined
        const fresh = isWhole && !isRespelled(context) && !isRespelled(meta) ? freshOf(event) : undefined
        if (fresh === undefined) continue
        known.set(event.eventId, { ...fresh, since: clock.monotonic() }, context.length + meta.length)
      }
    },
    find: (eventId) => {
      const found = known.get(eventId)
      if (found === undefined || clock.monotonic() - found.since < FRESH_MS) return found
      known.delete(eventId)
      return undefined
    },
    forget: (eventId) => known.delete(eventId),
  }
}

/** Undefined: no worker is meant, or it was handed over with the decision. */
function freshOf(event: EventRecord): FreshCommand | undefined {
  const { executionId, eventId, meta } = event
  if (!isJsonObject(meta) || meta['emitter'] !== 'orchestrator') return undefined
  if (meta['actionable'] !== true || meta['handed_over'] === true) return undefined
  const { command_id: commandId, step, tool_kind: kind, execution_pool: pool } = meta
  const isNamed = [commandId, step, kind, pool].every((name) => typeof name === 'string')
  if (!isNamed) return undefined
  return {
    names: { executionId, eventId, commandId: commandId as string, step: step as string, kind: kind as string },
    pool: pool as string,
    issued: event,
  }
}
