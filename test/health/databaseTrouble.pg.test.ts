// Promise: what a read-only, failing or overcrowded Postgres answers is never charged to what was sent. Nothing is
// quarantined or refused, callers are told to come again, and all of it is stored once the server is well.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { isOwnTrouble } from '../../src/errors.js'
import { importEvents } from '../../src/services/events/eventImport.js'
import { ingestEvent, ingestMany } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { type Arrival, projectWhatCanBe } from '../../src/services/projector/projector.js'
import { pageOfQuarantine } from '../../src/services/projector/quarantine.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase, useDatabase } from '../support/database.js'
import { failWrites, healWrites, makeReadOnly, makeWritable } from '../support/databaseTrouble.js'
import { until } from '../support/until.js'

const database = useDatabase()
let second: TestDatabase
let core: TestCore

beforeAll(async () => {
  second = await cloneDatabase(database.servers())
  core = await openCore([database.get(), second])
  await registerPlaybook(core, 'tests/trouble')
})
afterAll(async () => {
  await core.close()
  await second.drop()
})

/** An execution of the second database; quarantine and catalog are in the first one and stay writable. */
async function started(): Promise<string> {
  for (;;) {
    const { executionId } = await startExecution(core, { path: 'tests/trouble', payload: {} })
    if (core.databases.shardOf(executionId) === 1) return executionId
  }
}
const envelope = (executionId: string): JsonObject => ({
  execution_id: BigInt(executionId),
  event_id: BigInt(core.ids.next()),
  event_type: 'step.enter',
  node_name: 'n',
  timestamp: '2026-04-01T12:00:00Z',
})

/** Every way in, while the database cannot be written and afterwards. */
async function expectNobodyCharged(begin: () => Promise<void>, end: () => Promise<void>): Promise<void> {
  const executionId = await started()
  const [projected, imported] = [envelope(executionId), envelope(executionId)]
  const posted = { execution_id: executionId, step: 'n', event_type: 'step.enter' }
  const arrival: Arrival = { value: projected }
  await begin()
  try {
    const { result, untried } = await projectWhatCanBe(core, [arrival], 'test')
    expect(result).toEqual({ projected: 0, duplicates: 0, quarantined: 0 })
    expect(untried?.arrivals.has(arrival)).toBe(true)
    await expect(ingestEvent(core, posted)).rejects.toSatisfy(isOwnTrouble)
    expect(await ingestMany(core, [posted])).toSatisfy((answers: unknown[]) => answers.every(isOwnTrouble))
    await expect(importEvents(core, [{ document: imported }], { publish: false })).rejects.toSatisfy(isOwnTrouble)
    expect(await pageOfQuarantine(core.databases, '0', 10)).toEqual([])
  } finally {
    await end()
  }
  // The pool may still hold connections of before; a sender comes again.
  await until('the projected event is stored', async () => {
    const { result } = await projectWhatCanBe(core, [arrival], 'test')
    expect(result.quarantined).toBe(0)
    return result.projected === 1
  })
  await until('the imported event is stored', async () => {
    const [answer] = await importEvents(core, [{ document: imported }], { publish: false })
    return answer?.kind === 'stored'
  })
  await until('the posted event is stored', async () => (await ingestEvent(core, posted)).kind === 'stored')
}

describe('nothing is charged to what was sent when the database', () => {
  it('is read-only', () =>
    expectNobodyCharged(
      () => makeReadOnly(second),
      () => makeWritable(second),
    ))

  it.each([
    ['25006', 'is a standby'],
    ['08006', 'lost its link'],
    ['08P01', 'is behind a pooler without a server'],
    ['40P01', 'chooses the same victim of a deadlock again and again'],
    ['40001', 'cannot serialise again and again'],
    ['42501', 'took a right away'],
    ['42703', 'lacks a column'],
    ['53100', 'has a full disk'],
    ['53400', 'is at a configured limit'],
    ['55000', 'is not in the state for it'],
    ['57P05', 'ends idle sessions'],
    ['58030', 'has an I/O error'],
    ['58P01', 'misses a file'],
    ['72000', 'lost a snapshot'],
    ['XX000', 'has an internal error'],
    ['XX001', 'found corrupted data'],
    ['XX002', 'found a corrupted index'],
  ])('answers %s: it %s', async (sqlstate) => {
    await expectNobodyCharged(
      () => failWrites(second, sqlstate),
      () => healWrites(second),
    )
  })
})

it.each(['22001', '23514', '23P01', '54000'])(
  'what the data itself is refused for (%s) is set aside',
  async (sqlstate) => {
    const executionId = await started()
    await failWrites(second, sqlstate)
    try {
      const { result, untried } = await projectWhatCanBe(core, [{ value: envelope(executionId) }], 'test')
      expect(result).toMatchObject({ quarantined: 1 })
      expect(untried).toBeUndefined()
    } finally {
      await healWrites(second)
    }
  },
)
