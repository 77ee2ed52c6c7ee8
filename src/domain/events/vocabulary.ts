// What every known type of event means, once for all who decide by type: the read model, replay in profile `cp`, the
// live fold, the timeline and the ranks of steps in SQL. Types are written as `noun.verb`; producers also write
// `noun_verb`, and older ones use the aliases.
import type { ExecutionStatus } from '../executions/executionStatus.js'

export interface EventMeaning {
  readonly aliases?: readonly string[]
  /** It brings an execution into being; any other event for an unknown execution is refused. */
  readonly starts?: true
  /** RUNNING only counts while nothing else is known. */
  readonly execution?: ExecutionStatus
  /** With a node name it moves `last_node_name`. */
  readonly namesNode?: true
  /** What it says about the step or the command that it names. */
  readonly step?: 'running' | 'done' | 'failed' | 'cancelled'
  /** How far it brings its step in the counts of an execution: 3 completed, 2 failed, 0 not taken; others 1, running. */
  readonly rank?: 0 | 2 | 3
  /** The live fold of an execution that is looked at takes it into its steps. */
  readonly folded?: true
}

export const EVENT_TYPES: Readonly<Record<string, EventMeaning>> = {
  'playbook.initialized': { starts: true, execution: 'RUNNING' },
  'playbook.started': { starts: true, execution: 'RUNNING' },
  'playbook.completed': { execution: 'COMPLETED' },
  'playbook.failed': { execution: 'FAILED' },
  'playbook.cancelled': { execution: 'CANCELLED' },
  'workflow.initialized': { execution: 'RUNNING' },
  'workflow.started': { execution: 'RUNNING' },
  'workflow.completed': { execution: 'COMPLETED' },
  'workflow.failed': { execution: 'FAILED' },
  'workflow.cancelled': { execution: 'CANCELLED' },
  'execution.initialized': {},
  'execution.adopted': {},
  'execution.started': { execution: 'RUNNING' },
  'execution.completed': { execution: 'COMPLETED' },
  'execution.failed': { execution: 'FAILED' },
  'execution.cancelled': { execution: 'CANCELLED' },

  'step.enter': {
    aliases: ['step.started'],
    execution: 'RUNNING',
    namesNode: true,
    step: 'running',
    folded: true,
  },
  'step.exit': { aliases: ['step.completed'], namesNode: true, step: 'done', rank: 3, folded: true },
  'step.failed': { step: 'failed', rank: 2, folded: true },
  'step.skipped': { step: 'done', rank: 0, folded: true },
  'command.issued': { step: 'running', folded: true },
  'command.claimed': { step: 'running', folded: true },
  'command.started': { aliases: ['action.started'], step: 'running', folded: true },
  'command.heartbeat': {},
  'command.completed': { aliases: ['action.completed'], namesNode: true, step: 'done', rank: 3, folded: true },
  'command.failed': { aliases: ['action.failed'], step: 'failed', rank: 2, folded: true },
  'command.cancelled': { step: 'cancelled' },
  'call.done': { aliases: ['action.done'], folded: true },
  'call.error': {},
  'ctx.updated': {},
  'iterator.completed': {},
  'loop.started': {},
  'loop.done': {},
  'stage.opened': { execution: 'RUNNING' },
  'stage.closed': {},
  'frame.dispatched': { execution: 'RUNNING' },
  'batch.accepted': {},
  'batch.processing': {},
  'batch.completed': {},
  'batch.failed': {},

  'subscription.registered': { starts: true },
  'subscription.activated': {},
  'subscription.paused': {},
  'subscription.resumed': {},
  'subscription.draining': {},
  'subscription.deactivated': {},
  'subscription.message.deduplicated': {},
}

/** Every spelling that producers use for the types that mean this. */
export function spellingsOf(isMeant: (meaning: EventMeaning) => boolean): string[] {
  return Object.entries(EVENT_TYPES)
    .filter(([, meaning]) => isMeant(meaning))
    .flatMap(([type, { aliases = [] }]) => [type, ...aliases])
    .flatMap((type) => [type, type.replace('.', '_')])
}
