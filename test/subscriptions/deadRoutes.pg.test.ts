// Promise: given-up messages over HTTP are those of `subscription dead list`, page by page; starting them again tells of
// each what became of it, and one that may not start stays.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deadLetterRoutes } from '../../src/http/routes/subscriptions/dead.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { pageOfDead, redriveDead } from '../../src/services/subscriptions/deadLetters.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { verboseStatusOf } from '../../src/services/subscriptions/views.js'
import { cli } from '../support/cli.js'
import { openCore, playbook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { openRoutes, type RouteServer } from '../support/routeServer.js'
import { pullDocument } from './specs.js'

const database = useDatabase()
let core: TestCore
let api: RouteServer

beforeAll(async () => {
  core = await openCore([database.get()])
  api = openRoutes(deadLetterRoutes({ deadLetters: core }))
})
afterAll(async () => {
  await api.close()
  await core.close()
})

it('lists them as the command does, and refuses to start those of a subscription that is not active', async () => {
  await registerEntry(core, { content: pullDocument({ path: 'subs/dead' }) })
  const { row } = await registerSubscription(core, 'subs/dead', {})
  expect(verboseStatusOf(row)['allowed_actions']).toEqual(['activate', 'deactivate'])
  const id = row.subscription_id
  await database.get().sql(
    `insert into noetl.subscription_dead_letter (subscription_id, identity, subject, body, reason, attempts)
     select $1::bigint, 'nats:s:' || n, 's', '{}', 'no playbook', 3 from generate_series(1, 3) as n`,
    [id],
  )
  const ran = await cli(['subscription', 'dead', 'list', '--json'], { env: { NOETL_DATABASE_URL: database.get().url } })
  const listed = JSON.parse(ran.stdout).dead_letters
  const first = (await api.get('/api/subscriptions/dead?limit=2')).body
  const rest = (await api.get(`/api/subscriptions/dead?subscription_id=${id}&after=${listed[1].dead_letter_id}`)).body
  expect([first.has_more, rest.has_more]).toEqual([true, false])
  expect([...first.dead_letters, ...rest.dead_letters]).toEqual(listed)
  const ids = [listed[0].dead_letter_id, '999']
  const { results } = (await api.post('/api/subscriptions/dead/redrive', { ids })).body
  expect(results).toMatchObject([
    { id: ids[0], outcome: 'refused', reason: expect.stringContaining('is REGISTERED') },
    { id: '999', outcome: 'refused', reason: expect.stringContaining('no given-up message') },
  ])
  expect((await api.get('/api/subscriptions/dead')).body.dead_letters).toEqual(listed)
})

it('shows what the messages hold on request, without secrets, and of a large one no more than is safe', async () => {
  await registerEntry(core, { content: pullDocument({ path: 'subs/held', subject: 'held' }) })
  const { subscription_id: id } = (await registerSubscription(core, 'subs/held', {})).row
  const bodies = [
    '{"n": 9007199254740993, "password": {"v": "hunter22"}}',
    'order 17, password=hunter22',
    JSON.stringify({ list: 'x'.repeat(20_000), password: 'hunter22' }),
    `ä${'x'.repeat(20_000)}`,
    '',
  ]
  await database.get().sql(
    `insert into noetl.subscription_dead_letter (subscription_id, identity, subject, headers, body, reason, attempts)
     select $1::bigint, 'nats:held:' || n, 's', '{"Authorization": "Bearer hunter22", "Trace": "t1"}', convert_to(body, 'utf8'), 'refused', 3
     from unnest($2::text[]) with ordinality as given (body, n)`,
    [id, bodies],
  )
  const asked = await api.get(`/api/subscriptions/dead?subscription_id=${id}&body=true`)
  expect(asked.text).not.toContain('hunter22')
  expect(asked.text).toContain('9007199254740993')
  const shown = asked.body.dead_letters.map(({ body }: { body: unknown }) => body)
  expect(shown[0].password).toBe('[REDACTED]')
  expect(shown[1]).toMatch(/^order 17, password=/)
  expect([shown[2], shown[3].length, shown[4]]).toEqual([null, 1_024, ''])
  expect(asked.body.dead_letters[0].headers).toEqual({ Authorization: '[REDACTED]', Trace: 't1' })
  const [plain] = (await api.get(`/api/subscriptions/dead?subscription_id=${id}`)).body.dead_letters
  expect(plain).not.toHaveProperty('body')
})

it('starts any number of them at once with two connections, and each of them once', async () => {
  await registerEntry(core, { content: playbook('tests/handler') })
  await registerEntry(core, { content: pullDocument({ path: 'subs/redriven', subject: 'redriven', stream: 's' }) })
  const { row } = await registerSubscription(core, 'subs/redriven', {})
  const id = row.subscription_id
  await changeSubscription(core, { id, action: 'activate' })
  const rows = await database.get().sql<{ dead_letter_id: string }>(
    `insert into noetl.subscription_dead_letter (subscription_id, identity, subject, body, reason, attempts)
     select $1::bigint, 'nats:s:' || n, 's', convert_to('{"n": ' || n || '}', 'utf8'), 'no playbook', 3 from generate_series(1, 6) as n
     returning dead_letter_id::text as dead_letter_id`,
    [id],
  )
  const ids = rows.map((dead) => dead.dead_letter_id)
  // A list that is refused has started none of its beginning.
  expect((await api.post('/api/subscriptions/dead/redrive', { ids: [ids[0], '007'] })).status).toBe(400)
  expect(await pageOfDead(core, id, '0', 10)).toHaveLength(ids.length)
  const narrow = await openCore([database.get()], { connectionsMax: 2, machineId: '7' })
  try {
    const asked = await Promise.allSettled([...ids, ...ids].map((one) => redriveDead(narrow, one)))
    const outcomes = asked.map((one) => (one.status === 'fulfilled' ? one.value.outcome : one.reason.code))
    expect(outcomes.filter((outcome) => outcome === 'started')).toHaveLength(ids.length)
    // Who asks later finds it started, or gone.
    expect(outcomes.filter((outcome) => !['started', 'duplicate', 'not_found'].includes(outcome))).toEqual([])
  } finally {
    await narrow.close()
  }
  expect(await pageOfDead(core, id, '0', 10)).toEqual([])
})
