// Promise: what is appended later sorts later. An id that we mint is above every event id of its execution in the log,
// whatever clock the other writer had and whichever layout its ids have, so that replay, read model and live state see
// causes before their effects.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeSnowflake, decomposeSnowflake, inspectSnowflake } from '../../src/domain/ids/snowflake.js'
import { type Clock, systemClock } from '../../src/runtime/clock.js'
import { ingestBatch, ingestEvent } from '../../src/services/events/ingest.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { openReplay, replay } from '../replay/replayHarness.js'
import { foldText, insertForeign, openState } from '../state/stateHarness.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let fast: TestCore
let slow: TestCore
const INT64_MAX = '9223372036854775807'
const HALF_SECOND = 500

const shifted = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms })

beforeAll(async () => {
  fast = await openCore([database.get()], { hostName: 'fast', clock: shifted(HALF_SECOND / 2) })
  slow = await openCore([database.get()], { hostName: 'slow', clock: shifted(-HALF_SECOND / 2) })
  await registerPlaybook(fast, 'tests/order')
})
afterAll(async () => {
  await fast.close()
  await slow.close()
})

const start = async (core: TestCore): Promise<string> =>
  (await startExecution(core, { path: 'tests/order' })).executionId
const post = (core: TestCore, executionId: string, type: string, more = {}) =>
  ingestEvent(core, { execution_id: executionId, event_type: type, step: 's', ...more })

/** Event ids in the order of the versions. */
async function idsOf(executionId: string): Promise<bigint[]> {
  const rows = await database
    .get()
    .sql<{ event_id: string }>('select event_id from noetl.event where execution_id = $1 order by stream_version', [
      executionId,
    ])
  return rows.map((row) => BigInt(row.event_id))
}
const rising = (ids: readonly bigint[]): boolean => ids.every((id, at) => at === 0 || id > ids[at - 1]!)

/** An id of noetl.snowflake_id(): shifted by 23, shard 1, a sequence of ten bits. */
const databaseId = (unixMs: number, sequence: number): string =>
  String((BigInt(Math.floor(unixMs) - 1_704_067_200_000) << 23n) | (1n << 18n) | BigInt(sequence))

describe('two daemons whose clocks are half a second apart', () => {
  it('give rising ids to the events of one execution, in the order they were stored', async () => {
    const executionId = await start(fast)
    for (let round = 0; round < 5; round++) {
      await post(fast, executionId, 'step.enter')
      await post(slow, executionId, 'step.exit')
    }
    const ids = await idsOf(executionId)
    expect(ids).toHaveLength(11)
    expect(rising(ids)).toBe(true)
    // They stay unique beyond the execution: each carries the machine id of the daemon that minted it.
    const machines = new Set(ids.map((id) => decomposeSnowflake(id).machineId))
    expect(machines).toEqual(new Set([fast.ids.machineId(), slow.ids.machineId()]))
  })
  it('append above what a writer without our lock dated half a second ahead', async () => {
    const executionId = await start(slow)
    const ahead = String(composeSnowflake(Math.floor(systemClock.now()) + HALF_SECOND, 5, 1))
    await insertForeign(database.get(), executionId, { eventId: ahead, type: 'step.enter', step: 's' })
    const stored = await post(slow, executionId, 'step.exit')
    expect(BigInt((stored as { eventId: string }).eventId)).toBeGreaterThan(BigInt(ahead))
  })
})

describe('an execution whose ids come from the database function', () => {
  it('goes on above them: replay order, read model and live state agree', async () => {
    const executionId = databaseId(systemClock.now() - 60_000, 1)
    const foreign = ['playbook_started', 'step.enter', 'playbook.failed']
    for (const [index, type] of foreign.entries()) {
      const eventId = databaseId(systemClock.now() - 50_000 + index, index)
      await insertForeign(database.get(), executionId, { eventId, type, step: 's' })
    }
    const state = await openState(fast, { drive: false })
    const reader = openReplay(database.get())
    try {
      await until('the rows are adopted', async () => {
        const [row] = await database
          .get()
          .sql<{ n: string }>('select stream_version as n from noetl.execution where execution_id = $1', [executionId])
        return row?.n === '3'
      })
      const events = Array.from({ length: 40 }, (_, n) => ({ event_type: 'step.enter', step: `s${n}` }))
      await ingestBatch(slow, { execution_id: executionId, events })
      await post(fast, executionId, 'step.exit', { step: 'last' })
      await post(slow, executionId, 'playbook.completed')
      const ids = await idsOf(executionId)
      expect(ids).toHaveLength(45)
      expect(rising(ids)).toBe(true)
      // They tell the time they were minted at, in the layout of their log.
      for (const id of ids.slice(3)) {
        const read = inspectSnowflake(id, systemClock.now())
        expect(read.layout).toBe('database')
        expect(Math.abs(read.unixMs - systemClock.now())).toBeLessThan(60_000)
      }
      const [model] = await database
        .get()
        .sql('select status, last_event_type, last_node_name from noetl.execution where execution_id = $1', [
          executionId,
        ])
      expect(model).toEqual({
        status: 'COMPLETED',
        last_event_type: 'playbook.completed',
        last_node_name: 'last',
      })
      const replayed = await replay(reader, { execution_id: executionId, projection: 'execution' })
      expect(Buffer.from(replayed.document).toString()).toContain('"status":"COMPLETED"')
      expect(await state.sealed(executionId)).toBe(await foldText(database.get(), executionId))
    } finally {
      await state.close()
      await reader.close()
    }
  })
  it('is ended above them, and the answer names the id that was stored', async () => {
    const executionId = await start(fast)
    await insertForeign(database.get(), executionId, {
      eventId: databaseId(systemClock.now(), 9),
      type: 'step.enter',
      step: 's',
    })
    const { eventId } = await endExecution(fast, { executionId: executionId as never, outcome: 'CANCELLED' })
    const [last] = await database
      .get()
      .sql<{ event_id: string; event_type: string }>(
        'select event_id, event_type from noetl.event where execution_id = $1 order by event_id desc limit 1',
        [executionId],
      )
    expect(last).toEqual({ event_id: eventId, event_type: 'playbook_cancelled' })
  })
})

describe('a log with an id of a clock that ran ahead', () => {
  it.each([
    ['an hour', () => composeSnowflake(Math.floor(systemClock.now()) + 3_600_000, 5, 1)],
    ['to the end of time', () => BigInt(INT64_MAX) - 2n],
  ])('by %s: goes on right above it', async (_name, id) => {
    const executionId = await start(fast)
    const ahead = id()
    await insertForeign(database.get(), executionId, { eventId: String(ahead), type: 'step.enter', step: 's' })
    const outcomes = [await post(fast, executionId, 'step.exit'), await post(slow, executionId, 'step.enter')]
    expect(outcomes.map((outcome) => BigInt((outcome as { eventId: string }).eventId))).toEqual([
      ahead + 1n,
      ahead + 2n,
    ])
    // Nobody else is dragged along.
    expect(decomposeSnowflake(BigInt(fast.ids.next())).unixMs).toBeLessThan(systemClock.now() + 60_000)
  })
  it('that is the highest of all: refuses what it cannot order, and says why', async () => {
    const executionId = await start(fast)
    await insertForeign(database.get(), executionId, { eventId: INT64_MAX, type: 'step.enter', step: 's' })
    await expect(post(fast, executionId, 'step.exit')).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining(executionId),
    })
  })
})
