// Promise: the read model of an execution has the status that replay computes, in whatever order and however
// often its events arrive.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../../src/domain/events/eventRecord.js'
import { type WireTime, wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import { evolveExecution, executionEffect, UNKNOWN_EXECUTION } from '../../src/domain/executions/executionEffect.js'
import type { EventId } from '../../src/domain/ids/ids.js'

const TYPES = [
  'playbook_started',
  'playbook.initialized',
  'step.enter',
  'step_completed',
  'command.started',
  'command.completed',
  'command.failed',
  'playbook.completed',
  'playbook_failed',
  'execution.cancelled',
  'something.else',
]

function record(id: number, eventType: string, more: Partial<EventRecord> = {}): EventRecord {
  return {
    executionId: '1',
    eventId: String(id) as EventId,
    eventType,
    nodeName: `node${id}`,
    tenantId: 'default',
    organizationId: 'default',
    createdAt: wireTimeFromMillis(id * 1000) as WireTime,
    createdAtGiven: true,
    ...more,
  } as EventRecord
}

const fold = (events: EventRecord[]) => events.reduce(evolveExecution, UNKNOWN_EXECUTION)

describe('effect', () => {
  it('of a failed command is not a failed execution', () => {
    expect(executionEffect(record(1, 'command.failed'))).toEqual({ terminal: false, starts: false })
  })

  it('names the last node only for steps and completed commands', () => {
    expect(executionEffect(record(1, 'step_started')).lastNodeName).toBe('node1')
    expect(executionEffect(record(1, 'command_completed')).lastNodeName).toBe('node1')
    expect(executionEffect(record(1, 'action_completed')).lastNodeName).toBeUndefined()
    expect(executionEffect(record(1, 'command.started')).lastNodeName).toBeUndefined()
    expect(executionEffect(record(1, 'step.enter', { nodeName: '' })).lastNodeName).toBeUndefined()
  })

  it.each([
    [{ error: 'boom' }, 'boom'],
    [{ result: { status: 'FAILED', context: { error: 'boom' } } }, 'boom'],
    [{ result: { error: { message: 'boom' } } }, 'boom'],
    [{ result: { context: { error: 5 } } }, undefined],
  ])('takes the error from %o', (more, error) => {
    expect(executionEffect(record(1, 'playbook.failed', more)).error).toBe(error)
  })
})

describe('summary', () => {
  it('keeps a terminal status against late running events, and gives way to a later terminal one', () => {
    const log = [record(1, 'playbook_started'), record(5, 'playbook.completed')]
    expect(fold([...log, record(3, 'step.enter')])).toMatchObject({ status: 'COMPLETED', lastEventId: '5' })
    expect(fold([...log, record(4, 'playbook.failed')]).status).toBe('COMPLETED')
    expect(fold([...log, record(6, 'playbook.failed', { error: 'x' })])).toMatchObject({ status: 'FAILED', error: 'x' })
    expect(fold([...log, record(9, 'step.enter')])).toMatchObject({ status: 'COMPLETED', lastEventType: 'step.enter' })
  })

  it('compares ids as numbers', () => {
    expect(fold([record(10, 'playbook.completed'), record(9, 'playbook.failed')]).status).toBe('COMPLETED')
  })

  it('takes its times from the first start and the deciding end', () => {
    const log = [record(2, 'playbook.started'), record(1, 'playbook.initialized'), record(8, 'playbook.completed')]
    expect(fold(log)).toMatchObject({ startTime: wireTimeFromMillis(1000), endTime: wireTimeFromMillis(8000) })
  })

  it('does not depend on order or repetition', () => {
    const entry = fc.record({ id: fc.integer({ min: 1, max: 200 }), type: fc.constantFrom(...TYPES) })
    const mixed = fc
      .uniqueArray(entry, { selector: ({ id }) => id, maxLength: 20 })
      .chain((log) => fc.tuple(fc.constant(log), fc.shuffledSubarray([...log, ...log], { minLength: log.length * 2 })))
    fc.assert(
      fc.property(mixed, ([log, shuffled]) => {
        const build = (entries: typeof log) => fold(entries.map(({ id, type }) => record(id, type)))
        expect(build(shuffled)).toEqual(build([...log].sort((a, b) => a.id - b.id)))
      }),
    )
  })
})
