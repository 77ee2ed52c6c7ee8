// Promise: what a subscription needs and does not have is named at once, by the one who activates it, by doctor, by the
// daemon on the row, and before the first message; nothing is named when all is there.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import { CpError } from '../../src/errors.js'
import { subscriptionRoutes } from '../../src/http/routes/subscriptions/subscriptions.js'
import { createHttpServer } from '../../src/http/server.js'
import { silentLog } from '../../src/runtime/log.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { subscriptionFindings } from '../../src/services/subscriptions/doctor.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { createListenerWatch } from '../../src/services/subscriptions/listenerWatch.js'
import { keepDead } from '../../src/stores/subscriptions/subscriptionDeliveryStore.js'
import { NO_RECORD, OPEN_ACCESS, testLimits } from '../http/httpHarness.js'
import { cli } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { until } from '../support/until.js'
import { openPullRuntime, type PullRuntime } from './runtime.js'
import { pullDocument, pushDocument } from './specs.js'

let runtime: PullRuntime
let env: Record<string, string>
let secret: string | undefined

beforeAll(async () => {
  const servers = inject('servers')
  runtime = await openPullRuntime(servers)
  await runtime.jsm.streams.add({ name: 'OBSTACLES', subjects: ['obstacles.>'] })
  env = {
    NOETL_DATABASE_URL: runtime.shards[0]!.url,
    NOETL_NATS_URL: servers.natsUrl,
    NOETL_NATS_TOKEN: servers.natsToken,
  }
})
afterAll(() => runtime.close())

const secretOf = (): string => {
  if (secret === undefined) throw new CpError('config', 'the secret test_hook is not there')
  return secret
}

async function registered(content: string): Promise<string> {
  const core = runtime.cores[0]!
  const { path } = await registerEntry(core, { content })
  return (await registerSubscription(core, path)).row.subscription_id
}

const findingsOf = async (id: string): Promise<string[]> =>
  (await subscriptionFindings({ ...runtime.cores[0]!, bus: runtime.buses[0] }))
    .filter(({ where }) => where === `subscription ${id}`)
    .map(({ level, finding }) => `${level}: ${finding}`)

it.each([
  ['stream', pullDocument({ path: 'tests/no-stream', stream: 'NOWHERE' }), 'the stream NOWHERE does not exist'],
  [
    'subject',
    pullDocument({ path: 'tests/no-subject', subject: 'nobody.has' }),
    'no stream has the subject nobody.has',
  ],
  [
    'playbook',
    pullDocument({ path: 'tests/no-playbook', stream: 'OBSTACLES', playbook: 'tests/nowhere' }),
    'the playbook tests/nowhere is not in the catalog',
  ],
  [
    'pool',
    pullDocument({ path: 'tests/no-pool', stream: 'OBSTACLES' }).replace(
      'playbook: tests/handler',
      'playbook: tests/handler\n    execution_pool: gpu',
    ),
    'no worker pool named gpu is alive',
  ],
])('a missing %s is named by activate and by doctor', async (_, content, words) => {
  const id = await registered(content)
  const activated = await cli(['subscription', 'activate', id], { env })
  expect(activated).toMatchObject({ code: 0, stderr: expect.stringContaining(words) })
  expect((await findingsOf(id)).filter((finding) => finding.includes(words))).toHaveLength(1)
  const shown = await cli(['subscription', 'activate', id, '--json'], { env })
  expect(JSON.parse(shown.stdout).obstacles).toEqual([expect.stringContaining(words)])
  await changeSubscription(runtime.cores[0]!, { id, action: 'deactivate' })
})

it('nothing is named when all is there', async () => {
  const id = await registered(pullDocument({ path: 'tests/all-there', stream: 'OBSTACLES' }))
  const activated = await cli(['subscription', 'activate', id, '--json'], { env })
  expect(JSON.parse(activated.stdout)).toMatchObject({ state: 'ACTIVE', obstacles: [] })
  await changeSubscription(runtime.cores[0]!, { id, action: 'deactivate' })
})

it('a missing secret or playbook of a listener is on the row as soon as it is active, and goes when it is mended', async () => {
  const core = runtime.cores[0]!
  const told: (string | null)[] = []
  const watch = createListenerWatch({
    ...core,
    bus: runtime.buses[0],
    secretOf,
    random: () => 0.5,
    onTrouble: (_row, trouble) => told.push(trouble),
    onError: (error) => {
      throw error
    },
  })
  await watch.start()
  const id = await registered(
    pushDocument({ path: 'tests/no-secret', listener: 'no-secret' }).replace('tests/handler', 'tests/later'),
  )
  await changeSubscription(core, { id, action: 'activate' })
  watch.nudge()
  const trouble = async () => (await findSubscription(core, id)).trouble
  await until('both are named', async () => /tests\/later.*test_hook/.test((await trouble()) ?? ''))
  expect((await cli(['subscription', 'resume', id], { env })).stderr).toContain('tests/later')
  expect(JSON.parse((await cli(['status', '--json'], { env })).stdout).subscriptions.in_trouble).toEqual([
    { subscription_id: id, path: 'tests/no-secret', trouble: await trouble() },
  ])
  secret = 'here'
  await registerEntry(core, { content: playbook('tests/later') })
  watch.nudge()
  await until('it is over', async () => (await trouble()) === null)
  await watch.stop(1_000)
  expect(told).toEqual([expect.stringContaining('test_hook'), null])
})

it('the route says so in a header', async () => {
  const http = createHttpServer(
    subscriptionRoutes({ subscriptions: { ...runtime.cores[0]!, bus: runtime.buses[0], secretOf } }),
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
  const id = await registered(pullDocument({ path: 'tests/header', stream: 'NOWHERE' }))
  const answer = await http.app.inject({ method: 'POST', url: `/api/subscriptions/${id}/activate` })
  expect(answer.headers['x-noetl-trouble']).toContain('NOWHERE')
  const paused = await http.app.inject({ method: 'POST', url: `/api/subscriptions/${id}/pause` })
  expect(paused.headers['x-noetl-trouble']).toBeUndefined()
  await http.app.close()
})

it('given-up messages can be dropped for good', async () => {
  const { db } = runtime.cores[0]!.databases.cluster
  const ids: string[] = []
  for (const identity of ['nats:S:1', 'nats:S:2', 'nats:S:3']) {
    const message = { subscriptionId: '7', identity, subject: 's', headers: {}, reason: 'x', attempts: 1 }
    await keepDead(db, { ...message, body: Buffer.from('{}') })
  }
  const list = async () =>
    JSON.parse((await cli(['subscription', 'dead', 'list', '--json'], { env })).stdout).dead_letters as {
      dead_letter_id: string
    }[]
  ids.push(...(await list()).map((row) => row.dead_letter_id))
  const drop = (...args: string[]) => cli(['subscription', 'dead', 'drop', ...args], { env })
  expect((await drop(ids[0]!)).code).toBe(2)
  expect((await drop('--yes')).code).toBe(2)
  expect(await drop(ids[0]!, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 message(s) dropped'),
  })
  expect(await drop(ids[0]!, ids[1]!, '--yes')).toMatchObject({ code: 3, stderr: expect.stringContaining(ids[0]!) })
  expect((await list()).map((row) => row.dead_letter_id)).toEqual([ids[2]])
  expect((await drop('--all', '--subscription', '7', '--yes')).code).toBe(0)
  expect(await list()).toEqual([])
})
