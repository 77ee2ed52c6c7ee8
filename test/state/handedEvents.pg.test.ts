// Promise: a driven state that is continued by what was appended, and not by reading, is what the whole log folds to, whatever
// the events hold; and what was handed over but is not in the log (a failover lost it) does not stay.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import type { LogNews } from '../../src/services/events/logNews.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { append, foldText, openState, type TestState } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let state: TestState

beforeAll(async () => {
  core = await openCore([database.get()])
  state = await openState(core, { engine: {} })
})
afterAll(async () => {
  await state.close()
  await core.close()
})

async function start(): Promise<string> {
  const content =
    'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: test/handed}\nworkflow:\n  - {step: a, loop: {in: 40, iterator: x, spec: {mode: parallel}}, tool: {kind: python, code: x}}\n'
  const { catalogId } = await registerEntry(core, { content })
  const { executionId } = await startExecution({ ...core, engine: ENGINE_VERSION }, { catalogId, payload: {} })
  await until('its commands are issued', async () => {
    const [row] = await database
      .get()
      .sql<{ n: number }>('select count(*)::int as n from noetl.command where execution_id = $1::bigint', [executionId])
    return row!.n === 40
  })
  return executionId
}

const VALUES = [
  '{"b": 1, "aa": 2, "a": {"z": [], "y": {}}}',
  '[1, 1.0, 1.50, -3, 0.1, 12345678901234567890, 9007199254740993]',
  '{"e": 1e3, "f": 1E-7, "g": -0, "h": -0.0, "i": 2.5e+10}',
  '{"": "", "\\u00e9": "\\ud83d\\ude00", "line": "a\\nb\\u2028c", "quote": "\\"\\\\"}',
  '"just text: 1e5"',
  'null',
  'false',
  '[[[[[[[[{"deep": [null, true]}]]]]]]]]',
]

it.each(VALUES)('holds what the log holds: %s', async (text) => {
  const executionId = await start()
  await state.sealed(executionId)
  const { applied } = state.counts
  const value = parseJson(text)
  for (const index of [3, 0]) {
    const payload = { command_id: `${executionId}:a:1:i${index}`, attempt: 1 }
    const result = { status: 'success', context: { status: 'success', data: value } }
    await append(core, executionId, 'call.done', 'a', { payload: { ...payload, call_index: 0, result } })
    await append(core, executionId, 'command.completed', 'a', { payload: { ...payload, status: 'success' } })
  }
  // Whoever asks makes it read.
  await until('it has taken them', () => state.counts.applied >= applied + 4)
  expect(await state.sealed(executionId)).toBe(await foldText(database.get(), executionId))
})

it('is told, and does not read, what this process has appended', async () => {
  const executionId = await start()
  await state.sealed(executionId)
  const [last] = await database.get().sql<{ id: string; version: string; catalog_id: string }>(
    `select event_id as id, stream_version as version, catalog_id from noetl.event
     where execution_id = $1::bigint order by stream_version desc limit 1`,
    [executionId],
  )
  const { applied } = state.counts
  // Nobody can have read this one: it is in no log.
  const lost = {
    event: {
      executionId,
      eventId: String(BigInt(last!.id) + 1n),
      eventType: 'command.heartbeat',
      createdAt: '2026-01-01T00:00:00.000000+00:00',
    },
    parts: { context: '{}', result: undefined, meta: undefined },
    catalogId: last!.catalog_id,
    streamVersion: BigInt(last!.version) + 1n,
    checksum: null,
    sealed: null,
  }
  const news = {
    executionId,
    engine: ENGINE_VERSION,
    afterVersion: Number(last!.version),
    mark: last!.id,
    rows: [lost],
  }
  state.service.trigger(executionId, undefined, news as unknown as LogNews)
  await until('it was taken', () => state.counts.applied > applied)
  expect(await state.sealed(executionId)).toBe(await foldText(database.get(), executionId))
})
