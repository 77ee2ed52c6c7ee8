// Promise: what people and workers ask about commands is answered: by the command line in a terminal of 80 columns, by routes
// that say what is wrong with a bad call and change nothing by it, and by the call-back of a container.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { cli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { type Answer, doneWith, eventText, post } from './foreignWorker.js'

const TOKEN = 'internal-token-of-the-test'
const database = useDatabase()
let daemon: Daemon

beforeAll(async () => {
  const env = {
    NOETL_DATABASE_URL: database.get().url,
    NOETL_INTERNAL_API_TOKEN: TOKEN,
    NOETL_CP_WORKER: 'false',
    NOETL_CP_RESULT_LIMIT_MB: '1',
    NOETL_CP_RESULT_QUOTA_MB: '1',
  }
  daemon = await startDaemon([], { env })
})
afterAll(async () => {
  await daemon?.stop()
})

interface Call {
  method?: string
  path: string
  body?: unknown
  token?: string
}

async function call({ method = 'POST', path, body, token }: Call): Promise<Answer> {
  const answer = await fetch(new URL(path, daemon.url), {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, text, body: JSON.parse(text), headers: answer.headers }
}

interface Held {
  pool: string
  executionId: string
  eventId: string
  claimed: Answer
}

const ONE = 'workflow:\n- {step: a, tool: {kind: container, image: x}}\n'

/** A command alone in its pool. */
async function issued(workflow = ONE): Promise<Pick<Held, 'pool' | 'executionId'>> {
  const pool = `p${randomBytes(4).toString('hex')}`
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: surface/${pool}}\n${workflow}`
  expect((await post(daemon.url, '/api/catalog/register', { content })).status).toBe(200)
  const started = await post(daemon.url, '/api/execute', { path: `surface/${pool}`, execution_pool: pool })
  return { pool, executionId: /"execution_id":"?(\d+)/.exec(started.text)![1]! }
}

/** A command in the hands of worker w. */
async function heldCommand(workflow = ONE, leaseSeconds = 120): Promise<Held> {
  const { pool, executionId } = await issued(workflow)
  const wanted = { worker_id: 'w', pools: [pool], wait_seconds: 30, lease_seconds: leaseSeconds }
  const eventId = /"event_id":(\d+)/.exec((await post(daemon.url, '/api/commands/claim', wanted)).text)![1]!
  const claimed = await post(daemon.url, `/api/commands/${eventId}/claim`, { worker_id: 'w' })
  return { pool, executionId, eventId, claimed }
}

const say = ({ claimed }: Held, type: string, said: Parameters<typeof eventText>[3]) =>
  post(daemon.url, '/api/events', eventText(claimed, 'w', type, said))
const completed = { status: 'success', payload: { status: 'success' } }

async function endsAs({ executionId }: Held, status: string): Promise<void> {
  await until(`${executionId} is ${status}`, async () => {
    return (await daemon.get(`/api/executions/${executionId}/status`)).body.status === status
  })
}

async function rowOf({ executionId }: Pick<Held, 'executionId'>) {
  return (await daemon.get(`/api/commands?execution_id=${executionId}`)).body.items[0]
}

describe('bad calls', () => {
  let held: Held
  beforeAll(async () => {
    held = await heldCommand()
  })

  const UNKNOWN = '380600494935949999'
  const CALLS: [string, (id: Held) => Call, number, RegExp][] = [
    [
      'claim of an unknown id',
      () => ({ path: `/api/commands/${UNKNOWN}/claim`, body: { worker_id: 'w' } }),
      404,
      /no command/,
    ],
    ['claim of no id', () => ({ path: '/api/commands/x/claim', body: { worker_id: 'w' } }), 400, /event_id/],
    ['claim without a body', ({ eventId }) => ({ path: `/api/commands/${eventId}/claim` }), 400, /body is needed/],
    [
      'claim without a worker',
      ({ eventId }) => ({ path: `/api/commands/${eventId}/claim`, body: {} }),
      422,
      /worker_id/,
    ],
    [
      'claim of what another holds',
      ({ eventId }) => ({ path: `/api/commands/${eventId}/claim`, body: { worker_id: 'other' } }),
      409,
      /active_claim/,
    ],
    ['claim of many without pools', () => ({ path: '/api/commands/claim', body: { worker_id: 'w' } }), 400, /pools/],
    ['claim of many without a body', () => ({ path: '/api/commands/claim' }), 400, /body is needed/],
    ['claim of many that is not JSON', () => ({ path: '/api/commands/claim', body: '{"worker_id":' }), 400, /JSON/],
    [
      'heartbeat of an unknown id',
      () => ({ path: `/api/commands/${UNKNOWN}/heartbeat`, body: { worker_id: 'w' } }),
      404,
      /no command/,
    ],
    [
      'heartbeat without a body',
      ({ eventId }) => ({ path: `/api/commands/${eventId}/heartbeat` }),
      400,
      /body is needed/,
    ],
    [
      'heartbeat without a worker',
      ({ eventId }) => ({ path: `/api/commands/${eventId}/heartbeat`, body: {} }),
      422,
      /worker_id/,
    ],
    [
      'heartbeat of another worker',
      ({ eventId }) => ({ path: `/api/commands/${eventId}/heartbeat`, body: { worker_id: 'other' } }),
      409,
      /stop working/,
    ],
    ['a look at an unknown id', () => ({ method: 'GET', path: `/api/commands/${UNKNOWN}` }), 404, /no command/],
    ['a look at no id', () => ({ method: 'GET', path: '/api/commands/-1' }), 400, /event_id/],
    ['a list of an unknown status', () => ({ method: 'GET', path: '/api/commands?status=lost' }), 400, /status/],
    ['requeue without the token', ({ eventId }) => ({ path: `/api/commands/${eventId}/requeue` }), 403, /token/i],
    ['requeue of an unknown id', () => ({ path: `/api/commands/${UNKNOWN}/requeue`, token: TOKEN }), 404, /no command/],
    [
      'a result of an unknown execution',
      () => ({ method: 'PUT', path: `/api/result/${UNKNOWN}`, body: { name: 'r', data: 1 } }),
      404,
      /execution/,
    ],
    [
      'a result without a body',
      ({ executionId }) => ({ method: 'PUT', path: `/api/result/${executionId}` }),
      400,
      /body is needed/,
    ],
    [
      'a result without data',
      ({ executionId }) => ({ method: 'PUT', path: `/api/result/${executionId}`, body: { name: 'r' } }),
      400,
      /data/,
    ],
    [
      'a huge result',
      ({ executionId }) => ({
        method: 'PUT',
        path: `/api/result/${executionId}`,
        body: { name: 'r', data: 'x'.repeat(1_100_000) },
      }),
      413,
      /larger|exceeds/,
    ],
    ['no reference', () => ({ method: 'GET', path: '/api/result/resolve?ref=x' }), 400, /ref/],
    [
      'a reference to nothing',
      ({ executionId }) => ({
        method: 'GET',
        path: `/api/result/resolve?ref=noetl://execution/${executionId}/result/r/7`,
      }),
      404,
      /gone/,
    ],
    [
      'a call-back without the token',
      ({ executionId }) => ({ path: `/api/internal/container-callback/${executionId}/a`, body: { state: 'failed' } }),
      403,
      /token/i,
    ],
    [
      'a call-back for nothing',
      ({ executionId }) => ({
        path: `/api/internal/container-callback/${executionId}/a`,
        body: { state: 'failed' },
        token: TOKEN,
      }),
      409,
      /waits for a call-back/,
    ],
    [
      'a call-back of an unknown state',
      ({ executionId }) => ({
        path: `/api/internal/container-callback/${executionId}/a`,
        body: { state: 'odd' },
        token: TOKEN,
      }),
      400,
      /state/,
    ],
    [
      'a call-back of an unknown execution',
      () => ({ path: `/api/internal/container-callback/${UNKNOWN}/a`, body: { state: 'failed' }, token: TOKEN }),
      404,
      /execution/,
    ],
  ]

  it.each(CALLS)('%s', async (_, make, status, said) => {
    const answer = await call(make(held))
    expect(answer).toMatchObject({ status, body: { status, error: expect.any(String) } })
    expect(answer.text).toMatch(said)
  })

  it('have changed nothing: the command is still held and can be answered', async () => {
    expect(await rowOf(held)).toMatchObject({ status: 'CLAIMED', worker_id: 'w', attempt: 1 })
    await say(held, 'call.done', doneWith(1))
    expect((await say(held, 'command.completed', completed)).body.status).toBe('ok')
    await endsAs(held, 'COMPLETED')
  })

  it('an expired lease goes to the next worker, and the first is told so', async () => {
    const late = await heldCommand(ONE, 1)
    await until('another has it', async () => {
      const { status } = await call({ path: `/api/commands/${late.eventId}/claim`, body: { worker_id: 'next' } })
      return status === 200
    })
    expect((await call({ path: `/api/commands/${late.eventId}/heartbeat`, body: { worker_id: 'w' } })).status).toBe(409)
    expect((await say(late, 'command.completed', completed)).body).toMatchObject({ status: 'ignored' })
    expect(await rowOf(late)).toMatchObject({ status: 'CLAIMED', worker_id: 'next', attempt: 2 })
  })

  it('results of one execution have a quota', async () => {
    const some = { method: 'PUT', path: `/api/result/${held.executionId}` }
    const data = () => randomBytes(340_000).toString('base64')
    const answers = []
    for (const name of ['a', 'b', 'c', 'd']) answers.push(await call({ ...some, body: { name, data: data() } }))
    expect(answers[0]!.status).toBe(200)
    expect(answers.at(-1)).toMatchObject({
      status: 413,
      body: { error: expect.stringMatching(/no room.*NOETL_CP_RESULT_QUOTA_MB/) },
    })
  })
})

describe('what a worker was given and has not got', () => {
  it('goes back when it hung up before the answer', async () => {
    const given = await issued()
    await until('it waits', async () => (await rowOf(given))?.status === 'PENDING')
    const hangUp = new AbortController()
    const asking = await database.get().db.tx(async (tx) => {
      // The claim is under way and cannot be committed before the worker is gone.
      await tx.run({ name: 'test', text: 'select from noetl.execution where execution_id = $1::bigint for update' }, [
        given.executionId,
      ])
      const asked = fetch(new URL('/api/commands/claim', daemon.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ worker_id: 'gone', pools: [given.pool], wait_seconds: 30 }),
        signal: hangUp.signal,
      })
      await until('the claim waits for the lock', async () => {
        const waiting = await database.get().sql(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)
        return waiting.length > 0
      })
      hangUp.abort()
      return Promise.allSettled([asked])
    })
    expect(asking).toMatchObject([{ status: 'rejected' }])
    await until('it waits for the next', async () => {
      const { status, attempt } = await rowOf(given)
      return status === 'PENDING' && attempt === 2
    })
    const next = await post(daemon.url, '/api/commands/claim', { worker_id: 'next', pools: [given.pool] })
    expect(next.body.commands).toHaveLength(1)
  })

  it('goes back when it tells what it has', async () => {
    const workerId = 'forgetful'
    const [known, lost] = [await issued(), await issued()]
    const ids: string[] = []
    for (const { pool } of [known, lost]) {
      const wanted = { worker_id: workerId, pools: [pool], wait_seconds: 30 }
      ids.push(/"event_id":(\d+)/.exec((await post(daemon.url, '/api/commands/claim', wanted)).text)![1]!)
    }
    const beat = (commands?: unknown[]) =>
      post(daemon.url, '/api/worker/pool/heartbeat', { name: workerId, ...(commands && { commands }) })
    // What was given just now may still be on its way.
    expect((await beat([])).status).toBe(200)
    await database
      .get()
      .sql(`update noetl.command set claimed_at = now() - interval '11 seconds' where worker_id = $1`, [workerId])
    expect((await beat()).status).toBe(200)
    expect(await rowOf(lost)).toMatchObject({ status: 'CLAIMED', attempt: 1 })
    expect((await beat([ids[0]])).status).toBe(200)
    expect(await rowOf(known)).toMatchObject({ status: 'CLAIMED', attempt: 1 })
    expect(await rowOf(lost)).toMatchObject({ status: 'PENDING', attempt: 2 })
    expect((await beat(['x'])).status).toBe(400)
  })
})

describe('a container that calls back', () => {
  const parking = { status: 'success', payload: { status: 'success', pending_callback: true } }
  const backAt = ({ executionId }: Held, body: object) =>
    call({ path: `/api/internal/container-callback/${executionId}/a`, body, token: TOKEN })

  async function parked(): Promise<Held> {
    const held = await heldCommand()
    expect((await say(held, 'command.completed', parking)).body.status).toBe('ok')
    expect(await rowOf(held)).toMatchObject({ status: 'PARKED' })
    return held
  }

  it('ends the step with what it says, once', async () => {
    const held = await parked()
    const answer = await backAt(held, { state: 'succeeded', job_name: 'job-1', exit_code: 0 })
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } })
    await endsAs(held, 'COMPLETED')
    expect(await rowOf(held)).toMatchObject({ status: 'COMPLETED' })
    expect((await daemon.get(`/api/executions/${held.executionId}/result`)).text).toContain('"job_name":"job-1"')
    expect((await backAt(held, { state: 'succeeded' })).status).toBe(409)
  })

  it('gives the step its data, whatever the worker said before it parked the command', async () => {
    const held = await heldCommand()
    await say(held, 'call.done', doneWith({ from: 'submit' }))
    expect((await say(held, 'command.completed', parking)).body.status).toBe('ok')
    expect((await backAt(held, { state: 'succeeded', job_name: 'job-3' })).status).toBe(200)
    await endsAs(held, 'COMPLETED')
    expect((await daemon.get(`/api/executions/${held.executionId}/result`)).text).toContain('"job_name":"job-3"')
  })

  it('is waited for whatever its worker still says, or somebody says of another attempt', async () => {
    const held = await parked()
    for (const [type, attempt, said] of [
      ['command.started', 1, { status: 'RUNNING' }],
      ['command.heartbeat', 1, { status: 'RUNNING' }],
      // They were overtaken by the completion that parked it, or are sent again.
      ['call.done', 1, doneWith({ from: 'submit' })],
      ['command.completed', 1, parking],
      ['command.completed', 1, completed],
      ['command.failed', 9, { status: 'FAILED' }],
    ] as const) {
      const text = eventText(held.claimed, 'w', type, said).replace(/"attempts":\d+/, `"attempts":${attempt}`)
      expect((await post(daemon.url, '/api/events', text)).body, type).toMatchObject({ status: 'ignored' })
    }
    expect(await rowOf(held)).toMatchObject({ status: 'PARKED' })
    expect((await backAt(held, { state: 'succeeded', job_name: 'job-4' })).status).toBe(200)
    await endsAs(held, 'COMPLETED')
    expect((await daemon.get(`/api/executions/${held.executionId}/result`)).text).toContain('"job_name":"job-4"')
  })

  it('ends the step with everything that it says, however large', async () => {
    const held = await parked()
    const said = { state: 'succeeded', job_name: 'job-1', log: 'x'.repeat(200_000), files: [{ name: 'a', bytes: 1 }] }
    expect((await backAt(held, said)).status).toBe(200)
    await endsAs(held, 'COMPLETED')
    expect((await daemon.get(`/api/executions/${held.executionId}/result`)).body).toEqual(said)
  })

  it('fails the step with the reason', async () => {
    const held = await parked()
    expect((await backAt(held, { state: 'failed_oom', job_name: 'job-2' })).status).toBe(200)
    await endsAs(held, 'FAILED')
    expect(await rowOf(held)).toMatchObject({ status: 'FAILED', error: expect.stringContaining('job-2 failed oom') })
  })
})

describe('an argument that is a whole stored result', () => {
  it.each([
    ['comes with its value', 1_000, (all: object) => expect(all).toMatchObject({ text: 'x'.repeat(1_000) })],
    [
      'stays a reference if it is large',
      600_000,
      (all: object) => expect(all).toMatchObject({ _bytes: expect.anything() }),
    ],
  ])('%s', async (_, length, check) => {
    const held = await heldCommand(
      'workflow:\n- {step: a, tool: {kind: python, code: x}, next: [b]}\n- {step: b, tool: {kind: python, code: x, input: {all: "{{ a }}"}}}\n',
    )
    const data = { text: 'x'.repeat(length) }
    const put = await call({ method: 'PUT', path: `/api/result/${held.executionId}`, body: { name: 'a', data } })
    const { ref, bytes, sha256 } = put.body
    const reference = {
      kind: 'result_ref',
      ref,
      store: 'db',
      scope: 'execution',
      meta: { bytes, sha256 },
      extracted: {},
    }
    const result = { status: 'success', context: { status: 'success', data: { _ref: ref } }, reference }
    await say(held, 'call.done', { status: 'COMPLETED', payload: { call_index: 0, result } })
    await say(held, 'command.completed', completed)
    const wanted = { worker_id: 'w', pools: [held.pool], wait_seconds: 30 }
    const { commands } = (await post(daemon.url, '/api/commands/claim', wanted)).body
    check(commands[0].context.args.all)
  })
})

describe('the command line, in a terminal of 80 columns', () => {
  const run = (...args: string[]) =>
    cli(args, { columns: 80, env: { NOETL_DATABASE_URL: database.get().url, NO_COLOR: '1' } })
  const fits = (text: string) => {
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  }

  it('lists, shows and takes back commands', async () => {
    const held = await heldCommand()
    const list = await run('command', 'list', '--pool', held.pool)
    expect(list.code).toBe(0)
    expect(list.stdout).toContain(held.eventId)
    expect(list.stdout).toContain('CLAIMED')
    fits(list.stdout)
    const shown = await run('command', 'show', held.eventId)
    expect(shown.stdout).toMatch(/worker\W+w\b/)
    fits(shown.stdout)
    const taken = await run('command', 'requeue', held.eventId)
    expect(taken.stdout).toContain('waits for attempt 2')
    expect(await rowOf(held)).toMatchObject({ status: 'PENDING', attempt: 2 })
    const json = JSON.parse((await run('command', 'list', '--execution', held.executionId, '--json')).stdout)
    expect(json.commands).toMatchObject([{ status: 'PENDING', attempt: 2 }])
    expect((await run('command', 'list', '--status', 'COMPLETED', '--pool', held.pool)).stdout).toContain(
      'no such command',
    )
  })

  it('says what is wrong', async () => {
    for (const args of [
      ['show', '17'],
      ['requeue', '17'],
    ]) {
      const failed = await run('command', ...args)
      expect(failed.code).not.toBe(0)
      expect(failed.stderr).toContain('there is no command 17')
    }
    expect((await run('command', 'list', '--status', 'lost')).stderr).toContain('PENDING')
    expect((await run('worker', 'limit', 'x')).stderr).toContain('--max or --none')
  })

  it('lists workers, pauses pools and limits them', async () => {
    const name = `worker-${randomBytes(4).toString('hex')}`
    expect((await run('worker', 'limits')).stdout).toContain('nothing is limited')
    await call({ path: '/api/worker/pool/register', body: { name, labels: { pool_name: 'gpu' }, capacity: 4 } })
    const workers = await run('worker', 'list')
    expect(workers.stdout).toContain(name)
    fits(workers.stdout)
    expect((await run('worker', 'pause', 'gpu', '--reason', 'the card is exchanged')).stdout).toContain('gpu is paused')
    expect((await run('worker', 'limit', 'gpu', '--max', '2')).stdout).toContain('at most 2')
    expect((await run('worker', 'limit', 'etl/heavy', '--path', '--max', '1')).stdout).toContain('at most 1')
    const limits = await run('worker', 'limits')
    expect(limits.stdout).toContain('the card is exchanged')
    expect(limits.stdout).toContain('etl/heavy')
    fits(limits.stdout)
    expect((await run('worker', 'resume', 'gpu')).stdout).toContain('goes on')
    expect((await run('worker', 'resume', 'gpu')).stdout).toContain('was not paused')
    for (const [of, ...more] of [['gpu'], ['etl/heavy', '--path']]) await run('worker', 'limit', of!, ...more, '--none')
    expect((await run('worker', 'limits')).stdout).toContain('nothing is limited')
  })
})
