// Promise: why-stuck names the thing an execution waits for, most likely first, with what to do about it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WireTime } from '../../src/domain/events/wireTime.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { laneOf } from '../../src/domain/leases/lane.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { poolFindings } from '../../src/services/commands/poolDoctor.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { stuckExecutions } from '../../src/services/health/attention.js'
import { type StuckFinding, whyStuck } from '../../src/services/state/whyStuck.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { pausePool, resumePool } from '../../src/stores/commands/commandLimits.js'
import { pullDocument } from '../subscriptions/specs.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { append, openState, type TestState } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let catalogId: string
let state: TestState

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/stuck')
  state = await openState(core, { drive: false })
})
afterAll(async () => {
  await state.close()
  await core.close()
})

const sql = (text: string, values: readonly (string | number)[] = []) => database.get().sql(text, values)

async function findings(executionId: string): Promise<StuckFinding[]> {
  const report = await whyStuck({ databases: core.databases, state: state.service }, executionId as ExecutionId)
  for (const { reason, what, target, actions } of report.findings) {
    // Programs act on the target; it must be what the sentence speaks of.
    if (['outbox', 'subscription', 'step', 'backend'].includes(target.kind)) expect(what).toContain(target.id)
    expect([reason, ...actions], what).toEqual([reason, ...(ACTIONS[reason] ?? [])])
  }
  return report.findings
}

/** What can be done about each reason here, where the engine drives nothing. */
const ACTIONS: Partial<Record<StuckFinding['reason'], StuckFinding['actions']>> = {
  ended: ['execution.rerun'],
  'paused subscription': ['subscription.resume'],
  'dead outbox row': ['outbox.redrive'],
  'outbox backoff': ['outbox.retry'],
  'expired command': ['command.fail', 'execution.cancel'],
  'failed step': ['execution.finalize'],
  'not driven': ['execution.adopt', 'execution.cancel'],
}

/** Everything published, a daemon there, a pool alive: whatever is found afterwards is what the test made. */
async function fresh(parentExecutionId?: string): Promise<string> {
  const { executionId } = await startExecution(core, { catalogId, parentExecutionId })
  await settle()
  await sql(
    `insert into noetl.lease (kind, slot, owner, lease_until) values ('state 0/1', $1::int, 'd', now() + interval '1 hour')
     on conflict (kind, slot) do update set owner = 'd', lease_until = excluded.lease_until`,
    [laneOf(executionId)],
  )
  await heartbeat('workers', 0)
  return executionId
}

const settle = () =>
  sql("update noetl.outbox set status = 'PUBLISHED', published_at = now() where status <> 'PUBLISHED'")
const heartbeat = (name: string, secondsAgo: number) =>
  sql(
    `insert into noetl.runtime (runtime_id, name, kind, status, heartbeat) values (hashtext($1::text), $1::text, 'worker_pool', 'ready', now() - make_interval(secs => $2::int))
     on conflict (kind, name) do update set heartbeat = excluded.heartbeat`,
    [name, secondsAgo],
  )

async function issue(executionId: string, step: string): Promise<string> {
  const commandId = `${executionId}:${step}`
  await append(core, executionId, 'step.enter', step)
  await append(core, executionId, 'command.issued', step, { meta: { command_id: commandId } })
  await settle()
  return commandId
}

describe('an execution', () => {
  it('that nobody drives waits for whoever started it', async () => {
    expect(await findings(await fresh())).toMatchObject([{ reason: 'not driven' }])
  })

  it('that has ended is not stuck', async () => {
    const executionId = await fresh()
    await endExecution(core, { executionId: executionId as ExecutionId, outcome: 'FAILED', error: 'broken' })
    expect(await findings(executionId)).toMatchObject([{ reason: 'ended', what: expect.stringContaining('broken') }])
  })

  it('with a command that nobody claimed; without a pool that is told first', async () => {
    const executionId = await fresh()
    const commandId = await issue(executionId, 'fetch')
    expect(await findings(executionId)).toMatchObject([
      { reason: 'unclaimed command', what: expect.stringContaining(commandId) },
    ])
    await heartbeat('workers', 600)
    expect(await findings(executionId)).toMatchObject([
      {
        reason: 'missing worker pool',
        what: expect.stringContaining('workers last reported'),
        next: 'noetl-cp worker',
      },
      { reason: 'unclaimed command' },
    ])
  })

  it('with a command whose worker runs, or is gone', async () => {
    const executionId = await fresh()
    const commandId = await issue(executionId, 'fetch')
    const meta = { command_id: commandId, worker_id: 'workers-7' }
    await append(core, executionId, 'command.claimed', 'fetch', { worker_id: 'workers-7', meta })
    await append(core, executionId, 'command.started', 'fetch', { worker_id: 'workers-7', meta })
    await settle()
    expect(await findings(executionId)).toMatchObject([
      { reason: 'running command', what: expect.stringContaining('workers-7') },
    ])
    await heartbeat('workers', 600)
    expect(await findings(executionId)).toMatchObject([{ reason: 'expired command', seconds: expect.any(Number) }])
  })

  it('with a parked callback', async () => {
    const executionId = await fresh()
    const commandId = await issue(executionId, 'ask')
    await append(core, executionId, 'command.completed', 'ask', {
      meta: { command_id: commandId, pending_callback: true },
    })
    await settle()
    expect(await findings(executionId)).toMatchObject([
      { reason: 'parked callback', what: expect.stringContaining(commandId) },
    ])
  })

  it('with a failed step', async () => {
    const executionId = await fresh()
    const commandId = await issue(executionId, 'fetch')
    await append(core, executionId, 'command.failed', 'fetch', { meta: { command_id: commandId }, error: 'no route' })
    await settle()
    expect(await findings(executionId)).toMatchObject([
      { reason: 'failed step', what: expect.stringContaining('fetch') },
    ])
  })

  it('behind a dead outbox row, and one that waits for its next attempt', async () => {
    const executionId = await fresh()
    await append(core, executionId, 'step.enter', 'a')
    await append(core, executionId, 'step.enter', 'b')
    await sql(
      `update noetl.outbox set status = 'DEAD', attempts = 1, last_error = 'too large' where outbox_id = (
         select min(outbox_id) from noetl.outbox where execution_id = $1::bigint and status = 'PENDING')`,
      [executionId],
    )
    await sql(
      `update noetl.outbox set status = 'FAILED', attempts = 3, last_error = 'refused', available_at = now() + interval '1 minute'
       where execution_id = $1::bigint and status = 'PENDING'`,
      [executionId],
    )
    const found = await findings(executionId)
    expect(found.slice(0, 2)).toMatchObject([
      { reason: 'dead outbox row', what: expect.stringContaining('dead after 1 attempt: too large') },
      { reason: 'outbox backoff', what: expect.stringContaining('after 3 attempts: refused') },
    ])
    await settle()
  })

  it('of a subscription that is paused: with reason and end', async () => {
    await registerEntry(core, { content: pullDocument({ path: 'test/orders', stream: 'S', playbook: 'test/stuck' }) })
    const { row } = await registerSubscription(core, 'test/orders')
    const id = row.subscription_id
    await changeSubscription(core, { id, action: 'activate' })
    const executionId = await fresh(id)
    expect(await findings(executionId)).toMatchObject([{ reason: 'not driven' }])
    const until = '2999-01-01T00:00:00.000000+00:00' as WireTime
    await changeSubscription(core, { id, action: 'pause', reason: 'the shop moves', until })
    await settle()
    expect(await findings(executionId)).toMatchObject([
      {
        reason: 'paused subscription',
        what: expect.stringMatching(
          new RegExp(`^subscription ${id} \\(test/orders\\) is PAUSED until 2999-01-01.*: the shop moves$`),
        ),
        next: `noetl-cp subscription show ${id}`,
      },
    ])
    await changeSubscription(core, { id, action: 'resume' })
    await settle()
    expect(await findings(executionId)).toMatchObject([{ reason: 'not driven' }])
    for (const action of ['drain', 'deactivate'] as const) {
      await changeSubscription(core, { id, action })
      await settle()
      expect(await findings(executionId)).toMatchObject([{ reason: 'not driven' }])
    }
  })

  it('that nobody drives', async () => {
    const executionId = await fresh()
    await sql('update noetl.lease set lease_until = now()')
    expect(await findings(executionId)).toMatchObject([{ reason: 'no driver' }])
  })

  it('while a transaction is open: with process and statement', async () => {
    const executionId = await fresh()
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const open = database.get().db.tx(async (tx) => {
      await tx.run({
        name: 'test',
        text: `insert into noetl.resource (name) values ('stuck-test') on conflict do nothing`,
      })
      await held
    })
    const found = await until('the transaction is old enough to be named', async () => {
      const named = await findings(executionId)
      return named.some(({ reason }) => reason === 'open transaction') && named
    })
    release()
    await open
    expect(found).toMatchObject([
      { reason: 'open transaction', what: expect.stringMatching(/process \d+.*stuck-test/) },
    ])
  })
})

describe('the overview', () => {
  const told = async (id: string) => {
    const stuck = await stuckExecutions(core.databases)
    return stuck.flatMap(({ executionId, what }) => (executionId === id ? [what] : []))
  }
  const age = (id: string, seconds: number) =>
    sql(
      'update noetl.execution set updated_at = now() - make_interval(secs => $2::int) where execution_id = $1::bigint',
      [id, seconds],
    )

  it('names what stands still with nobody at work on it, and nothing that waits for another', async () => {
    await sql("update noetl.execution set status = 'CANCELLED'")
    const id = await fresh()
    expect(await told(id)).toEqual([])
    await age(id, 3 * 3_600)
    expect(await told(id)).toEqual(['nothing has happened for 3 h'])
    const child = await fresh(id)
    expect(await told(id)).toEqual([])
    await endExecution(core, { executionId: child as ExecutionId, outcome: 'COMPLETED' })
    await age(id, 60)
    expect(await told(id)).toEqual([])
    await append(core, id, 'command.failed', 'fetch', { meta: { command_id: `${id}:fetch` }, error: 'no route' })
    expect(await told(id)).toEqual([])
    await age(id, 60)
    expect(await told(id)).toEqual(['a step failed, and nobody has ended it'])
    await sql('update noetl.execution set engine = 99 where execution_id = $1::bigint', [id])
    expect(await told(id)).toEqual(['no daemon has version 99 of the engine, which it needs'])
    await endExecution(core, { executionId: id as ExecutionId, outcome: 'FAILED' })
    expect(await told(id)).toEqual([])
  })

  it('names the pool in which a command waits: without a worker, or paused', async () => {
    const id = await fresh()
    await sql(
      `insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name, pool, command_key, created_at)
       values (1, 1, $1::bigint, 1, 'fetch', 'workers', 'k', now() - interval '1 minute')`,
      [id],
    )
    await age(id, 3 * 3_600)
    expect(await told(id)).toEqual([])
    await pausePool(core.databases.cluster.db, 'workers', 'a new version')
    expect(await told(id)).toEqual(['the pool workers is paused'])
    await resumePool(core.databases.cluster.db, 'workers')
    await heartbeat('workers', 600)
    expect(await told(id)).toEqual(['no worker of the pool workers is alive'])
    expect(await poolFindings(core.databases)).toMatchObject([
      { where: 'pool workers', finding: expect.stringMatching(/^1 command waits, the oldest for \d+ s; /) },
    ])
  })
})
