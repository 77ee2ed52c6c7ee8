// Promise: a body that is read in a thread means what it would mean if it were small: the same rows, the same messages,
// repetitions recognised however they are spelled, secrets sealed, and one event of a batch no larger than one alone.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { ingestEvent, ingestLargeBatch, ingestLargeEvent } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { everyText } from '../support/everyText.js'

const SECRET = 'hunter2-planted'
const database = useDatabase()
let core: TestCore
beforeAll(async () => {
  core = await openCore([database.get()])
  await registerPlaybook(core, 'tests/large')
})
afterAll(() => core.close())

const start = async (): Promise<string> =>
  (await startExecution(core, { path: 'tests/large', driven: false })).executionId
const large = (text: string) => ({ bytes: Buffer.from(text), schema: { type: 'object' as const } })
const one = (text: string) => ingestLargeEvent(core, large(text))
const small = (text: string) => ingestEvent(core, parseJson(text) as JsonObject)

/** A text with numbers, names and order that a careless reader would change. */
const eventText = (executionId: string, more: string, filler = 100_000) =>
  `{"execution_id":"${executionId}","step":"s","event_type":"call.done","status":"COMPLETED","worker_id":"w","actionable":true,` +
  `"meta":{"command_id":7,"z":1.0,"a":12345678901234567890},"payload":{"b":1e5,"é":"\\n","rows":[1,2.50,"${'x'.repeat(filler)}"]}${more}}`

/** Long ones as their hash, to be compared and not to be read. */
const rows = (executionId: string) =>
  database.get().sql<Record<string, string>>(
    `select e.event_type, e.status, e.worker_id, e.node_name, e.meta::text as meta, md5(e.context::text) as context,
       md5(e.result::text) as result, md5((o.payload - 'event_id' - 'stream_version' - 'timestamp')::text) as payload
     from noetl.event e join noetl.outbox o using (execution_id, event_id)
     where execution_id = $1 and e.event_type = 'call.done' order by e.event_id`,
    [executionId],
  )

it('gives the rows and messages that a small one would', async () => {
  const executionId = await start()
  await one(eventText(executionId, ''))
  await small(eventText(executionId, ''))
  await ingestLargeBatch(core, large(`{"execution_id":"${executionId}","events":[${eventText(executionId, '')}]}`))
  const [first, ...others] = await rows(executionId)
  expect(others).toHaveLength(2)
  for (const other of others) expect(other).toEqual(first)
  expect(first!['meta']).toContain('12345678901234567890')
})

it('is the same event when it comes again, small or large, and another one when anything differs', async () => {
  const executionId = await start()
  const id = `,"event_id":"${core.ids.next()}"`
  expect((await one(eventText(executionId, id))).kind).toBe('stored')
  expect((await one(eventText(executionId, id).replaceAll(',"', ' ,\n "'))).kind).toBe('duplicate')
  expect((await small(eventText(executionId, id))).kind).toBe('duplicate')
  await expect(one(eventText(executionId, id, 100_001))).rejects.toThrow(/already stored with other content/)
  await expect(small(eventText(executionId, id, 100_001))).rejects.toThrow(/already stored with other content/)
  const other = `,"event_id":"${core.ids.next()}"`
  expect((await small(eventText(executionId, other))).kind).toBe('stored')
  expect((await one(eventText(executionId, other))).kind).toBe('duplicate')
})

it('leaves no secret in the database, in the read model neither', async () => {
  const executionId = await start()
  const filler = 'x'.repeat(70_000)
  await one(
    `{"execution_id":"${executionId}","step":"s","event_type":"playbook.failed","status":"FAILED",
      "payload":{"error":"no way to postgres://u:${SECRET}@h/db","db_password":"${SECRET}","filler":"${filler}"},
      "meta":{"github_token":"${SECRET}"}}`,
  )
  const [execution] = await database
    .get()
    .sql<{ error: string }>('select error from noetl.execution where execution_id = $1', [executionId])
  expect(execution!.error).toMatch(/^no way to postgres:/)
  expect(await everyText(database.get())).not.toContain(SECRET)
})

it('takes from a batch no event that it would not take alone, and then nothing of it', async () => {
  const executionId = await start()
  const batch = (filler: number) =>
    `{"execution_id":"${executionId}","events":[${eventText(executionId, '', 10)},${eventText(executionId, '', filler)}]}`
  await expect(ingestLargeBatch(core, large(batch(4 * 1_048_576)))).rejects.toThrow(
    /\/events\/1 is larger than the 4 MB/,
  )
  expect(await rows(executionId)).toEqual([])
  await ingestLargeBatch(core, large(batch(4 * 1_048_576 - 1_000)))
  expect(await rows(executionId)).toHaveLength(2)
})
