// Promise: a command is handed out once per attempt, in order, to whoever waits for it; the first answer that ends it
// counts, and late, repeated or foreign answers change nothing. Nothing cancelled is handed out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { type HeldCommand, isRefusal, type ShownCommand } from '../../src/services/commands/commands.js'
import { ingestBatch, ingestEvent } from '../../src/services/events/ingest.js'
import { endExecution } from '../../src/services/executions/executions.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import {
  completed,
  done,
  expireLease,
  oneStep,
  openCommands,
  rowOf,
  startWorkflow,
  type TestCommands,
} from './commandHarness.js'

const database = useDatabase()
let core: TestCore
let daemon: TestCommands

beforeAll(async () => {
  core = await openCore([database.get()])
  // Long enough that only a nudge can be in time.
  daemon = await openCommands(core, { pollMs: 60_000 })
})
afterAll(async () => {
  await daemon.close()
  await core.close()
})

let pools = 0
const newPool = () => `pool${++pools}`

const start = (workflow: string, pool: string) => startWorkflow(core, workflow, { executionPool: pool })

async function claim(pool: string, workerId = 'w1', max = 1): Promise<HeldCommand[]> {
  return daemon.commands.claim({ workerId, pools: [pool], max, waitMs: 20_000 })
}

async function claimed(pool: string, workerId = 'w1'): Promise<HeldCommand> {
  const [command] = await claim(pool, workerId)
  expect(command).toBeDefined()
  return command!
}

async function statusOf(executionId: string): Promise<string> {
  const [row] = await database
    .get()
    .sql<{ status: string }>('select status from noetl.execution where execution_id = $1::bigint', [executionId])
  return row!.status
}

async function typesOf(executionId: string): Promise<string[]> {
  const rows = await database
    .get()
    .sql<{ event_type: string }>(
      'select event_type from noetl.event where execution_id = $1::bigint order by stream_version',
      [executionId],
    )
  return rows.map((row) => row.event_type)
}

const post = (command: HeldCommand, type: string, more: JsonObject = {}, meta: JsonObject = {}) =>
  ingestEvent(core, {
    execution_id: command.executionId,
    step: command.step,
    event_type: type,
    payload: { command_id: command.commandId, ...more },
    meta,
    worker_id: command.workerId,
  })

describe('a worker of the same process', () => {
  it('waits, is woken by the decision, gets what it needs, and its answer moves the execution on', async () => {
    const pool = newPool()
    const waiting = claim(pool)
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: python, code: "x"}, input: {n: 3}, next: [b]}\n- {step: b, tool: {kind: python, code: "y"}}\n',
      pool,
    )
    const [command] = await waiting
    expect(command).toMatchObject({
      executionId: id,
      commandId: `${id}:a:1`,
      step: 'a',
      kind: 'python',
      workerId: 'w1',
      attempt: 1,
      leaseToken: 1,
      context: { tool_config: { kind: 'python', code: 'x' } },
      meta: { command_id: `${id}:a:1`, attempt: 1, attempts: 1, lease_token: 1, execution_pool: pool },
    })
    expect(await rowOf(database.get(), command!.eventId)).toEqual({
      status: 'CLAIMED',
      attempt: 1,
      worker_id: 'w1',
      has_lease: true,
    })
    await daemon.commands.report(command!, [{ type: 'command.started', status: 'STARTED' }])
    expect((await rowOf(database.get(), command!.eventId)).status).toBe('RUNNING')
    expect(await daemon.commands.report(command!, [done({ n: 4 }), completed])).toMatchObject([
      { kind: 'stored' },
      { kind: 'stored' },
    ])
    expect(await rowOf(database.get(), command!.eventId)).toEqual({
      status: 'COMPLETED',
      attempt: 1,
      worker_id: 'w1',
      has_lease: false,
    })
    const next = await claimed(pool)
    expect(next.step).toBe('b')
    await daemon.commands.report(next, [done(), completed])
    await until('the execution ends', async () => (await statusOf(id)) === 'COMPLETED')
  })

  it('gets the oldest first, of its pools and kinds alone', async () => {
    const [one, two] = [newPool(), newPool()]
    const first = await start(oneStep('python'), one)
    const second = await start(oneStep('http'), one)
    const third = await start(oneStep('python'), two)
    // Which of the executions is decided first is not promised.
    const issued = await until('all three are issued', async () => {
      const rows = await database
        .get()
        .sql<{ execution_id: string }>(
          `select execution_id::text from noetl.command where pool in ($1, $2) order by event_id`,
          [one, two],
        )
      return rows.length === 3 && rows.map(({ execution_id }) => execution_id)
    })
    const got = await daemon.commands.claim({
      workerId: 'w1',
      pools: [one, two],
      kinds: ['python'],
      max: 5,
      waitMs: 20_000,
    })
    expect(got.map(({ executionId }) => executionId)).toEqual(issued.filter((id) => id !== second))
    expect([...issued].sort()).toEqual([first, second, third].sort())
    expect((await claimed(one)).executionId).toBe(second)
  })

  it('is told nothing when its time is up', async () => {
    expect(await daemon.commands.claim({ workerId: 'w1', pools: [newPool()], max: 1, waitMs: 20 })).toEqual([])
  })
})

describe('many workers', () => {
  it('never get the same command, in one process or in two', async () => {
    const pool = newPool()
    const other = await openCommands(core, { pollMs: 50 })
    try {
      const id = await start(
        'workflow:\n- step: a\n  loop: {in: "{{ range(60) }}", iterator: n, spec: {mode: parallel, max_in_flight: 60}}\n  tool: {kind: python, code: "x"}\n',
        pool,
      )
      const keys: string[] = []
      await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const { commands } = n % 2 === 0 ? daemon : other
          while (keys.length < 60) {
            const list = await commands.claim({ workerId: `w${n}`, pools: [pool], max: 3, waitMs: 300 })
            keys.push(...list.map(({ commandId }) => commandId))
            for (const command of list) await commands.report(command, [done(), completed])
          }
        }),
      )
      expect(new Set(keys).size).toBe(60)
      await until('the execution ends', async () => (await statusOf(id)) === 'COMPLETED')
      expect((await typesOf(id)).filter((type) => type === 'command.claimed')).toHaveLength(60)
    } finally {
      await other.close()
    }
  })
})

const SEALED_STEP = `workflow:
- {step: a, tool: {kind: python, code: "x", args: {password: kq7-nobody-sees-it, large: 1.0e+300}}}
`

describe('a claim of a certain command', () => {
  it('is granted once, and again to the same worker', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const command = await claimed(pool)
    const again = await daemon.commands.claimOne(command.eventId, 'w1')
    expect(again).toMatchObject({ attempt: 1, leaseToken: 1, context: command.context })
    expect(await daemon.commands.claimOne(command.eventId, 'w2')).toMatchObject({
      code: 'active_claim',
      workerId: 'w1',
    })
    expect((await typesOf(command.executionId)).filter((type) => type === 'command.claimed')).toHaveLength(1)
  })

  it('is granted to one of those that ask in the same batch', async () => {
    const pool = newPool()
    const id = await start(oneStep(), pool)
    let waiting: ShownCommand | undefined
    await until('the command waits', async () => {
      ;[waiting] = await daemon.commands.list({ executionId: id, after: '0', limit: 10 })
      return waiting !== undefined
    })
    const claimOf = (worker_id: string): JsonObject => ({
      event_type: 'command.claimed',
      step: 'a',
      worker_id,
      meta: { command_id: waiting!.command_key },
    })
    const outcomes = await ingestBatch(core, { execution_id: id, events: ['w1', 'w2', 'w3'].map(claimOf) })
    expect(outcomes).toMatchObject([
      { kind: 'stored', claim: { attempt: 1 } },
      { kind: 'unclaimable', code: 'active_claim', workerId: 'w1' },
      { kind: 'unclaimable', code: 'active_claim', workerId: 'w1' },
    ])
    expect((await typesOf(id)).filter((type) => type === 'command.claimed')).toHaveLength(1)
    expect(await daemon.commands.show(waiting!.command_id)).toMatchObject({ worker_id: 'w1', attempt: 1 })
  })

  it.each([
    ['plain', oneStep()],
    ['with what the log holds in another form', SEALED_STEP],
  ])('of one that was issued a moment ago, %s, is granted whole and to one alone', async (_, workflow) => {
    const id = await start(workflow, newPool())
    let eventId = ''
    await until('the command waits', async () => {
      const [waiting] = await daemon.commands.list({ executionId: id, after: '0', limit: 10 })
      eventId = waiting?.command_id ?? ''
      return waiting !== undefined
    })
    const outcomes = await Promise.all(['w1', 'w2', 'w3'].map((name) => daemon.commands.claimOne(eventId, name)))
    const given = outcomes.filter((outcome) => !isRefusal(outcome)) as HeldCommand[]
    expect(given).toHaveLength(1)
    const [held] = given
    expect(outcomes.filter(isRefusal)).toMatchObject(
      Array.from({ length: 2 }, () => ({ code: 'active_claim', workerId: held!.workerId })),
    )
    const read = await daemon.commands.get(eventId, 'open')
    expect(held).toMatchObject({ ...read, attempt: 1, leaseToken: 1 })
    expect(await daemon.commands.claimOne(eventId, held!.workerId)).toMatchObject({ context: read.context, attempt: 1 })
    expect((await typesOf(id)).filter((type) => type === 'command.claimed')).toHaveLength(1)
    await daemon.commands.report(held!, [done(), completed])
    expect(await daemon.commands.claimOne(eventId, 'w4')).toMatchObject({ code: 'already_terminal' })
  })

  it('of one whose lease is over is another attempt, and the answers of the first are ignored', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const first = await claimed(pool)
    await daemon.commands.requeue(first.eventId)
    const second = await daemon.commands.claimOne(first.eventId, 'w2')
    expect(second).toMatchObject({ attempt: 2, leaseToken: 2, meta: { attempt: 2 } })
    expect(await daemon.commands.report(first, [done({ who: 1 }), completed])).toEqual([
      { kind: 'ignored', reason: 'reclaimed' },
      { kind: 'ignored', reason: 'reclaimed' },
    ])
    // A worker that does not know attempts is told apart by its name.
    expect(await post(first, 'command.completed')).toMatchObject({ kind: 'ignored', reason: 'not_holder' })
    expect(await daemon.commands.beat('w1', [first])).toEqual(new Map([[first.eventId, { kind: 'lost' }]]))
    await daemon.commands.report(second as HeldCommand, [done({ who: 2 }), completed])
    await until('the execution ends', async () => (await statusOf(first.executionId)) === 'COMPLETED')
    const [end] = await database
      .get()
      .sql<{ data: unknown }>(
        `select result #> '{context,data}' as data from noetl.event where execution_id = $1::bigint and event_type = 'playbook.completed'`,
        [first.executionId],
      )
    expect(end).toEqual({ data: { who: 2 } })
  })

  it('of an ended, a cancelled or an unknown one says so', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const ended = await claimed(pool)
    await daemon.commands.report(ended, [done(), completed])
    expect(await daemon.commands.claimOne(ended.eventId, 'w2')).toMatchObject({ code: 'already_terminal' })
    const executionId = await start(oneStep(), pool)
    const held = await claimed(pool)
    await endExecution(core, { executionId: executionId as never, outcome: 'CANCELLED' })
    expect(await daemon.commands.claimOne(held.eventId, 'w2')).toMatchObject({ code: 'cancelled' })
    expect(await daemon.commands.beat('w1', [held])).toEqual(new Map([[held.eventId, { kind: 'cancelled' }]]))
    expect(await daemon.commands.report(held, [completed])).toEqual([{ kind: 'ignored', reason: 'cancelled' }])
    await expect(daemon.commands.claimOne('17', 'w2')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('answers', () => {
  it('count once, whoever repeats them', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const command = await claimed(pool)
    expect(await post(command, 'call.done', { result: 1 })).toMatchObject({ kind: 'stored' })
    expect(await post(command, 'call.done', { result: 2 })).toMatchObject({ kind: 'ignored', reason: 'repeated' })
    expect(await post(command, 'command.completed')).toMatchObject({ kind: 'stored' })
    expect(await post(command, 'command.failed')).toMatchObject({ kind: 'ignored' })
    await until('the execution ends', async () => (await statusOf(command.executionId)) === 'COMPLETED')
    expect(
      (await typesOf(command.executionId)).filter((type) => type.startsWith('ca') || type.startsWith('command.')),
    ).toEqual(['command.issued', 'command.claimed', 'call.done', 'command.completed'])
    expect(await post(command, 'call.done', { result: 3 })).toMatchObject({ kind: 'ignored' })
  })

  it('say their attempt in the log, and the same event again is a duplicate', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const command = await claimed(pool)
    const body = {
      execution_id: command.executionId,
      event_id: core.ids.next(),
      step: 'a',
      event_type: 'call.done',
      payload: { command_id: command.commandId, result: null },
      worker_id: 'w1',
    }
    expect(await ingestEvent(core, body)).toMatchObject({ kind: 'stored' })
    expect(await ingestEvent(core, body)).toMatchObject({ kind: 'duplicate' })
    const [row] = await database
      .get()
      .sql<{ meta: JsonObject }>(
        'select meta from noetl.event where execution_id = $1::bigint and event_id = $2::bigint',
        [command.executionId, body.event_id],
      )
    expect(row?.meta).toMatchObject({ attempt: 1, worker_id: 'w1' })
  })

  it('may come with the data after the end', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const command = await claimed(pool)
    expect(await post(command, 'command.completed')).toMatchObject({ kind: 'stored' })
    expect(
      await post(command, 'call.done', {
        result: { status: 'success', context: { status: 'success', data: { n: 9 } } },
      }),
    ).toMatchObject({ kind: 'stored' })
    await until('the execution ends', async () => (await statusOf(command.executionId)) === 'COMPLETED')
  })

  it('extend the lease as signs of life, and are not kept', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const command = await claimed(pool)
    await expireLease(database.get(), command)
    expect(await post(command, 'command.heartbeat')).toMatchObject({ kind: 'ignored', reason: 'heartbeat' })
    expect(await daemon.commands.claimOne(command.eventId, 'w2')).toMatchObject({ code: 'active_claim' })
    expect(await typesOf(command.executionId)).not.toContain('command.heartbeat')
    await expireLease(database.get(), command)
    const beats = await daemon.commands.beat('w1', [command])
    expect(beats.get(command.eventId)?.kind).toBe('held')
    expect(await daemon.commands.claimOne(command.eventId, 'w2')).toMatchObject({ code: 'active_claim' })
  })
})

describe('what nobody has claimed', () => {
  it("is nobody's, whoever gives signs of life for it", async () => {
    const pool = newPool()
    const executionId = await start(oneStep(), pool)
    const [row] = await until('it waits', async () => {
      const list = await daemon.commands.list({ pool, after: '0', limit: 1 })
      return list.length === 1 ? list : undefined
    })
    const stranger = { executionId, commandId: row!.command_key, step: 'a', workerId: 'stranger' } as HeldCommand
    expect(await post(stranger, 'command.heartbeat')).toMatchObject({ kind: 'ignored', reason: 'heartbeat' })
    expect(await rowOf(database.get(), row!.command_id)).toMatchObject({ status: 'PENDING', worker_id: null })
    expect((await claimed(pool)).meta).not.toHaveProperty('reclaimed')
  })

  it('is handed out once, although its pool is named twice', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    await start(oneStep(), pool)
    await until('both wait', async () => (await daemon.commands.list({ pool, after: '0', limit: 9 })).length === 2)
    const list = await daemon.commands.claim({ workerId: 'w', pools: [pool, pool], max: 4, waitMs: 10_000 })
    expect(new Set(list.map(({ eventId }) => eventId)).size).toBe(2)
    expect(list).toHaveLength(2)
  })
})

describe('a claim that is over', () => {
  it('of a worker that has the command again counts no more: neither its signs of life nor its giving back', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const first = await claimed(pool)
    await daemon.commands.requeue(first.eventId)
    const second = (await daemon.commands.claimOne(first.eventId, first.workerId)) as HeldCommand
    expect(second).toMatchObject({ workerId: first.workerId, attempt: 2 })
    expect((await daemon.commands.beat(first.workerId, [first])).get(first.eventId)).toEqual({ kind: 'lost' })
    expect((await daemon.commands.beat(first.workerId, [second])).get(first.eventId)?.kind).toBe('held')
    await daemon.commands.giveBack(first)
    expect(await rowOf(database.get(), first.eventId)).toMatchObject({ status: 'CLAIMED', attempt: 2 })
    await daemon.commands.giveBack(second)
    expect(await rowOf(database.get(), first.eventId)).toMatchObject({ status: 'PENDING', attempt: 3 })
  })
})

describe('an operator', () => {
  it('lists commands, and takes one away from a worker that hangs', async () => {
    const pool = newPool()
    await start(oneStep(), pool)
    const command = await claimed(pool)
    const list = await daemon.commands.list({ pool, after: '0', limit: 10 })
    expect(list).toMatchObject([{ command_id: command.eventId, status: 'CLAIMED', worker_id: 'w1' }])
    const waiting = claim(pool, 'w2')
    expect(await daemon.commands.requeue(command.eventId)).toMatchObject({ attempt: 2 })
    const [next] = await waiting
    expect(next).toMatchObject({ attempt: 2, workerId: 'w2' })
    expect(await daemon.commands.report(command, [completed])).toEqual([{ kind: 'ignored', reason: 'reclaimed' }])
    await daemon.commands.report(next!, [done(), completed])
    await expect(daemon.commands.requeue(command.eventId)).rejects.toMatchObject({ code: 'conflict' })
  })
})
