// Promise: the list answers every subscription there is, oldest first, as far as 8 MB go, and then says where to go on.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import { subscriptionRoutes } from '../../src/http/routes/subscriptions/subscriptions.js'
import { createHttpServer, type HttpServer } from '../../src/http/server.js'
import { silentLog } from '../../src/runtime/log.js'
import { NO_RECORD, OPEN_ACCESS, testLimits } from '../http/httpHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
const COUNT = 25_000
const BYTES_MAX = 8 * 1_048_576
let core: TestCore
let http: HttpServer

beforeAll(async () => {
  core = await openCore([database.get()])
  const subscriptions = { ...core, bus: undefined }
  http = createHttpServer(
    subscriptionRoutes({ subscriptions }),
    {
      host: '127.0.0.1',
      port: 0,
      limits: testLimits(),
      requestTimeoutMs: 30_000,
      access: OPEN_ACCESS,
      version: 'test',
      secretRules: secretRules(),
      acts: NO_RECORD,
      readFlatBody: () => Promise.reject(new Error('not here')),
    },
    { log: silentLog },
  )
  await database.get().sql(
    `insert into noetl.subscription (subscription_id, path, catalog_id, state, last_event_type, last_event_id, updated_at)
     select n, repeat('long/', 60) || n, 1, case when n = 3 then 'UNKNOWN' when n % 2 = 0 then 'DEACTIVATED' else 'ACTIVE' end,
       'subscription.activated', n, now() from generate_series(1, $1::int) as n`,
    [COUNT],
  )
})
afterAll(async () => {
  await http.app.close()
  await core.close()
})

async function list(query: string) {
  const answer = await http.app.inject({ method: 'GET', url: `/api/subscriptions${query}` })
  const { subscriptions } = answer.json() as { subscriptions: { subscription_id: string; state: string }[] }
  return { answer, subscriptions, next: answer.headers['x-noetl-next-cursor'] as string | undefined }
}

it('goes on from answer to answer, each within its bytes, and leaves nothing out', async () => {
  const found: string[] = []
  let answers = 0
  for (let cursor = ''; ; ) {
    const { answer, subscriptions, next } = await list(cursor)
    expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(BYTES_MAX + 100)
    expect(answer.headers['x-noetl-has-more']).toBe(String(next !== undefined))
    found.push(...subscriptions.map((row) => row.subscription_id))
    answers += 1
    if (next === undefined) break
    expect(next).toBe(found.at(-1))
    cursor = `?cursor=${next}`
  }
  expect(found).toEqual(Array.from({ length: COUNT }, (_, n) => String(n + 1)))
  expect(answers).toBeGreaterThan(1)
  expect(answers).toBeLessThan(4)
})

it('answers in one piece what fits, shows a status that nobody knows, and takes a limit', async () => {
  const { subscriptions, next } = await list('?state=unknown')
  expect(subscriptions.map((row) => [row.subscription_id, row.state])).toEqual([['3', 'UNKNOWN']])
  expect(next).toBeUndefined()
  const page = await list('?limit=2&state=active&cursor=3')
  expect(page.subscriptions.map((row) => row.subscription_id)).toEqual(['5', '7'])
  expect(page.next).toBe('7')
})
