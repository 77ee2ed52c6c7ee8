// What an execution waits for, as far as its state knows: steps that were entered and have no command, commands
// without an outcome, callbacks that have not come, failures nobody dealt with. For people who ask why it is stuck.

import type { WireTime } from '../events/wireTime.js'
import { compareIds } from '../ids/ids.js'
import { viewStep } from './stepView.js'
import { orderIdOf, type WorkflowState } from './workflowState.js'

export type OpenKind = 'unclaimed' | 'claimed' | 'started' | 'parked' | 'child' | 'entered' | 'waiting' | 'failed'

export interface OpenWork {
  kind: OpenKind
  step: string
  commandId?: string
  /** The event that tells when it began to wait. */
  eventId?: string
  error?: string
  /** Of a step that was reached: the steps under way that may still lead to it. */
  blockers?: string[]
  /** When the engine gives the command up. */
  deadline?: WireTime
  /** The playbook that the command has started. */
  child?: string
}

const OPEN_MAX = 200

export function openWork(state: WorkflowState): OpenWork[] {
  const found: OpenWork[] = []
  for (const [step, facts] of state.steps) {
    const info = viewStep(step, facts)
    if (info.state === 'failed') {
      const failed: OpenWork = { kind: 'failed', step }
      if (info.error !== undefined) failed.error = info.error
      found.push(failed)
    }
    let commands = 0
    for (const [commandId, command] of facts.commands) {
      commands += 1
      if (facts.enter !== undefined && compareIds(orderIdOf(command), facts.enter.id) < 0) continue
      const { outcome } = command
      if (outcome?.parked === true && command.done === undefined) {
        found.push({ kind: 'parked', step, commandId, eventId: outcome.id })
      } else if (outcome === undefined && command.exit === undefined && info.state !== 'completed') {
        const kind = command.started !== undefined ? 'started' : command.claimed === true ? 'claimed' : 'unclaimed'
        found.push({ kind, step, commandId, eventId: command.started?.id ?? orderIdOf(command) })
      }
      if (found.length >= OPEN_MAX) return found
    }
    if (commands === 0 && info.state === 'entered') {
      const entered: OpenWork = { kind: 'entered', step }
      const eventId = facts.enter?.id ?? facts.entered?.id
      if (eventId !== undefined) entered.eventId = eventId
      found.push(entered)
    }
  }
  return found
}
