// Promise: /api/stream rings for what this and another daemon write, for acts and for subscriptions, and for nothing else;
// what is no topic is refused; a session that has ended ends its stream.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { streamRoutes } from '../../src/http/routes/console/stream.js'
import { createHttpServer, type HttpServer } from '../../src/http/server.js'
import { systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { createActs } from '../../src/services/access/acts.js'
import { createNewsBoard, type NewsBoard } from '../../src/services/console/newsBoard.js'
import { createNewsSources, type NewsSources } from '../../src/services/console/newsSources.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { createInstanceOverview } from '../../src/services/health/instanceOverview.js'
import { NO_RECORD, OPEN_ACCESS, testLimits } from '../http/httpHarness.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore
let other: TestCore
let board: NewsBoard
let sources: NewsSources
let server: HttpServer
let tokens: string[] = []
const errors: string[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  other = await openCore([database.get()])
  await registerPlaybook(core, 'tests/stream')
  board = createNewsBoard({ clock: systemClock, onListener: () => sources.nudge(), limits: { rightsMs: 50 } })
  sources = createNewsSources({
    databases: core.databases,
    board,
    instance: createInstanceOverview({
      databases: core.databases,
      documents: core.documents,
      bus: undefined,
      health: { report: () => ({ ready: true, checks: [] }) },
      clock: systemClock,
    }),
    clock: systemClock,
    random: Math.random,
    onError: (error) => errors.push(error.message),
  })
  core.appender.onAppended((_, ids) => sources.appended(ids))
  server = createHttpServer(
    streamRoutes({ news: board, console: { version: '1.2.3', isReadOnly: false } }),
    {
      host: '127.0.0.1',
      port: 0,
      limits: testLimits(),
      requestTimeoutMs: 30_000,
      access: {
        ...OPEN_ACCESS,
        get apiTokens() {
          return tokens
        },
      },
      version: 'test',
      secretRules: null,
      acts: NO_RECORD,
      readFlatBody: () => Promise.reject(new Error('not here')),
    },
    { log: silentLog },
  )
  await sources.start()
  await server.start()
})
afterAll(async () => {
  await board.stop(1_000)
  await server.stop(10_000)
  await sources.stop(10_000)
  await other.close()
  await core.close()
  expect(errors).toEqual([])
})
beforeEach(() => {
  tokens = []
})

interface Message {
  id?: string
  name: string
  data: any
}

async function open(topics: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  const answer = await fetch(`${server.url()}/api/stream?topics=${topics}`, { headers, signal: leaving.signal })
  const heard: Message[] = []
  let isOver = false
  const reading = (async () => {
    let rest = ''
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop()!
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
        const data = field('data')
        if (data !== undefined) heard.push({ id: field('id')!, name: field('event')!, data: JSON.parse(data) })
      }
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      isOver = true
    })
  return {
    answer,
    heard,
    isOver: () => isOver,
    until: (what: string, is: (message: Message) => boolean) => until(what, () => heard.find(is)),
    leave: async () => {
      leaving.abort()
      await reading
    },
  }
}

const start = (by: TestCore) => startExecution(by, { path: 'tests/stream' }).then(({ executionId }) => executionId)
const append = (by: TestCore, executionId: string, nodeName: string) =>
  by.appender.append([
    {
      event: {
        executionId: executionId as never,
        eventId: by.ids.next() as never,
        eventType: 'step.enter',
        nodeName,
        tenantId: 'default',
        organizationId: 'default',
        createdAt: '2026-03-01T10:00:00.000000+00:00' as never,
        createdAtGiven: false,
      },
      idGiven: false,
      publish: true,
      createExecution: false,
    },
  ])

it('rings for the executions it was asked for, whoever writes to them', async () => {
  const [mine, foreign] = [await start(core), await start(core)]
  const stream = await open(`execution:${mine}`)
  expect(stream.answer.headers.get('content-type')).toContain('text/event-stream')
  expect(stream.answer.headers.get('x-accel-buffering')).toBe('no')
  await stream.until('it is greeted', ({ name, data }) => name === 'hello' && data.version === '1.2.3' && data.reset)
  await append(core, foreign, 'elsewhere')
  await append(core, mine, 'here')
  await stream.until('its own write is told', ({ data }) => data.step === 'here' && data.version === '2')
  await append(other, mine, 'there')
  await stream.until('the other daemon is heard', ({ data }) => data.step === 'there' && data.version === '3')
  expect(stream.heard.filter(({ name }) => name !== 'hello').map(({ data }) => data.id)).not.toContain(foreign)
  await stream.leave()
  await until('it is forgotten', () => board.clients() === 0)
})

it('rings for the list, acts and subscriptions, and goes on after a break', async () => {
  const stream = await open('executions,activity,subscriptions,overview,outbox')
  const id = await start(other)
  await stream.until(
    'a start elsewhere is told',
    ({ name, data }) => name === 'executions' && data.changed.some((one: { id: string }) => one.id === id),
  )
  await stream.until('the overview is told', ({ name, data }) => name === 'overview' && data.ready === true)
  const acts = createActs({ databases: core.databases, secretRules: null, onUnfinished: () => undefined })
  const act = { actor: 'a', role: 'operator', via: 'cli', action: 'x', targetKind: null, targetId: null, reason: null }
  await acts.around({ ...act, via: 'cli', request: null }, async () => undefined)
  const acted = await stream.until('an act is told', ({ name, data }) => name === 'activity' && data.id !== null)
  await stream.leave()

  await database
    .get()
    .sql(`insert into noetl.subscription (subscription_id, path, catalog_id, state) values (5, 's', 1, 'ACTIVE')`)
  const later = await start(core)
  const back = await open('executions,subscriptions', { 'last-event-id': acted.id! })
  await back.until('it goes on', ({ name, data }) => name === 'hello' && data.reset === false)
  await back.until(
    'what happened meanwhile is told',
    ({ name, data }) => name === 'executions' && data.changed.some((one: { id: string }) => one.id === later),
  )
  await back.until('subscriptions are told', ({ name }) => name === 'subscription')
  await back.leave()
})

it('looks sooner when others give a hint, without waiting for its time', async () => {
  const id = await start(core)
  const told: string[] = []
  const hinted = createNewsSources({
    databases: core.databases,
    board: {
      topics: () => new Set([`execution:${id}`]),
      post: (_topic, _name, data) => told.push(String(data['step'])),
    },
    instance: () => Promise.reject(new Error('nobody asks for it')),
    // Its own time never comes: only what wakes it does.
    clock: {
      ...systemClock,
      sleep: (ms, ...signals) => systemClock.sleep(ms >= 500 ? 3_600_000 : ms, ...signals),
    },
    random: Math.random,
    onError: (error) => errors.push(error.message),
  })
  await hinted.start()
  await until('it has looked once', () => told.length === 1)
  await append(other, id, 'there')
  hinted.hinted()
  await until('the other daemon is heard', () => told.at(-1) === 'there')
  for (let more = 0; more < 100; more++) hinted.hinted()
  await append(other, id, 'again')
  hinted.hinted()
  await until('and again', () => told.at(-1) === 'again')
  await hinted.stop(10_000)
})

it('refuses what is no topic, and more than it can follow', async () => {
  for (const topics of ['weather', 'execution:x', Array.from({ length: 21 }, (_, n) => `execution:${n + 1}`).join()]) {
    const answer = await fetch(`${server.url()}/api/stream?topics=${topics}`)
    expect(answer.status, topics).toBe(400)
    await answer.arrayBuffer()
  }
})

it('ends when the right to listen does', async () => {
  tokens = ['first']
  const refused = await fetch(`${server.url()}/api/stream`)
  expect(refused.status).toBe(403)
  await refused.arrayBuffer()
  const stream = await open('overview', { authorization: 'Bearer first' })
  await stream.until('it is greeted', ({ name, data }) => name === 'hello' && data.role === 'writer')
  tokens = ['second']
  await stream.until('it is told why', ({ name, data }) => name === 'bye' && data.reason.includes('log in again'))
  await until('the stream ends', () => stream.isOver())
})
