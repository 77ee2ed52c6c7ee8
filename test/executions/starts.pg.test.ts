// Promise: an execution that begins by the short way leaves the same rows as by the general one, whoever listens hears
// of it after the commit, and an id that exists is refused as a whole.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { OwnedEvent } from '../../src/domain/events/eventRecord.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { findEntry } from '../../src/services/catalog/findEntry.js'
import { startEvent } from '../../src/services/executions/executions.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase
let core: TestCore

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  core = await openCore([database])
  await registerPlaybook(core, 'tests/begin')
})
afterAll(async () => {
  await core.close()
  await database.drop()
})

async function first(executionId = core.ids.next()) {
  const entry = await findEntry(core, { path: 'tests/begin' })
  const request = {
    parentExecutionId: '77',
    payload: { big: 9007199254740993n, text: 'ü "x"' },
    executionPool: 'p',
    labels: { team: 'payments' },
  }
  return startEvent(core, request, executionId as ExecutionId, entry)
}

/** Every column of every row, with what must differ replaced by a word. */
async function rowsOf(executionId: string, eventId: string): Promise<string> {
  const texts = await Promise.all(
    ['execution', 'event', 'outbox'].map((table) =>
      database.sql<{ row: string }>(
        `select (to_jsonb(r) - '{created_at,updated_at,event_time,ingest_time,start_time,available_at,outbox_id}'::text[])::text as row from noetl.${table} r where execution_id = $1::bigint`,
        [executionId],
      ),
    ),
  )
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n')
    .replaceAll(eventId, 'EVENT')
    .replaceAll(executionId, 'EXECUTION')
    .replace(/"(timestamp|emitted_at)": "[^"]*"/g, '"$1": "TIME"')
}

it('writes what the general way writes', async () => {
  const heard: string[] = []
  core.appender.onAppended((shard, ids, traces, _ended, _news, events) =>
    heard.push(...[...ids].map((id) => `${shard}:${id} ${traces.get(id)} ${events}`)),
  )
  const [one, other] = [await first(), await first()]
  const trace = '{"traceparent":"00-1"}'
  await core.appender.append([
    { event: one, idGiven: false, publish: true, createExecution: true, path: 'tests/begin', trace },
  ])
  await core.appender.startWith(0, (_, start) => start([{ event: other, path: 'tests/begin', trace }]))
  const general = await rowsOf(one.executionId, one.eventId)
  expect(general.split('\n')).toHaveLength(3)
  expect(await rowsOf(other.executionId, other.eventId)).toBe(general)
  expect(heard).toEqual([`0:${one.executionId} ${trace} 1`, `0:${other.executionId} ${trace} 1`])
})

it('refuses an id that exists, and then nothing of the batch is there', async () => {
  const known = await first()
  await core.appender.append([{ event: known, idGiven: false, publish: true, createExecution: true }])
  const fresh = await first()
  const heard: string[] = []
  core.appender.onAppended((_, ids) => heard.push(...ids))
  const again = await first(known.executionId)
  await expect(
    core.appender.startWith(0, (_, start) =>
      start([
        { event: fresh, path: 'tests/begin' },
        { event: again, path: 'tests/begin' },
      ]),
    ),
  ).rejects.toMatchObject({ code: 'conflict' })
  expect(await rowsOf(fresh.executionId, fresh.eventId)).toBe('')
  expect(heard).toEqual([])
})

it('writes the same without a parent and without a trace', async () => {
  const request = { payload: {}, parentExecutionId: undefined }
  const entry = await findEntry(core, { path: 'tests/begin' })
  const [one, other] = [1, 2].map(() => startEvent(core, request, core.ids.next() as ExecutionId, entry)) as [
    OwnedEvent,
    OwnedEvent,
  ]
  await core.appender.append([
    { event: one, idGiven: false, publish: true, createExecution: true, path: 'tests/begin' },
  ])
  await core.appender.startWith(0, (_, start) => start([{ event: other, path: 'tests/begin' }]))
  expect(await rowsOf(other.executionId, other.eventId)).toBe(await rowsOf(one.executionId, one.eventId))
})

it('refuses a mixed batch', async () => {
  const [one, other] = [await first(), { ...(await first()), tenantId: 'other' }]
  await expect(
    core.appender.startWith(0, (_, start) => start([one, other].map((event) => ({ event, path: 'tests/begin' })))),
  ).rejects.toMatchObject({ code: 'internal' })
})

it('refuses an event that begins nothing', async () => {
  const event = { ...(await first()), eventType: 'step.enter' }
  await expect(core.appender.startWith(0, (_, start) => start([{ event, path: 'tests/begin' }]))).rejects.toMatchObject(
    { code: 'internal' },
  )
})
