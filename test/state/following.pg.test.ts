// Promise: what follows from the answer of a worker commits with the answer. Where that is not possible the answer is stored
// alone, nothing is decided twice, and the state is what the log says, whatever became of the transaction.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { shardOf } from '../../src/domain/shards/shards.js'
import type { HeldCommand } from '../../src/services/commands/commands.js'
import { completed, done, openCommands, startWorkflow, type TestCommands } from '../commands/commandHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'
import { foldText } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let daemon: TestCommands

beforeAll(async () => {
  core = await openCore([database.get()])
  daemon = await openCommands(core, { patienceMs: 30_000, snapshotEvents: 40 })
})
afterAll(async () => {
  await daemon.close()
  await core.close()
})

const TWO_STEPS = `workflow:
- {step: a, tool: {kind: python, code: "x"}, next: [b]}
- {step: b, tool: {kind: python, code: "x"}}
`
const sql = <Row>(text: string, values: (string | null)[] = []) => database.get().sql<Row>(text, values)

async function claim(pool: string): Promise<HeldCommand> {
  const [held] = await daemon.commands.claim({ workerId: `${pool}-worker`, pools: [pool], max: 1, waitMs: 60_000 })
  return held!
}

/** Its first command, claimed, with a state that has nothing else to do. */
async function begin(pool: string): Promise<HeldCommand> {
  await startWorkflow(core, TWO_STEPS, { executionPool: pool })
  const held = await claim(pool)
  await until('the claim is in the state', async () => {
    const { version } = await daemon.state.service.ask(held.executionId, {})
    const [row] = await sql<{ n: number }>(
      `select count(*)::int as n from noetl.event where execution_id = $1::bigint`,
      [held.executionId],
    )
    return version === row!.n
  })
  return held
}

const answer = (held: HeldCommand, data: JsonObject = { n: 1 }) => daemon.commands.report(held, [done(data), completed])

function logOf(executionId: string) {
  return sql<{ event_type: string; node_name: string; xmin: string }>(
    `select event_type, node_name, xmin::text from noetl.event where execution_id = $1::bigint order by stream_version`,
    [executionId],
  )
}

async function expectEnd(executionId: string): Promise<void> {
  await until('the execution has ended', async () => {
    const [row] = await sql<{ status: string }>(`select status from noetl.execution where execution_id = $1::bigint`, [
      executionId,
    ])
    return row!.status === 'COMPLETED'
  })
  const log = await logOf(executionId)
  const of = (type: string) => log.filter((row) => row.event_type === type).length
  expect([of('command.issued'), of('command.completed'), of('step.exit'), of('playbook.completed')]).toEqual([
    2, 2, 2, 1,
  ])
  expect(daemon.errors).toEqual([])
}

/** Whether these events were committed together; a state that is looked at in that moment is not asked. */
const areTogether = (rows: readonly { xmin: string }[]) => new Set(rows.map((row) => row.xmin)).size === 1

it('commits the next command with the answer, and the state is what the log says', async () => {
  await until('what follows is committed with an answer', async () => {
    const held = await begin('next')
    await answer(held)
    const second = await claim('next')
    const log = await logOf(held.executionId)
    const answered = log.findIndex((row) => row.event_type === 'call.done')
    const turn = log.slice(answered, answered + 5)
    expect(turn.map((row) => row.event_type)).toEqual([
      'call.done',
      'command.completed',
      'step.exit',
      'step.enter',
      'command.issued',
    ])
    expect(await daemon.state.sealed(held.executionId)).toBe(await foldText(database.get(), held.executionId))
    await answer(second)
    await expectEnd(held.executionId)
    return areTogether(turn)
  })
})

it('commits the end with the last answer', async () => {
  await until('the end is committed with an answer', async () => {
    const held = await begin('end')
    await answer(held)
    await answer(await claim('end'))
    await expectEnd(held.executionId)
    const log = await logOf(held.executionId)
    expect(log.at(-1)!.event_type).toBe('playbook.completed')
    return areTogether(log.slice(log.findLastIndex((row) => row.event_type === 'call.done')))
  })
})

it('saves a snapshot of an execution whose worker never lets it rest', async () => {
  const steps = Array.from({ length: 20 }, (_, n) => {
    const next = n < 19 ? `, next: [s${n + 1}]` : ''
    return `- {step: s${n}, tool: {kind: python, code: "x"}${next}}`
  })
  const executionId = await startWorkflow(core, `workflow:\n${steps.join('\n')}\n`, { executionPool: 'quick' })
  for (let n = 0; n < 19; n++) await answer(await claim('quick'))
  await until('it has a snapshot', async () => {
    const [row] = await sql<{ version: string }>(
      `select version::text as version from noetl.projection_snapshot where aggregate_id = $1::text`,
      [executionId],
    )
    return Number(row?.version ?? 0) >= 40
  })
  expect(await daemon.state.sealed(executionId)).toBe(await foldText(database.get(), executionId))
  await answer(await claim('quick'))
})

it('saves a state beside the work on it only while it is the committed one', async () => {
  const { executionId } = await begin('beside')
  const { service, threads } = daemon.state
  const { version } = await service.ask(executionId, {})
  const save = (at: number) =>
    threads.ask(shardOf(executionId, threads.count), 'save', { shard: 0, executionId, version: at })
  const saved = async () =>
    (
      await sql<{ version: string }>(
        `select version::text as version from noetl.projection_snapshot where aggregate_id = $1::text`,
        [executionId],
      )
    ).map((row) => Number(row.version))
  await save(version - 1)
  await save(version + 1)
  expect(await saved()).toEqual([])
  await save(version)
  expect(await saved()).toEqual([version])
})

it('stores the answer alone when its decision was made before', async () => {
  const held = await begin('before')
  const key = [held.executionId, 'a#1:exit']
  await sql(`insert into noetl.decision_key (execution_id, key, version) values ($1::bigint, $2::text, 1)`, key)
  await answer(held)
  await until('it was tried again', async () => (daemon.state.counts.decisions.repeated ?? 0) > 0)
  const types = (await logOf(held.executionId)).map((row) => row.event_type)
  expect(types.filter((type) => type === 'command.completed')).toHaveLength(1)
  expect(types).not.toContain('step.exit')
  expect(await daemon.state.sealed(held.executionId)).toBe(await foldText(database.get(), held.executionId))
  await sql(`delete from noetl.decision_key where execution_id = $1::bigint and key = $2::text`, key)
  await daemon.state.service.ask(held.executionId, { drive: true })
  await answer(await claim('before'))
  await expectEnd(held.executionId)
})

it('stores the answer alone when the lane has gone to another daemon, and goes on when it is back', async () => {
  const held = await begin('fence')
  const lanes = `kind like 'state %' and owner is not null`
  await sql(
    `update noetl.lease set token = token + 1, owner = 'another', lease_until = now() + interval '1 hour' where ${lanes}`,
  )
  await answer(held)
  const log = await logOf(held.executionId)
  const answered = log.find((row) => row.event_type === 'command.completed')
  expect(log.filter((row) => row.event_type === 'step.exit' && row.xmin === answered!.xmin)).toEqual([])
  await sql(`update noetl.lease set lease_until = now() where ${lanes}`)
  await answer(await claim('fence'))
  await expectEnd(held.executionId)
})

it('forgets what was not committed', async () => {
  const held = await begin('refused')
  await sql(
    `create function refuse_late() returns trigger language plpgsql as $$ begin raise exception 'not today'; end $$`,
  )
  await sql(
    `create constraint trigger refuse_late after insert on noetl.outbox deferrable initially deferred
     for each row when (new.execution_id = ${BigInt(held.executionId)}) execute function refuse_late()`,
  )
  await expect(answer(held)).rejects.toThrow('not today')
  const before = await foldText(database.get(), held.executionId)
  expect(await daemon.state.sealed(held.executionId)).toBe(before)
  await sql('drop trigger refuse_late on noetl.outbox')
  await answer(held)
  await answer(await claim('refused'))
  await expectEnd(held.executionId)
})

it('goes on as ever when the state does not answer in time', async () => {
  const hasty = await openCore([database.get()])
  const other = await openCommands(hasty, { patienceMs: 0 })
  try {
    await daemon.close()
    const executionId = await startWorkflow(hasty, TWO_STEPS, { executionPool: 'late' })
    const claimNext = async () =>
      (await other.commands.claim({ workerId: 'late-worker', pools: ['late'], max: 1, waitMs: 60_000 }))[0]!
    await other.commands.report(await claimNext(), [done(), completed])
    await other.commands.report(await claimNext(), [done(), completed])
    await expectEnd(executionId)
    expect(other.errors).toEqual([])
  } finally {
    await other.close()
    await hasty.close()
  }
})

// By a daemon that reaches its database through a link that can be cut.
describe('when the connection breaks at the commit of an answer and its decision', () => {
  let proxy: TcpProxy
  beforeAll(async () => {
    await daemon.close()
    await core.close()
    const url = new URL(database.get().url)
    proxy = await startTcpProxy(url.hostname, Number(url.port))
    url.port = String(proxy.port)
    core = await openCore([{ ...database.get(), url: url.toString() }])
    daemon = await openCommands(core, { patienceMs: 30_000 })
  })
  afterAll(() => proxy.close())

  /** Goes on from an answer that has been stored, and by which one decision was made. */
  async function goesOn(held: HeldCommand, pool: string): Promise<void> {
    await answer(await claim(pool))
    await expectEnd(held.executionId)
    const keys = await sql<{ key: string }>(
      `select meta ->> 'idempotency_key' as key from noetl.event
       where execution_id = $1::bigint and event_type = 'step.exit' order by stream_version`,
      [held.executionId],
    )
    expect(keys.map(({ key }) => key)).toEqual(['a#1:exit', 'b#1:exit'])
  }

  it('and nothing was committed: the answer is refused, and asked again it leads on', async () => {
    await sql(
      `create function leave() returns trigger language plpgsql as
       $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`,
    )
    await until('the decision was with the answer', async () => {
      const held = await begin('lost')
      await sql(
        `create constraint trigger leave after insert on noetl.decision_key deferrable initially deferred
         for each row when (new.execution_id = ${BigInt(held.executionId)}) execute function leave()`,
      )
      const first = await answer(held).catch((error: unknown) => error)
      const isTogether = !Array.isArray(first)
      const log = await logOf(held.executionId)
      if (isTogether) {
        expect(first).toMatchObject({ code: 'unavailable' })
        expect(log.map((row) => row.event_type)).not.toContain('call.done')
        expect(await daemon.state.sealed(held.executionId)).toBe(await foldText(database.get(), held.executionId))
      }
      await sql('drop trigger leave on noetl.decision_key')
      if (isTogether) expect(await answer(held)).toMatchObject([{ kind: 'stored' }, { kind: 'stored' }])
      await goesOn(held, 'lost')
      return isTogether
    })
  })

  it('and all of it was committed: asked again nothing is stored twice, and nothing is decided twice', async () => {
    await until('the decision was with the answer', async () => {
      const held = await begin('kept')
      const mark = `cut ${held.executionId}`
      proxy.cutAtAnswer(mark, 'COMMIT\0')
      await expect(answer(held, { mark })).rejects.toMatchObject({ code: 'unavailable' })
      const log = await logOf(held.executionId)
      const answered = log.slice(log.findIndex((row) => row.event_type === 'call.done'))
      expect(answered.map((row) => row.event_type).slice(0, 2)).toEqual(['call.done', 'command.completed'])
      expect(await daemon.state.sealed(held.executionId)).toBe(await foldText(database.get(), held.executionId))
      expect((await answer(held, { mark })).map(({ kind }) => kind)).toEqual(['ignored', 'ignored'])
      await goesOn(held, 'kept')
      return areTogether(answered.slice(0, 5)) && answered.length >= 5
    })
  })
})
