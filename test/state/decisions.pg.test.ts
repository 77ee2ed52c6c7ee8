// Promise: a decision is written once, by the daemon that holds the lane, for an execution that still runs; with all
// of its events or none. While it is being written nobody can take the lane, and its holder can renew it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { LANE_COUNT, LANES, laneOf } from '../../src/domain/leases/lane.js'
import { endExecution } from '../../src/services/executions/executions.js'
import { appendDecisions, createDecisionWriter } from '../../src/services/state/decisions.js'
import type { DecisionRequest } from '../../src/services/state/preparedDecision.js'
import { holdFences, prepareLeases, renewLeases, takeLeases } from '../../src/stores/leases/leaseStore.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { start } from './stateHarness.js'

const database = useDatabase()
const KIND = 'state 0/1'
let core: TestCore
let catalogId: string
let tokens: Map<number, string>

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/decisions')
  await prepareLeases(database.get().db, KIND, LANE_COUNT)
  const taken = await take('me')
  tokens = new Map(taken.map(({ slot, token }) => [slot, token]))
})
afterAll(() => core.close())

const call = (owner: string) => ({ kind: KIND, owner, deadlineMs: 3_000 })
const take = (owner: string) =>
  takeLeases(database.get().db, call(owner), { slots: LANES, limit: LANE_COUNT, leaseSeconds: 60 })

function request(executionId: string, key: string, change: Partial<DecisionRequest['fence']> = {}): DecisionRequest {
  const slot = laneOf(executionId)
  return {
    executionId,
    version: 1,
    decision: {
      key,
      events: [
        { eventType: 'step.enter', nodeName: key },
        { eventType: 'command.issued', nodeName: key, meta: { command_id: `${executionId}:${key}` } },
      ],
    },
    fence: { kind: KIND, owner: 'me', slot, token: tokens.get(slot)!, ...change },
  }
}

async function steps(executionId: string): Promise<string[]> {
  const rows = await database.get().sql<{ line: string }>(
    `select event_type || ' ' || node_name || ' ' || (meta ->> 'idempotency_key') as line from noetl.event
       where execution_id = $1::bigint and stream_version > 1 order by stream_version`,
    [executionId],
  )
  return rows.map(({ line }) => line)
}

const WRITTEN = ['step.enter a a', 'command.issued a a']

describe('a decision', () => {
  it('is written with its key, and dropped the second time', async () => {
    const id = await start(core, catalogId)
    expect(await appendDecisions(core, [request(id, 'a')])).toEqual(['appended'])
    expect(await appendDecisions(core, [request(id, 'a')])).toEqual(['repeated'])
    expect(await steps(id)).toEqual(WRITTEN)
  })

  it('made by two at the same moment is written once', async () => {
    const id = await start(core, catalogId)
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => appendDecisions(core, [request(id, 'a')])))
    expect(outcomes.flat().sort()).toEqual(['appended', ...Array(7).fill('repeated')])
    expect(await steps(id)).toEqual(WRITTEN)
  })

  it.each([
    ['token', { token: '999' }],
    ['owner', { owner: 'somebody' }],
    ['share', { kind: 'state 1/2' }],
  ])('of a daemon with another %s is turned away', async (_, change) => {
    const id = await start(core, catalogId)
    expect(await appendDecisions(core, [request(id, 'a', change)])).toEqual(['fenced'])
    expect(await steps(id)).toEqual([])
    // Its key is still free for whoever decides now.
    expect(await appendDecisions(core, [request(id, 'a')])).toEqual(['appended'])
  })

  it('of a lease that ran out is turned away, before anybody has taken it', async () => {
    const id = await start(core, catalogId)
    await database.get().sql('update noetl.lease set lease_until = now() where slot = $1::int', [laneOf(id)])
    expect(await appendDecisions(core, [request(id, 'a')])).toEqual(['fenced'])
    await database
      .get()
      .sql("update noetl.lease set lease_until = now() + interval '1 hour' where slot = $1::int", [laneOf(id)])
  })

  it('for an execution that has ended is dropped', async () => {
    const id = await start(core, catalogId)
    await endExecution(core, { executionId: id as ExecutionId, outcome: 'CANCELLED' })
    expect(await appendDecisions(core, [request(id, 'a')])).toEqual(['ended'])
  })

  it('shares a transaction with others, and each gets its own answer', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => start(core, catalogId)))
    const writer = createDecisionWriter({ ...core, store: () => Promise.reject(new Error('nothing here is large')) })
    const outcomes = await Promise.all(
      ids.map((id, index) => writer.write(0, request(id, 'a', index % 3 === 0 ? { token: '0' } : {}))),
    )
    expect(outcomes).toEqual(ids.map((_, index) => (index % 3 === 0 ? 'fenced' : 'appended')))
    for (const [index, id] of ids.entries()) expect(await steps(id)).toEqual(index % 3 === 0 ? [] : WRITTEN)
  })

  it('keeps its lane from being taken, not from being renewed', async () => {
    const id = await start(core, catalogId)
    const { fence } = request(id, 'a')
    const { db } = database.get()
    await db.tx(async (tx) => {
      expect((await holdFences(tx, [fence]))(fence)).toBe(true)
      expect(await renewLeases(db, call('me'), [fence], 0.001)).toHaveLength(1)
      await until('the lease is over', async () => {
        const [lease] = await database
          .get()
          .sql<{ over: boolean }>(
            'select lease_until < now() as over from noetl.lease where kind = $1 and slot = $2::int',
            [KIND, fence.slot],
          )
        return lease!.over
      })
      expect(await take('other')).toEqual([])
    })
    expect(await take('other')).toMatchObject([{ slot: fence.slot }])
  })
})
