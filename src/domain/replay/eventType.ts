// What an event type means to each part of the fold, as one table per profile. The type text is looked
// up once and the answer is kept, so the fold itself never compares type names. A type without a rule
// is not an error: it still counts and still touches the entities whose ids it carries.

import { isKnownType, meaningOf, namesNode } from '../events/eventType.js'
import type { ExecutionStatus } from '../executions/executionStatus.js'
import type { FoldProfile } from './profile.js'

export type CommandAction = 'issued' | 'claimed' | 'started' | 'completed' | 'failed' | 'cancelled' | 'other'
export type FrameAction = 'dispatched' | 'started' | 'abandoned' | 'committed' | 'failed'

export interface EventKind {
  /** Some rule or the vocabulary of the product knows this type. */
  readonly isKnown: boolean
  readonly execution: ExecutionStatus | null
  /** `cp`: an event of this type that carries a node name moves last_node_name. */
  readonly namesNode: boolean
  readonly stage: 'opened' | 'closed' | null
  readonly frame: FrameAction | null
  /** null: not a command event at all. */
  readonly command: CommandAction | null
  readonly business: 'DELETED' | 'ACTIVE' | null
  readonly loop: 'done' | 'failed' | 'completed' | null
}

/** The NoETL server knows fewer. */
const RUNNING_IN_PYTHON = ['playbook.initialized', 'execution.started', 'stage.opened', 'frame.dispatched']
const STAGE = new Set(['opened', 'closed'])
const FRAME = new Set(['dispatched', 'started', 'abandoned', 'committed', 'failed'])
const COMMAND = new Set(['issued', 'claimed', 'started', 'completed', 'failed', 'cancelled'])
const LOOP: Readonly<Record<string, 'done' | 'failed' | 'completed'>> = {
  'command.completed': 'done',
  'loop.shard.done': 'done',
  'command.failed': 'failed',
  'loop.shard.failed': 'failed',
  'loop.done': 'completed',
  'loop.fanin.completed': 'completed',
}

export function classifyEventType(profile: FoldProfile, type: string): EventKind {
  const dotted = profile === 'cp' ? dottedForm(type) : type
  const noun = nounOf(dotted)
  const verb = dotted.slice(noun.length + 1)
  const kind = {
    execution: executionStatus(profile, dotted),
    namesNode: isKnownType(dotted) && namesNode(dotted),
    stage: noun === 'stage' && STAGE.has(verb) ? (verb as 'opened' | 'closed') : null,
    frame: noun === 'frame' && FRAME.has(verb) ? (verb as FrameAction) : null,
    command: commandAction(dotted, verb),
    business: businessStatus(profile, type),
    loop: Object.hasOwn(LOOP, dotted) ? (LOOP[dotted] ?? null) : null,
  }
  const hasRule = Object.values(kind).some((effect) => effect !== null && effect !== false && effect !== 'other')
  return { ...kind, isKnown: hasRule || isKnownType(dotted) }
}

function executionStatus(profile: FoldProfile, dotted: string): ExecutionStatus | null {
  if (!isKnownType(dotted)) return null
  const status = meaningOf(dotted).execution ?? null
  if (profile === 'cp') return status
  if (dotted === 'command.failed') return 'FAILED'
  if (status === 'RUNNING') return RUNNING_IN_PYTHON.includes(dotted) ? status : null
  return status === 'CANCELLED' ? null : status
}

function commandAction(dotted: string, verb: string): CommandAction | null {
  if (!dotted.startsWith('command.')) return null
  return COMMAND.has(verb) ? (verb as CommandAction) : 'other'
}

const DELETED = /\.(?:deleted|removed)$/
const ACTIVE = /\.(?:created|updated|upserted)$/

function businessStatus(profile: FoldProfile, type: string): 'DELETED' | 'ACTIVE' | null {
  let lower = type.toLowerCase()
  if (profile === 'cp' && !lower.includes('.')) lower = lower.replace(/_([a-z]+)$/, '.$1')
  if (DELETED.test(lower)) return 'DELETED'
  return ACTIVE.test(lower) ? 'ACTIVE' : null
}

/** `playbook_completed` and `execution.canceled` as `playbook.completed` and `execution.cancelled`. */
function dottedForm(type: string): string {
  const spelled = type.replace(/([._])canceled$/, '$1cancelled')
  // A type with a dot is in the dotted form already; its underscores belong to its words.
  return spelled.includes('.') ? spelled : spelled.replaceAll('_', '.')
}

function nounOf(type: string): string {
  const dot = type.indexOf('.')
  return dot < 0 ? type : type.slice(0, dot)
}
