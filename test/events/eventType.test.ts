// Promise: every spelling of a type means the same, and the status of an event without one follows its name.

import { describe, expect, it } from 'vitest'
import {
  canonicalEventType,
  deriveEventStatus,
  isRunningEventType,
  isStartEventType,
  terminalStatusOf,
} from '../../src/domain/events/eventType.js'

describe('spellings', () => {
  it.each([
    ['playbook_started', 'playbook.started'],
    ['playbook_canceled', 'playbook.cancelled'],
    ['execution.canceled', 'execution.cancelled'],
    ['step_enter', 'step.enter'],
    ['step_started', 'step.enter'],
    ['step.started', 'step.enter'],
    ['step_completed', 'step.exit'],
    ['step_exit', 'step.exit'],
    ['step_skipped', 'step.skipped'],
    ['action_started', 'command.started'],
    ['action_completed', 'command.completed'],
    ['action_failed', 'command.failed'],
    ['action_done', 'call.done'],
    ['call_done', 'call.done'],
    ['command_completed', 'command.completed'],
    ['ctx_updated', 'ctx.updated'],
    ['iterator_completed', 'iterator.completed'],
    ['subscription.rate_limited', 'subscription.rate_limited'],
    ['my_own', 'my_own'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['', ''],
  ])('%s is %s', (type, canonical) => {
    expect(canonicalEventType(type)).toBe(canonical)
    expect(canonicalEventType(canonical)).toBe(canonical)
  })
})

describe('meaning', () => {
  it('of start types', () => {
    for (const type of ['playbook_started', 'playbook.started', 'playbook.initialized', 'subscription.registered']) {
      expect(isStartEventType(type)).toBe(true)
    }
    for (const type of ['workflow.initialized', 'step.enter', 'playbook.completed', 'subscription.activated']) {
      expect(isStartEventType(type)).toBe(false)
    }
  })

  it('of terminal types', () => {
    for (const family of ['playbook', 'workflow', 'execution']) {
      for (const [end, status] of [
        ['completed', 'COMPLETED'],
        ['failed', 'FAILED'],
        ['cancelled', 'CANCELLED'],
        ['canceled', 'CANCELLED'],
      ]) {
        expect(terminalStatusOf(`${family}.${end}`)).toBe(status)
        expect(terminalStatusOf(`${family}_${end}`)).toBe(status)
      }
    }
    for (const type of ['command.failed', 'step.failed', 'batch.completed', 'constructor', 'loop.done']) {
      expect(terminalStatusOf(type)).toBeUndefined()
    }
  })

  it('of running types', () => {
    for (const type of [
      'stage.opened',
      'frame.dispatched',
      'step_started',
      'workflow_initialized',
      'execution.started',
    ]) {
      expect(isRunningEventType(type)).toBe(true)
    }
    expect(isRunningEventType('command.started')).toBe(false)
  })
})

describe('derived status', () => {
  it.each([
    ['call.done', 'COMPLETED'],
    ['step.exit', 'COMPLETED'],
    ['action_completed', 'COMPLETED'],
    ['completed_with_errors', 'COMPLETED'],
    ['call.error', 'FAILED'],
    ['command.failed', 'FAILED'],
    ['playbook_cancelled', 'CANCELLED'],
    ['command.started', 'RUNNING'],
    ['incompleted', 'RUNNING'],
    ['terror', 'RUNNING'],
    ['COMMAND.COMPLETED', 'COMPLETED'],
  ])('of %s is %s', (type, status) => {
    expect(deriveEventStatus(type)).toBe(status)
  })
})
