// Promise: no text of the database holds a secret that came with an event, whichever way it came; the same event sent
// again is the same event; and the engine gets every secret back exactly as it was.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventId } from '../../src/domain/ids/ids.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { ingestBatch, ingestEvent, ingestMany } from '../../src/services/events/ingest.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { projectEnvelopes } from '../../src/services/projector/projector.js'
import { openEvents, sealFindings } from '../../src/services/secrets/sealedValues.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { everyText } from '../support/everyText.js'

const SECRET = 'hunter2-planted'
const database = useDatabase()
let core: TestCore

beforeAll(async () => {
  core = await openCore([database.get()])
  await registerPlaybook(core, 'tests/secrets')
})
afterAll(() => core.close())

const secrets: JsonObject = {
  db_password: SECRET,
  github_token: { value: SECRET },
  PGPASSWORD: SECRET,
  url: `postgres://u:${SECRET}@host/db`,
  call: `https://host/x?access_token=${SECRET}&page=2`,
  list: [{ 'X-Api-Key': SECRET }, `password=${SECRET}`],
  harmless: 2n ** 60n,
}
const start = async (payload: JsonObject = {}) =>
  (await startExecution(core, { path: 'tests/secrets', payload })).executionId as never

describe('what comes with an event', () => {
  it('is nowhere in the text of the database, whichever way it came', async () => {
    const executionId = await start(secrets)
    const event = { step: 's', event_type: 'call.done', payload: secrets, meta: secrets, error: `token=${SECRET}` }
    await ingestEvent(core, { execution_id: executionId, ...event, stack_trace: `at x (password: "${SECRET}")` })
    await ingestBatch(core, { execution_id: executionId, events: [event] })
    await ingestMany(core, [{ execution_id: executionId, ...event }])
    // A type may be any text.
    const named = { execution_id: executionId, step: 's', event_type: `postgres://u:${SECRET}@host/db`, payload: {} }
    await ingestEvent(core, named)
    await ingestMany(core, [named])
    const envelope = {
      execution_id: executionId,
      event_type: 'call.done',
      node_name: 'n',
      context: secrets,
      result: secrets,
    }
    const foreign = { ...envelope, event_id: core.ids.next(), meta: secrets, error: `Bearer ${SECRET}0123456789` }
    await projectEnvelopes(core, [{ value: foreign }], 'test')
    const namedEnvelope = { ...envelope, event_type: named.event_type, event_id: core.ids.next() }
    await projectEnvelopes(core, [{ value: namedEnvelope }], 'test')
    await endExecution(core, {
      executionId,
      outcome: 'CANCELLED',
      reason: `wrong password=${SECRET}`,
      error: `see postgres://u:${SECRET}@h`,
    })
    const text = await everyText(database.get())
    expect(text).toContain('[REDACTED]')
    expect(text).not.toContain(SECRET)
  })

  it('is the same event when it comes again, although it is sealed anew each time', async () => {
    const executionId = await start()
    const event = {
      execution_id: executionId,
      step: 's',
      event_type: 'call.done',
      event_id: core.ids.next(),
      payload: secrets,
    }
    expect(await ingestEvent(core, event)).toMatchObject({ kind: 'stored' })
    expect(await ingestEvent(core, event)).toMatchObject({ kind: 'duplicate' })
    await expect(ingestEvent(core, { ...event, payload: { ...secrets, harmless: 1 } })).rejects.toThrow(/other content/)
  })

  it('is the same event when it was stored before its names were known to be secret', async () => {
    const old = await openCore([database.get()], { hostName: 'older', redact: false })
    const executionId = await start()
    const event = {
      execution_id: executionId,
      step: 's',
      event_type: 'call.done',
      event_id: core.ids.next(),
      payload: secrets,
    }
    try {
      expect(await ingestEvent(old, event)).toMatchObject({ kind: 'stored' })
    } finally {
      await old.close()
    }
    expect(await ingestEvent(core, event)).toMatchObject({ kind: 'duplicate' })
    await database.get().sql('delete from noetl.event where execution_id = $1', [executionId])
    await database.get().sql('delete from noetl.outbox where execution_id = $1', [executionId])
  })
})

describe('opening', () => {
  it('gives the engine every value back, exactly, and says who asked', async () => {
    const executionId = await start(secrets)
    const token = { access_token: 'opaque-token-1', expires_in: 3600, id_token: 2n ** 70n }
    const done = await ingestEvent(core, {
      execution_id: executionId,
      step: 'login',
      event_type: 'call.done',
      payload: token,
      error: `password=${SECRET}`,
    })
    const ids = await database
      .get()
      .sql<{ event_id: EventId }>('select event_id from noetl.event where execution_id = $1 order by event_id', [
        executionId,
      ])
    const opened: unknown[] = []
    const events = await openEvents(
      { ...core, onOpened: (by, count) => opened.push([by, count]) },
      'engine',
      executionId,
      ids.map((row) => row.event_id),
    )
    expect(events).toHaveLength(2)
    expect(events[0]!.context).toMatchObject({ workload: secrets })
    expect(events[1]).toMatchObject({ result: { context: token }, error: `password=${SECRET}` })
    expect(opened).toEqual([['engine', 2]])
    expect(done).not.toHaveProperty('hidden')
  })

  it('needs the key, and doctor tells of one that is missing', async () => {
    const executionId = await start(secrets)
    const stranger = await openCore([database.get()], {
      hostName: 'stranger',
      secretKeys: ['another key of thirty-two characters'],
    })
    const [row] = await database
      .get()
      .sql<{ event_id: EventId }>('select event_id from noetl.event where execution_id = $1', [executionId])
    try {
      await expect(openEvents(stranger, 'engine', executionId, [row!.event_id])).rejects.toThrow(/not at hand/)
      await database.get().sql('insert into noetl.seal_key (key_id) values ($1)', [core.keyring.sealingKeyId!])
      expect(await sealFindings(stranger)).toMatchObject([
        { level: 'problem', finding: expect.stringContaining(core.keyring.sealingKeyId!) },
      ])
      expect(await sealFindings(core)).toEqual([])
    } finally {
      await stranger.close()
    }
  })
})
