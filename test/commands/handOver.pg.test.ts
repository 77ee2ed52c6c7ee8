// Promise: a command for which a worker of the daemon waits is claimed with the decision that issues it, as a claim would have
// done it: the same events, row and content, secrets included. Where a pool is limited or paused nothing is handed over, and
// what a worker holds without knowing goes to others.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeJson } from '../../src/domain/json/write.js'
import { limitCommands, pauseWorkerPool } from '../../src/services/commands/commandLimits.js'
import type { HeldCommand } from '../../src/services/commands/commands.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import {
  completed,
  done,
  expireLease,
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
  // Nobody looks by himself.
  daemon = await openCommands(core, { pollMs: 3_600_000 })
})
afterAll(async () => {
  await daemon.close()
  await core.close()
})

const TWO_STEPS = `workflow:
- {step: a, tool: {kind: python, code: "x"}, next: [b]}
- {step: b, tool: {kind: python, code: "x", args: {given: "{{ a.data }}"}}}
`

const claim = (pool: string, workerId: string, max = 1) =>
  daemon.commands.claim({ workerId, pools: [pool], max, waitMs: 60_000, takesOffers: true })

/** Until it has seen that nothing older waits. An offer that comes to nothing changes nothing. */
async function waits(pool: string): Promise<void> {
  await until('a worker waits', async () => {
    const { takers, settle } = await daemon.commands.offer([{ pool, kind: 'python', priority: 0 }])
    settle([undefined])
    return takers[0] !== undefined
  })
}

/** Runs step a, and answers it when a worker waits for b. */
async function handOver(pool: string, data: Parameters<typeof done>[0]): Promise<HeldCommand> {
  const executionId = await startWorkflow(core, TWO_STEPS, { executionPool: pool })
  const [first] = await claim(pool, `${pool}-a`)
  const waiting = claim(pool, `${pool}-b`)
  await waits(pool)
  await daemon.commands.report(first!, [done(data), completed])
  const [second] = await waiting
  expect(second).toMatchObject({ executionId, step: 'b', attempt: 1, workerId: `${pool}-b` })
  return second!
}

interface Logged {
  event_type: string
  event_id: string
  worker_id: string | null
  meta: { handed_over?: boolean; attempt?: number; command_id?: string }
  xmin: string
}

function logOf(executionId: string): Promise<Logged[]> {
  return database
    .get()
    .sql<Logged>(
      `select event_type, event_id::text, worker_id, meta, xmin::text from noetl.event where execution_id = $1::bigint order by stream_version`,
      [executionId],
    )
}

it('claims with the decision, says so in the log, and the answer ends the execution', async () => {
  const held = await handOver('plain', { n: 3, text: 'x' })
  const log = await logOf(held.executionId)
  expect(log.slice(-4).map((row) => row.event_type)).toEqual([
    'step.exit',
    'step.enter',
    'command.issued',
    'command.claimed',
  ])
  const [issued, claimed] = log.slice(-2)
  expect(issued!.event_id).toBe(held.eventId)
  expect(issued!.meta.handed_over).toBe(true)
  expect(claimed).toMatchObject({ worker_id: 'plain-b', meta: { command_id: held.commandId, attempt: 1 } })
  expect(claimed!.xmin).toBe(issued!.xmin)
  expect(await rowOf(database.get(), held.eventId)).toEqual({
    status: 'CLAIMED',
    attempt: 1,
    worker_id: 'plain-b',
    has_lease: true,
  })
  const read = await daemon.commands.get(held.eventId, 'open')
  expect(held.context).toEqual(read.context)
  const { lease_token: token, lease_until: until, ...meta } = held.meta
  expect(meta).toEqual(read.meta)
  expect(token).toBe(held.leaseToken)
  expect(until).toBe(held.leaseUntil)
  await daemon.commands.report(held, [done(), completed])
  await expectEnd(held.executionId)
})

it('gives secrets and numbers as a claim gives them', async () => {
  const held = await handOver('secret', { password: 'kq7-nobody-sees-it', large: 1e300 })
  const { context } = await daemon.commands.get(held.eventId, 'open')
  expect(held.context).toEqual(context)
  expect(writeJson(held.context)).toContain('kq7-nobody-sees-it')
  const shown = await database
    .get()
    .sql<{ text: string }>(`select row(e.*)::text as text from noetl.event e where execution_id = $1::bigint`, [
      held.executionId,
    ])
  expect(shown.map(({ text }) => text).join()).not.toContain('kq7-nobody-sees-it')
  await daemon.commands.report(held, [done(), completed])
  await expectEnd(held.executionId)
})

it('loses nothing with its worker: another one has it when the lease is over', async () => {
  const held = await handOver('dies', {})
  expect(await daemon.commands.claimOne(held.eventId, 'other')).toMatchObject({ code: 'active_claim' })
  await expireLease(database.get(), held)
  const again = await daemon.commands.claimOne(held.eventId, 'other')
  expect(again).toMatchObject({ attempt: 2, workerId: 'other', context: held.context })
  expect(await daemon.commands.report(held, [done(), completed])).toMatchObject([
    { kind: 'ignored' },
    { kind: 'ignored' },
  ])
  await daemon.commands.report(again as HeldCommand, [done(), completed])
  await expectEnd(held.executionId)
})

it('hands over no more than there is room for, and the rest is claimed', async () => {
  const loop = 'loop: {in: 5, iterator: x, spec: {mode: parallel}}'
  const waiting = claim('many', 'm', 2)
  await waits('many')
  const executionId = await startWorkflow(core, `workflow:\n- {step: a, ${loop}, tool: {kind: python, code: "x"}}\n`, {
    executionPool: 'many',
  })
  const held = await waiting
  while (held.length < 5) held.push(...(await claim('many', 'm', 2)))
  expect(new Set(held.map(({ commandId }) => commandId)).size).toBe(5)
  const issued = (await logOf(executionId)).filter((row) => row.event_type === 'command.issued')
  expect(issued.filter((row) => row.meta.handed_over === true)).toHaveLength(2)
  for (const command of held) await daemon.commands.report(command, [done(), completed])
  await expectEnd(executionId)
})

it.each(['limited', 'paused'])('hands over nothing of a pool that is %s', async (how) => {
  if (how === 'limited') await limitCommands(core.databases, 'pool', how, 5)
  else await pauseWorkerPool(core.databases, how, 'a test')
  const gone = new AbortController()
  const asked = daemon.commands.claim({
    workerId: 'w',
    pools: [how, 'open'],
    max: 2,
    waitMs: 60_000,
    takesOffers: true,
    signal: gone.signal,
  })
  // Limits are looked at twice a second.
  await until('only the other pool is handed over', async () => {
    const offered = [how, 'open'].map((pool) => ({ pool, kind: 'python', priority: 0 }))
    const { takers, settle } = await daemon.commands.offer(offered)
    settle([undefined, undefined])
    return takers[0] === undefined && takers[1] !== undefined
  })
  gone.abort()
  expect(await asked).toEqual([])
})

it('gives back what a worker has held for a while and does not know of', async () => {
  const [known, lost, young] = [await handOver('k', {}), await handOver('l', {}), await handOver('y', {})]
  await database
    .get()
    .sql(
      `update noetl.command set worker_id = 'forgetful', claimed_at = now() - interval '1 minute' where event_id = any($1::bigint[])`,
      [[known.eventId, lost.eventId]],
    )
  await database
    .get()
    .sql(`update noetl.command set worker_id = 'forgetful' where event_id = $1::bigint`, [young.eventId])
  await daemon.commands.releaseStrays('forgetful', [known.eventId])
  expect(await rowOf(database.get(), known.eventId)).toMatchObject({ status: 'CLAIMED', attempt: 1 })
  expect(await rowOf(database.get(), young.eventId)).toMatchObject({ status: 'CLAIMED', attempt: 1 })
  expect(await rowOf(database.get(), lost.eventId)).toMatchObject({ status: 'PENDING', attempt: 2, has_lease: false })
})

async function expectEnd(executionId: string): Promise<void> {
  await until(`${executionId} ends`, async () => {
    const [row] = await database
      .get()
      .sql<{ status: string }>('select status from noetl.execution where execution_id = $1::bigint', [executionId])
    return row?.status === 'COMPLETED'
  })
}
