// Promise: replay in profile `cp`, the read model and the live state never disagree about an execution's
// status, nor the first two about its last node, whatever is in the log and in whatever order it came.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../../src/domain/events/eventRecord.js'
import { evolveExecution, UNKNOWN_EXECUTION } from '../../src/domain/executions/executionEffect.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { foldEvents } from '../../src/domain/replay/fold.js'
import { applyEvent } from '../../src/domain/state/applyEvent.js'
import { emptyState, workflowStatus } from '../../src/domain/state/workflowState.js'

const LIVE: Record<string, string> = {
  UNKNOWN: 'initial',
  RUNNING: 'in_progress',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

const NOUNS = [
  'playbook',
  'workflow',
  'execution',
  'step',
  'command',
  'action',
  'call',
  'stage',
  'frame',
  'loop',
  'subscription',
]
const VERBS = [
  'initialized',
  'started',
  'enter',
  'exit',
  'skipped',
  'completed',
  'failed',
  'cancelled',
  'canceled',
  'opened',
  'dispatched',
  'done',
  'registered',
]
const type = fc
  .tuple(fc.constantFrom(...NOUNS), fc.constantFrom('.', '_'), fc.constantFrom(...VERBS))
  .map((parts) => parts.join(''))
const entry = fc.record({
  id: fc.integer({ min: 1, max: 1000 }),
  type: fc.oneof(type, fc.constantFrom('ctx.updated', 'playbook', '_', 'my_step_completed')),
  node: fc.constantFrom(undefined, '', 'a', 'b'),
})

function toRecord({ id, type: eventType, node }: { id: number; type: string; node: string | undefined }): EventRecord {
  return {
    executionId: '7',
    eventId: String(id),
    eventType,
    nodeName: node,
    tenantId: 'default',
    organizationId: 'default',
    createdAt: '2026-11-16T00:00:00.000000+00:00',
    createdAtGiven: true,
  } as unknown as EventRecord
}

describe('three views of one log', () => {
  it('agree', () => {
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ({ id }) => id, maxLength: 12 }), (log) => {
        const records = log.map(toRecord)
        const replayed = foldEvents(
          {
            profile: 'cp',
            tenantId: 'default',
            organizationId: 'default',
            executionId: 7,
            projection: 'all',
            upcasterRegistryDigest: null,
          },
          log.map(({ id, type: event_type, node }) => ({ event_id: id, event_type, node_name: node ?? null })),
        ).state['execution'] as JsonObject
        const summary = records.reduce(evolveExecution, UNKNOWN_EXECUTION)
        const live = emptyState(records[0]?.executionId ?? ('7' as never))
        for (const record of records) applyEvent(live, record)
        expect(summary.status).toBe(replayed['status'])
        expect(summary.lastNodeName ?? null).toBe(replayed['last_node_name'])
        expect(workflowStatus(live)).toBe(LIVE[summary.status])
      }),
      { numRuns: 800 },
    )
  })
})
