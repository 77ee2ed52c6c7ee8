// Promise: a pool or the playbooks of a path never have more commands at a time than they may, whoever hands them out; a paused
// pool gets none; a higher priority comes first. Whoever wonders why nothing happens is told.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { limitCommands, pauseWorkerPool, resumeWorkerPool } from '../../src/services/commands/commandLimits.js'
import type { HeldCommand } from '../../src/services/commands/commands.js'
import { poolFindings } from '../../src/services/commands/poolDoctor.js'
import { ingestBatch, ingestEvent } from '../../src/services/events/ingest.js'
import { whyStuck } from '../../src/services/state/whyStuck.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import {
  completed,
  done,
  expireLease,
  oneStep,
  openCommands,
  startWorkflow,
  type TestCommands,
} from './commandHarness.js'

const database = useDatabase()
let core: TestCore
let daemon: TestCommands

beforeAll(async () => {
  core = await openCore([database.get()], { connectionsMax: 20 })
  daemon = await openCommands(core)
})
afterAll(async () => {
  await daemon.close()
  await core.close()
})

const start = (pool: string, more = {}) => startWorkflow(core, oneStep(), { executionPool: pool, ...more })

async function pending(pool: string, count: number): Promise<void> {
  await until(`${count} commands of ${pool} wait`, async () => {
    const list = await daemon.commands.list({ pool, status: 'PENDING', after: '0', limit: 100 })
    return list.length === count
  })
}

const claimNow = (pool: string, max: number, by = daemon): Promise<HeldCommand[]> =>
  by.commands.claim({ workerId: 'w', pools: [pool], max, waitMs: 0 })

/** Daemons look at limits twice a second; one that starts now knows those of now. */
async function knowingLimits(work: (by: TestCommands) => Promise<void>): Promise<void> {
  const by = await openCommands(core, { drive: false })
  try {
    await work(by)
  } finally {
    await by.close()
  }
}

it('a pool has no more commands at a time than it may, also with two daemons', async () => {
  await limitCommands(core.databases, 'pool', 'small', 2)
  for (let n = 0; n < 6; n++) await start('small')
  await pending('small', 6)
  await knowingLimits((one) =>
    knowingLimits(async (two) => {
      const claims = await Promise.all([one, two, one, two].map((by) => claimNow('small', 3, by)))
      const held = claims.flat()
      expect(held).toHaveLength(2)
      const [first] = await one.commands.list({ pool: 'small', status: 'PENDING', after: '0', limit: 1 })
      expect(await one.commands.claimOne(first!.command_id, 'w')).toMatchObject({ code: 'pool_saturated' })
      await one.commands.report(held[0]!, [done(), completed])
      expect(await claimNow('small', 3, two)).toHaveLength(1)
    }),
  )
  await limitCommands(core.databases, 'pool', 'small', undefined)
  await until('the limit is gone', async () => (await claimNow('small', 3)).length === 3)
})

it('playbooks of a path have no more commands at a time than they may, and others go on', async () => {
  const loop = await startWorkflow(
    core,
    'workflow:\n- step: a\n  loop: {in: [1, 2, 3], iterator: n, spec: {mode: parallel, max_in_flight: 3}}\n  tool: {kind: python, code: "x"}\n',
    { executionPool: 'paths' },
  )
  await pending('paths', 3)
  const [row] = await database
    .get()
    .sql<{ path: string }>('select path from noetl.execution where execution_id = $1::bigint', [loop])
  await limitCommands(core.databases, 'path', row!.path, 1)
  const free = await start('paths')
  await pending('paths', 4)
  await knowingLimits(async (by) => {
    const given: HeldCommand[] = []
    await until('the other playbook is served', async () => {
      given.push(...(await claimNow('paths', 1, by)))
      return given.some(({ executionId }) => executionId === free)
    })
    const ofLoop = given.filter(({ executionId }) => executionId === loop)
    expect(ofLoop).toHaveLength(1)
    expect(await claimNow('paths', 5, by)).toEqual([])
    await by.commands.report(ofLoop[0]!, [done(), completed])
    expect(await claimNow('paths', 5, by)).toHaveLength(1)
  })
})

it('a paused pool gets nothing until it is resumed, and says so', async () => {
  await pauseWorkerPool(core.databases, 'halted', 'the database is moved')
  const id = await start('halted')
  await pending('halted', 1)
  await knowingLimits(async (by) => {
    const [one] = await by.commands.list({ pool: 'halted', after: '0', limit: 1 })
    expect(await by.commands.claimOne(one!.command_id, 'w')).toMatchObject({ code: 'pool_saturated' })
    expect(await claimNow('halted', 1, by)).toEqual([])
  })
  const report = await whyStuck({ databases: core.databases, state: daemon.state.service }, id as never)
  expect(report.findings.find(({ reason }) => reason === 'paused pool')).toMatchObject({
    what: expect.stringContaining('the database is moved'),
    next: 'noetl-cp worker resume halted',
  })
  expect(report.findings.find(({ reason }) => reason === 'missing worker pool')).toMatchObject({
    next: 'noetl-cp worker --worker-pools halted',
  })
  await database.get().sql(`update noetl.command set created_at = now() - interval '1 minute' where pool = 'halted'`)
  expect(await poolFindings(core.databases)).toMatchObject([
    { where: 'pool halted', finding: expect.stringContaining('it is paused') },
  ])
  expect(await resumeWorkerPool(core.databases, 'halted')).toBe(true)
  expect(await poolFindings(core.databases)).toMatchObject([
    { level: 'problem', where: 'pool halted', finding: expect.stringContaining('no worker of it has registered') },
  ])
  await until('it goes on', async () => (await claimNow('halted', 1)).length === 1)
})

it('a paused pool gives nothing to another worker, although a lease is over', async () => {
  await start('resting')
  await pending('resting', 1)
  const [held] = await claimNow('resting', 1)
  await pauseWorkerPool(core.databases, 'resting', 'night')
  await expireLease(database.get(), held!)
  await knowingLimits(async (by) => {
    expect(await by.commands.claimOne(held!.eventId, 'other')).toMatchObject({ code: 'pool_saturated' })
    expect(await by.commands.claimOne(held!.eventId, held!.workerId)).toMatchObject({ attempt: 1 })
  })
  await resumeWorkerPool(core.databases, 'resting')
})

it('a claim that comes as an event is held to pauses and limits, with what is said after it', async () => {
  await pauseWorkerPool(core.databases, 'by-event', 'night')
  const executionId = await start('by-event')
  await pending('by-event', 1)
  const commandId = `${executionId}:a:1`
  const event = (type: string, worker = 'w') => ({
    ...{ execution_id: executionId, step: 'a', event_type: type, worker_id: worker },
    payload: { command_id: commandId },
  })
  const status = async () => (await daemon.commands.list({ pool: 'by-event', after: '0', limit: 1 }))[0]!.status
  await knowingLimits(async ({ commands: { appendClaims } }) => {
    const deps = { ...core, appendClaims }
    await expect(ingestEvent(deps, event('command.claimed'))).rejects.toMatchObject({
      code: 'saturated',
      details: { code: 'pool_saturated', retryAfterSeconds: 5 },
    })
    const events = [event('command.claimed'), event('command.started')]
    expect(await ingestBatch(deps, { execution_id: executionId, worker_id: 'w', events })).toMatchObject([
      { kind: 'unclaimable', code: 'pool_saturated' },
      { kind: 'ignored', reason: 'not_holder' },
    ])
    expect(await status()).toBe('PENDING')
  })
  await resumeWorkerPool(core.databases, 'by-event')
  await limitCommands(core.databases, 'pool', 'by-event', 1)
  const other = await start('by-event')
  await pending('by-event', 2)
  await knowingLimits(async ({ commands: { appendClaims } }) => {
    const deps = { ...core, appendClaims }
    expect(await ingestEvent(deps, event('command.claimed'))).toMatchObject({ kind: 'stored' })
    // Its own again takes no place more; another one finds none.
    expect(await ingestEvent(deps, event('command.claimed'))).toMatchObject({ kind: 'claimed', own: true })
    const full = { ...event('command.claimed'), execution_id: other, payload: { command_id: `${other}:a:1` } }
    await expect(ingestEvent(deps, full)).rejects.toMatchObject({ code: 'saturated' })
    // Whoever may not have it for another reason hears that reason.
    await expect(ingestEvent(deps, event('command.claimed', 'late'))).rejects.toMatchObject({ code: 'conflict' })
  })
  await limitCommands(core.databases, 'pool', 'by-event', undefined)
})

it('a higher priority comes first', async () => {
  const low = await start('mixed', { priority: -5 })
  const plain = await start('mixed')
  const high = await start('mixed', { priority: 7 })
  await pending('mixed', 3)
  expect((await claimNow('mixed', 3)).map(({ executionId }) => executionId)).toEqual([high, plain, low])
})
