// Promise: the replay routes answer with the exact document, say in headers and keys what there is to say about it,
// and refuse nonsense with 400 and a sentence.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import { replayRoutes } from '../../src/http/routes/replay/replay.js'
import { createHttpServer, type HttpServer } from '../../src/http/server.js'
import { silentLog } from '../../src/runtime/log.js'
import { takeSeed } from '../../src/services/replay/seeds.js'
import { NO_RECORD, OPEN_ACCESS, testLimits } from '../http/httpHarness.js'
import { useDatabase } from '../support/database.js'
import { type Harness, openReplay, plantLog, replay } from './replayHarness.js'
import { readVectors } from './replayVectors.js'

const database = useDatabase()
let harness: Harness
let server: HttpServer

beforeAll(async () => {
  harness = openReplay(database.get())
  server = createHttpServer(
    replayRoutes({ replay: harness, replayProfile: 'cp' }),
    {
      host: '127.0.0.1',
      port: 0,
      limits: testLimits(),
      requestTimeoutMs: 30_000,
      access: { ...OPEN_ACCESS, isLocal: false },
      version: 'test',
      secretRules: secretRules(),
      acts: NO_RECORD,
      readFlatBody: () => Promise.reject(new Error('not here')),
    },
    { log: silentLog },
  )
  const log = readVectors('replay')[0]!.input['log'] as JsonObject[]
  const own = log.filter((row) => (row['tenant_id'] ?? 'default') === 'default')
  await plantLog(
    database.get(),
    own.map((row, index) => ({ ...row, stream_version: index + 1 })),
  )
  await plantLog(database.get(), [
    {
      execution_id: 9100,
      event_id: 1,
      event_type: 'thing.updated',
      meta: { business_object: { type: 'account', id: 1, state: { password: { plain: 'x' } } } },
    },
  ])
})
afterAll(async () => {
  await server.app.close()
  await harness.close()
})

async function get(url: string) {
  const { statusCode, headers, payload } = await server.app.inject({ method: 'GET', url })
  return { status: statusCode, headers, text: payload, body: parseJson(payload) as JsonObject }
}

describe('GET /api/replay/state', () => {
  it('answers with the document of the service and the remarks of the profile', async () => {
    const expected = await replay(harness, { execution_id: '9001' })
    const found = await get('/api/replay/state?execution_id=9001')
    expect(found.status).toBe(200)
    expect(found.body).toMatchObject({ truncated: false, next_event_id: null, checksum: expected.checksum })
    const { truncated: _t, next_event_id: _n, may_change: mayChange, warnings, ...state } = found.body
    expect(mayChange).toBe(false)
    expect(warnings).toEqual([])
    expect(state).toEqual(expected.state)
    expect(found.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-noetl-checksum': expected.checksum,
      'x-noetl-truncated': 'false',
      'x-noetl-fold-profile': 'cp',
    })
  })

  it('says that an answer about a time that is not over may change', async () => {
    const found = await get('/api/replay/state?execution_id=9001&as_of_time=2100-01-01T00:00:00Z')
    expect(found.body['may_change']).toBe(true)
    expect(found.headers['x-noetl-may-change']).toBe('true')
    const diff = await get('/api/replay/diff?execution_id=9001&from=version:1&to=time:2100-01-01T00:00:00Z')
    expect(diff.body).toMatchObject({ from: { may_change: false }, to: { may_change: true } })
  })

  it('says that a limited answer is partial, in both profiles', async () => {
    const cp = await get('/api/replay/state?execution_id=9001&limit=3')
    expect(cp.body).toMatchObject({ truncated: true, next_event_id: 115, event_count: 3 })
    const python = await get('/api/replay/state?execution_id=9001&limit=3&profile=python')
    expect(python.headers).toMatchObject({ 'x-noetl-truncated': 'true', 'x-noetl-next-event-id': '115' })
    expect(python.body['truncated']).toBeUndefined()
    expect((await get('/api/replay/state?execution_id=9001&limit=-4')).body['event_count']).toBe(1)
  })

  it('hides secrets that others wrote, in both profiles, and says so', async () => {
    for (const profile of ['python', 'cp']) {
      const found = await get(`/api/replay/state?execution_id=9100&profile=${profile}`)
      expect(found.headers['x-noetl-redacted']).toBe('true')
      expect(found.text).toContain('[REDACTED]')
      const clean = await get(`/api/replay/state?execution_id=9001&profile=${profile}`)
      expect(clean.headers['x-noetl-redacted']).toBe('false')
    }
  })

  it('starts from a snapshot when asked, with the same answer', async () => {
    const log = { executionId: '9001', tenantId: 'default', organizationId: 'default' }
    await takeSeed(harness, log)
    const full = await get('/api/replay/state?execution_id=9001')
    const seeded = await get('/api/replay/state?execution_id=9001&from_snapshot=true')
    expect(seeded.headers['x-noetl-seed']).toBe('used')
    expect(seeded.text).toBe(full.text)
  })

  it('reports payload references without reading them', async () => {
    const found = await get('/api/replay/state?execution_id=9001&resolve_payloads=yes')
    expect(found.body['payload_resolution_summary']).toMatchObject({ resolved: 0, all_resolved: false })
  })

  it.each([
    ['', /execution_id is missing/],
    ['execution_id=abc', /execution_id must be a 64-bit integer/],
    ['execution_id=1&as_of_event_id=1&as_of_position=1', /Use only one replay cutoff/],
    ['execution_id=1&as_of_time=yesterday', /as_of_time/],
    ['execution_id=1&projection=everything', /unknown projection/],
    ['execution_id=1&limit=many', /limit must be an integer/],
    ['execution_id=1&profile=rust', /profile must be one of/],
    ['execution_id=1&as_of_evnt_id=5', /unknown parameter as_of_evnt_id/],
    ['execution_id=1&execution_id=2', /more than once/],
  ])('refuses ?%s', async (query, message) => {
    const found = await get(`/api/replay/state?${query}`)
    expect(found.body).toMatchObject({ status: 400, error: expect.stringMatching(message) })
    expect(found.status).toBe(400)
  })
})

describe('GET /api/replay/diff', () => {
  it('lists what changed', async () => {
    const found = await get('/api/replay/diff?execution_id=9001&from=event:130&to=now')
    expect(found.body).toMatchObject({ equal: false, from: { moment: 'event:130' }, to: { moment: 'now' } })
    expect(found.body['differences']).toContainEqual({
      pointer: '/execution/status',
      kind: 'changed',
      from: 'RUNNING',
      to: 'COMPLETED',
    })
    expect((await get('/api/replay/diff?execution_id=9001&from=now')).body).toMatchObject({ equal: true, count: 0 })
  })

  it('refuses moments that are none', async () => {
    expect(await get('/api/replay/diff?execution_id=9001')).toMatchObject({ status: 400 })
    expect(await get('/api/replay/diff?execution_id=9001&from=5')).toMatchObject({ status: 400 })
    expect(await get('/api/replay/diff?execution_id=9100&from=snapshot')).toMatchObject({ status: 404 })
  })
})
