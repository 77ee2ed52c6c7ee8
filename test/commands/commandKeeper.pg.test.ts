// Promise: a command is never lost with its worker. While a worker gives signs of life its leases go on; when it falls silent,
// starts anew or holds a command for too long, the command goes to another with a higher attempt, and fails as lost after
// the last. Commands that nobody takes are told of again.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { NoticeFacts } from '../../src/domain/commands/commandNotice.js'
import { type CommandKeeperDeps, keepCommands } from '../../src/services/commands/commandKeeper.js'
import type { HeldCommand } from '../../src/services/commands/commands.js'
import { beatWorkerPool, deregisterWorkerPool, registerWorkerPool } from '../../src/services/workers/workerPools.js'
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
const notices: NoticeFacts[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  daemon = await openCommands(core)
})
afterAll(async () => {
  await daemon.close()
  await core.close()
})

function keep(more: Partial<CommandKeeperDeps> = {}): Promise<boolean> {
  return keepCommands({
    ...core,
    random: Math.random,
    hardLimitSeconds: 1_800,
    onReclaimed: (shard) => daemon.commands.nudge(shard),
    onLost: () => undefined,
    onOverdue: () => undefined,
    onCounts: () => undefined,
    onError: (error) => daemon.errors.push(error.message),
    tellWorkers: async (facts) => {
      notices.push(...facts)
    },
    ...more,
  })
}

let pools = 0

async function claimed(pool: string, workerId: string): Promise<HeldCommand> {
  const [command] = await daemon.commands.claim({ workerId, pools: [pool], max: 1, waitMs: 20_000 })
  expect(command).toBeDefined()
  return command!
}

async function startAndClaim(workerId: string): Promise<{ pool: string; command: HeldCommand }> {
  const pool = `keeper${++pools}`
  await startWorkflow(core, oneStep(), { executionPool: pool })
  return { pool, command: await claimed(pool, workerId) }
}

const register = (name: string) =>
  registerWorkerPool(core, {
    name,
    kind: 'worker_pool',
    uri: undefined,
    status: 'ready',
    labels: null,
    capabilities: null,
    capacity: undefined,
    runtime: null,
  })

it('gives a command of a silent worker to another, and fails it after the last attempt', async () => {
  const { pool, command } = await startAndClaim('silent')
  for (const attempt of [2, 3]) {
    await expireLease(database.get(), command)
    await keep()
    expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'PENDING', attempt })
    const next = await claimed(pool, `silent${attempt}`)
    expect(next).toMatchObject({ eventId: command.eventId, attempt, meta: { attempt, attempts: attempt } })
  }
  const claims = await database
    .get()
    .sql<{ meta: Record<string, unknown> }>(
      `select meta from noetl.event where execution_id = $1::bigint and event_type = 'command.claimed' order by stream_version`,
      [command.executionId],
    )
  expect(claims.map(({ meta }) => [meta['attempt'], meta['reclaimed_from_worker']])).toEqual([
    [1, undefined],
    [2, 'silent'],
    [3, 'silent2'],
  ])
  // The first one has woken up and knows nothing of attempts.
  expect(await daemon.commands.report(command, [done(), completed])).toMatchObject([
    { kind: 'ignored' },
    { kind: 'ignored' },
  ])
  await expireLease(database.get(), command)
  await keep()
  expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'FAILED', attempt: 3, has_lease: false })
  await until('the execution fails', async () => {
    const [row] = await database
      .get()
      .sql<{ status: string; error: string }>(
        'select status, error from noetl.execution where execution_id = $1::bigint',
        [command.executionId],
      )
    return row?.status === 'FAILED' && row.error.includes('was lost')
  })
})

it('lets the leases of a worker go on that gives signs of life, until it leaves or starts anew', async () => {
  await register('alive')
  const { command } = await startAndClaim('alive')
  const expectHeld = async () => {
    await expireLease(database.get(), command)
    await keep()
    expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'CLAIMED', attempt: 1 })
  }
  await expectHeld()
  await beatWorkerPool(core, 'alive', 'worker_pool')
  await expectHeld()
  // Beyond the limit the command itself must be heard of.
  await expireLease(database.get(), command)
  await database
    .get()
    .sql(`update noetl.command set claimed_at = now() - interval '31 minutes' where event_id = $1::bigint`, [
      command.eventId,
    ])
  await keep()
  expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'PENDING', attempt: 2 })
})

it('lets the leases of a worker go on whose first sign of life comes after its claim, until it registers', async () => {
  const { command } = await startAndClaim('late')
  for (let round = 0; round < 2; round++) {
    await beatWorkerPool(core, 'late', 'worker_pool')
    await expireLease(database.get(), command)
    await keep()
    expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'CLAIMED', attempt: 1 })
  }
  // Its row was removed as stale, and made again by the next sign of life.
  await database.get().sql(`delete from noetl.runtime where name = 'late'`)
  await beatWorkerPool(core, 'late', 'worker_pool')
  await expireLease(database.get(), command)
  await keep()
  expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'CLAIMED', attempt: 1 })
  await register('late')
  await expireLease(database.get(), command)
  await keep()
  expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'PENDING', attempt: 2 })
})

it('takes back what a worker held that has left or started anew', async () => {
  await register('restarts')
  const { command } = await startAndClaim('restarts')
  await register('restarts')
  await expireLease(database.get(), command)
  await keep()
  expect(await rowOf(database.get(), command.eventId)).toMatchObject({ status: 'PENDING', attempt: 2 })
  await register('leaves')
  const second = (await startAndClaim('leaves')).command
  await deregisterWorkerPool(core.databases, 'leaves', 'worker_pool')
  await expireLease(database.get(), second)
  await keep()
  expect(await rowOf(database.get(), second.eventId)).toMatchObject({ status: 'PENDING', attempt: 2 })
})

it('tells of a command again while nobody takes it: at once when it was taken back, else after a minute', async () => {
  const { command } = await startAndClaim('gone')
  notices.length = 0
  await expireLease(database.get(), command)
  await keep()
  const about = () => notices.filter(({ eventId }) => eventId === command.eventId)
  expect(about()).toMatchObject([{ commandId: command.commandId, attempt: 2, repetition: 1 }])
  await keep()
  expect(about()).toHaveLength(1)
  await database
    .get()
    .sql(`update noetl.command set notified_at = now() - interval '61 seconds' where event_id = $1::bigint`, [
      command.eventId,
    ])
  await keep()
  expect(about()).toMatchObject([{ repetition: 1 }, { repetition: 2 }])
})

it('has the engine asked about a command that is past its time, while it is open', async () => {
  const { command } = await startAndClaim('slow')
  const overdue = async (): Promise<boolean> => {
    const asked: string[] = []
    await keep({ onOverdue: (ids) => asked.push(...ids) })
    return asked.includes(command.executionId)
  }
  const endsAfter = (seconds: number) =>
    database
      .get()
      .sql(`update noetl.command set deadline = now() + make_interval(secs => $2) where event_id = $1::bigint`, [
        command.eventId,
        seconds,
      ])
  await endsAfter(60)
  expect(await overdue()).toBe(false)
  await endsAfter(-10)
  expect(await overdue()).toBe(true)
  await daemon.commands.report(command, [done(), completed])
  expect(await overdue()).toBe(false)
})
