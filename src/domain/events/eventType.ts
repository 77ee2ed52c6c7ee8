// Names of events. Producers write the same thing as `playbook_completed`, `playbook.completed`,
// `action_completed` or `command.completed`, and `canceled` with one l; everything that decides by type goes
// through `canonicalEventType`. The text as written is what is stored and shown, never the canonical one.
import type { TerminalStatus } from '../executions/executionStatus.js'

const ALIASES: Readonly<Record<string, string>> = {
  'step.started': 'step.enter',
  'step.completed': 'step.exit',
  'action.started': 'command.started',
  'action.completed': 'command.completed',
  'action.failed': 'command.failed',
  'action.done': 'call.done',
}

/** Families whose members also exist with an underscore in place of the dot. */
const FAMILIES: ReadonlySet<string> = new Set([
  'playbook',
  'workflow',
  'execution',
  'step',
  'command',
  'action',
  'call',
  'ctx',
  'iterator',
  'loop',
  'batch',
  'stage',
  'frame',
  'subscription',
])

/** Types are few; a client that invents one per event must not fill the memory. */
const REMEMBERED_MAX = 1000

/** A function of a type that is computed once per type. */
function remembering(compute: (type: string) => string): (type: string) => string {
  const known = new Map<string, string>()
  return (type) => {
    const before = known.get(type)
    if (before !== undefined) return before
    const answer = compute(type)
    if (known.size < REMEMBERED_MAX && type.length <= 128) known.set(type, answer)
    return answer
  }
}

export const canonicalEventType: (type: string) => string = remembering(canonicalise)

function canonicalise(type: string): string {
  const underscore = type.indexOf('_')
  const dotted =
    underscore > 0 && !type.includes('.') && FAMILIES.has(type.slice(0, underscore))
      ? `${type.slice(0, underscore)}.${type.slice(underscore + 1)}`
      : type
  const spelled = dotted.endsWith('.canceled') ? `${dotted.slice(0, -'canceled'.length)}cancelled` : dotted
  return Object.hasOwn(ALIASES, spelled) ? (ALIASES[spelled] as string) : spelled
}

/** Types that bring an execution into being; any other event for an unknown execution is refused. */
export const START_EVENT_TYPES: ReadonlySet<string> = new Set([
  'playbook.started',
  'playbook.initialized',
  'subscription.registered',
])

const RUNNING_TYPES: ReadonlySet<string> = new Set([
  'playbook.initialized',
  'playbook.started',
  'workflow.initialized',
  'workflow.started',
  'execution.started',
  'stage.opened',
  'frame.dispatched',
  'step.enter',
])

const TERMINAL_STATUS: Readonly<Record<string, TerminalStatus>> = {
  'playbook.completed': 'COMPLETED',
  'workflow.completed': 'COMPLETED',
  'execution.completed': 'COMPLETED',
  'playbook.failed': 'FAILED',
  'workflow.failed': 'FAILED',
  'execution.failed': 'FAILED',
  'playbook.cancelled': 'CANCELLED',
  'workflow.cancelled': 'CANCELLED',
  'execution.cancelled': 'CANCELLED',
}

export function isStartEventType(type: string): boolean {
  return START_EVENT_TYPES.has(canonicalEventType(type))
}

export function isTerminalEventType(type: string): boolean {
  return terminalStatusOf(type) !== undefined
}

export function terminalStatusOf(type: string): TerminalStatus | undefined {
  const canonical = canonicalEventType(type)
  return Object.hasOwn(TERMINAL_STATUS, canonical) ? TERMINAL_STATUS[canonical] : undefined
}

/** Whether the type says that an execution runs; it only counts while nothing else is known. */
export function isRunningEventType(type: string): boolean {
  return RUNNING_TYPES.has(canonicalEventType(type))
}

/**
 * The status of an event that carries none. The original looks for the words anywhere in the type, so that
 * "incompleted" would be a success; here a word must start where a part of the name starts.
 */
export const deriveEventStatus: (type: string) => string = remembering((type) => {
  const parts = type.toLowerCase().split(/[._\-\s/]+/)
  const has = (...words: string[]) => parts.some((part) => words.some((word) => part.startsWith(word)))
  if (has('done', 'exit', 'completed')) return 'COMPLETED'
  if (has('error', 'failed')) return 'FAILED'
  return has('cancelled', 'canceled') ? 'CANCELLED' : 'RUNNING'
})
