// Names of events. Producers write the same thing as `playbook_completed`, `playbook.completed`,
// `action_completed` or `command.completed`, and `canceled` with one l; everything that decides by type goes
// through `canonicalEventType`. The text as written is what is stored and shown, never the canonical one.
import { isTerminalStatus, type TerminalStatus } from '../executions/executionStatus.js'
import { rememberByText } from '../memo.js'
import { EVENT_TYPES, type EventMeaning } from './vocabulary.js'

const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries(EVENT_TYPES).flatMap(([type, { aliases = [] }]) => aliases.map((alias) => [alias, type] as const)),
)

/** Nouns whose types also exist with an underscore in place of the dot. */
const NOUNS: ReadonlySet<string> = new Set(
  [...Object.keys(EVENT_TYPES), ...ALIASES.keys()].map((type) => type.slice(0, type.indexOf('.'))),
)

export const canonicalEventType: (type: string) => string = rememberByText(canonicalise)

function canonicalise(type: string): string {
  const underscore = type.indexOf('_')
  const dotted =
    underscore > 0 && !type.includes('.') && NOUNS.has(type.slice(0, underscore))
      ? `${type.slice(0, underscore)}.${type.slice(underscore + 1)}`
      : type
  const spelled = dotted.endsWith('.canceled') ? `${dotted.slice(0, -'canceled'.length)}cancelled` : dotted
  return ALIASES.get(spelled) ?? spelled
}

/** Whether the vocabulary has exactly this text. */
export function isKnownType(type: string): boolean {
  return ALIASES.has(type) || Object.hasOwn(EVENT_TYPES, type)
}

const NOTHING: EventMeaning = {}

/** What the vocabulary says about a type, however it is spelled. */
export function meaningOf(type: string): EventMeaning {
  const canonical = canonicalEventType(type)
  return Object.hasOwn(EVENT_TYPES, canonical) ? EVENT_TYPES[canonical]! : NOTHING
}

export function isStartEventType(type: string): boolean {
  return meaningOf(type).starts === true
}

export function isTerminalEventType(type: string): boolean {
  return terminalStatusOf(type) !== undefined
}

export function terminalStatusOf(type: string): TerminalStatus | undefined {
  const status = meaningOf(type).execution
  return status !== undefined && isTerminalStatus(status) ? status : undefined
}

/** Whether the type says that an execution runs; it only counts while nothing else is known. */
export function isRunningEventType(type: string): boolean {
  return meaningOf(type).execution === 'RUNNING'
}

/** Whether an event of this type that carries a node name moves `last_node_name`; the older `action_completed` does not. */
export function namesNode(type: string): boolean {
  return meaningOf(type).namesNode === true && !type.startsWith('action')
}

/**
 * The status of an event that carries none. The NoETL server looks for the words anywhere in the type, so that
 * "incompleted" would be a success; here a word must start where a part of the name starts.
 */
export const deriveEventStatus: (type: string) => string = rememberByText((type) => {
  const parts = type.toLowerCase().split(/[._\-\s/]+/)
  const has = (...words: string[]) => parts.some((part) => words.some((word) => part.startsWith(word)))
  if (has('done', 'exit', 'completed')) return 'COMPLETED'
  if (has('error', 'failed')) return 'FAILED'
  return has('cancelled', 'canceled') ? 'CANCELLED' : 'RUNNING'
})
