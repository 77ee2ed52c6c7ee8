// Promise: of an event that was written in a thread everything is decided as if it were whole: whose command it is and
// which attempt, whether it failed and with which words, where a start comes from.
import { expect, it } from 'vitest'
import type { EventRecord } from '../../src/domain/events/eventRecord.js'
import { takeOutParts } from '../../src/domain/events/largeEvent.js'
import type { NormalisedEvent } from '../../src/domain/events/normaliseEvent.js'
import { startPathOf } from '../../src/domain/events/startPath.js'
import { engineOf } from '../../src/domain/executions/drivenStart.js'
import { errorText } from '../../src/domain/executions/executionEffect.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import {
  attemptOf,
  commandIdOf,
  flagIn,
  isDecided,
  objectAt,
  payloadOf,
  saysError,
} from '../../src/domain/state/workflowEvent.js'
import { packEvent, unpackEvent } from '../../src/services/events/inThread/packedEvent.js'

const filler = { rows: ['x'.repeat(100_000)], more: { deep: [1, 2, 3] } }
const base = { executionId: '1', eventId: '2', eventType: 'playbook_started', createdAt: '2026-01-01T00:00:00Z' }

it.each([
  { meta: { command_id: '1:a:1', attempt: 2, ...filler } },
  { meta: { command_id: 12345678901234567890n, ...filler } },
  { result: { context: { command_id: '1:a:1', attempts: 3, ...filler }, status: 'failed' } },
  { result: { data: { command_id: 7, ...filler }, ...filler } },
  { context: { command_id: '1:b:1', pending_callback: true, path: 'a/b', ...filler } },
  { result: { error: { message: 'it broke', ...filler } } },
  { result: { context: { error: 'it broke', exit_code: 3, ...filler } } },
  { result: { context: { error: { message: 'it broke', ...filler }, status: 'TIMEOUT' } } },
  { error: 'it broke', result: filler },
  { meta: { emitter: 'orchestrator', idempotency_key: 'k', engine: 1, missing: true, ...filler } },
  { meta: filler, context: ['no object'], result: 'no object' },
])('%o', (parts) => {
  const whole = { ...base, ...parts } as unknown as EventRecord
  const head = { ...whole }
  const written = takeOutParts(head, secretRules(), true)
  expect(JSON.stringify(head).length).toBeLessThan(1_000)
  for (const part of ['context', 'result', 'meta'] as const) {
    if (whole[part] !== undefined) expect(written.parts[part]!.length).toBeGreaterThan(5)
  }
  const decided = (event: EventRecord) => ({
    command: commandIdOf(event),
    attempt: attemptOf(event),
    parks: flagIn(event, 'pending_callback'),
    isDecided: isDecided(event),
    isMissing: objectAt(event.meta)['missing'] === true,
    isError: saysError(objectAt(event.result)) || saysError(payloadOf(event)),
    error: errorText(event),
    path: startPathOf(event),
    engine: engineOf(event),
  })
  expect(decided(head)).toEqual(decided(whole))
})

it('every field comes back from the thread as it went', () => {
  const event: Required<Omit<NormalisedEvent, 'hidden' | 'sealed'>> = {
    executionId: '1' as never,
    eventId: '2' as never,
    eventIdGiven: true,
    catalogId: '3' as never,
    catalogPath: 'a/b',
    parentEventId: '4' as never,
    parentExecutionId: '5' as never,
    prevEventId: '6' as never,
    eventType: 'step.exit',
    nodeId: 'node',
    nodeName: 'name',
    nodeType: 'type',
    status: 'COMPLETED',
    workerId: 'worker',
    duration: 0.5,
    context: { path: 'a' },
    result: { status: 'ok' },
    meta: { attempt: 1 },
    error: 'it broke',
    stackTrace: 'here',
    tenantId: 'tenant',
    organizationId: 'organization',
    createdAt: '2026-01-01T00:00:00Z' as never,
    createdAtGiven: false,
    written: { parts: { context: '{}', result: undefined, meta: undefined }, checked: undefined, hidden: undefined },
  }
  expect(unpackEvent(JSON.parse(packEvent(event)), event.written!)).toEqual(event)
})
