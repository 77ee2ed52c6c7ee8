// Promise: answers are bounded in bytes, not only in rows. A page of large events keeps its rows and says where to get what
// it leaves out; a page of large documents ends early and says where to go on; nothing that is stored is out of reach.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { expectUnmoved } from './underAttack.js'

const MB = 1_048_576
const PAGE_BYTES = 8 * MB
const EVENTS = 60
/** Several pages, and together far more than an answer may cost. */
const DOCUMENTS = 60
let database: TestDatabase
let daemon: Daemon
let executionId: string

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: { NOETL_DATABASE_URL: database.url, NODE_OPTIONS: '--max-old-space-size=512' },
  })
  await post('/api/catalog/register', { content: playbook('tests/large') })
  executionId = (await post('/api/execute', { path: 'tests/large', driven: false })).body.execution_id
  // Texts that compress well, texts that do not, and many of a size that is fine alone.
  await database.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, result, created_at)
     select $1, (select max(event_id) from noetl.event) + n, 0, 'step.exit', 'step' || n, 'COMPLETED',
       jsonb_build_object('status', 'COMPLETED', 'context', jsonb_build_object('n', n, 'text',
         case n % 3 when 0 then repeat('x', 4000000)
           when 1 then (select string_agg(md5(random()::text), '') from generate_series(1, 12000 + 0 * n))
           else (select string_agg(md5(random()::text), '') from generate_series(1, 7500 + 0 * n)) end)), now()
     from generate_series(1, ${EVENTS}) as n`,
    [executionId],
  )
  await database.sql(
    `insert into noetl.catalog (catalog_id, path, version, kind, content, created_at)
     select n, 'tests/document' || n, 1, 'playbook', repeat('y', 1000000) || n, now() at time zone 'utc' - n * interval '1 second'
     from generate_series(1, ${DOCUMENTS}) as n`,
  )
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

async function ask(method: string, path: string, body?: object) {
  const response = await fetch(new URL(path, daemon.url), {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  return { status: response.status, bytes: text.length, body: JSON.parse(text) as Record<string, any> }
}
const get = (path: string) => ask('GET', path)
const post = (path: string, body: object) => ask('POST', path, body)

describe('an execution with events of 4 MB', () => {
  it('is a page of all of them, and each is to be had in full', async () => {
    const answer = await get(`/api/executions/${executionId}`)
    expect(answer.status).toBe(200)
    expect(answer.bytes).toBeLessThan(PAGE_BYTES + MB)
    const events: Record<string, any>[] = answer.body['events'].toReversed().slice(1)
    expect(events.map((event) => event['node_name'])).toEqual(Array.from({ length: EVENTS }, (_, n) => `step${n + 1}`))
    const whole = events.filter((event) => event['result'].context !== undefined)
    // Those of 240 KB, and none of 380 KB or 4 MB.
    expect(whole.length).toBe(20)
    for (const event of whole) expect(event['result'].context.text.length).toBe(240_000)
    for (const [n, size] of [
      [3, 4_000_000],
      [1, 384_000],
    ] as const) {
      const reference = events[n - 1]!['result']
      expect(reference).toEqual({
        _left_out: `/api/executions/${executionId}/events/${answerId(reference)}`,
        _reason: expect.any(String),
      })
      const found = await get(reference._left_out)
      expect(found.body['result'].context.text.length).toBe(size)
      expect(found.body['node_name']).toBe(`step${n}`)
    }
    expect((await get(`/api/executions/${executionId}/events/1`)).status).toBe(404)
  })

  it('costs its page and no more, however often it is asked for', async () => {
    await expectUnmoved(daemon, 350, async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => get(`/api/executions/${executionId}`)))
      for (const { status } of answers) expect(status).toBe(200)
    })
  })
})

/** Ids are above 2^53: the digits are in the reference itself. */
function answerId(reference: Record<string, any>): string {
  return String(reference['_left_out']).split('/').pop()!
}

describe('a catalog with documents of 1 MB', () => {
  it('is listed in pages that end early and go on', async () => {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await post('/api/catalog/list', cursor === undefined ? {} : { cursor })
      expect(page.status).toBe(200)
      expect(page.bytes).toBeLessThan(PAGE_BYTES + 2 * MB)
      seen.push(...page.body['entries'].map((entry: Record<string, string>) => entry['path']))
      cursor = page.body['next_cursor']
    } while (cursor !== undefined)
    expect(seen).toHaveLength(DOCUMENTS + 1)
    expect(new Set(seen).size).toBe(DOCUMENTS + 1)
  })
  it('is listed at once without them', async () => {
    const page = await post('/api/catalog/list', { include_content: false })
    expect(page.body['entries']).toHaveLength(DOCUMENTS + 1)
    expect(page.body['next_cursor']).toBeUndefined()
    expect(page.bytes).toBeLessThan(MB)
    expect(Object.keys(page.body['entries'][0])).toEqual([
      'catalog_id',
      'path',
      'kind',
      'version',
      'meta',
      'created_at',
      'archived_at',
    ])
  })
  it('costs its page and no more, however often it is asked for', async () => {
    await expectUnmoved(daemon, 350, async () => {
      const pages = await Promise.all(Array.from({ length: 12 }, () => post('/api/catalog/list', {})))
      for (const { status } of pages) expect(status).toBe(200)
    })
  })
})
