// Promise: a long run of steps that wait for nobody is decided while it is written, several decisions to a transaction. Each
// decision is made once, the log is the same as with one transaction for each, and whatever becomes of a transaction, the
// state is what the log says and the execution comes to its end.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openCommands, startWorkflow, type TestCommands } from '../commands/commandHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { foldText } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let daemon: TestCommands

beforeAll(async () => {
  core = await openCore([database.get()])
  daemon = await openCommands(core, { patienceMs: 30_000 })
})
afterAll(async () => {
  await daemon.close()
  await core.close()
})

const STEPS = 450
const sql = <Row>(text: string, values: (string | null)[] = []) => database.get().sql<Row>(text, values)

/** Native steps, then one that a worker does. */
function chainOf(steps: number, last = 'noop'): string {
  const lines = Array.from({ length: steps }, (_, n) => `- {step: s${n}, tool: {kind: noop}, next: [s${n + 1}]}`)
  return `workflow:\n${lines.join('\n')}\n- {step: s${steps}, tool: {kind: ${last}${last === 'noop' ? '' : ', code: x'}}}\n`
}

function logOf(executionId: string) {
  return sql<{ event_type: string; node_name: string; xmin: string; key: string; version: number }>(
    `select event_type, node_name, xmin::text, meta ->> 'idempotency_key' as key, stream_version::int as version
     from noetl.event where execution_id = $1::bigint order by event_id`,
    [executionId],
  )
}

async function untilEnded(executionId: string): Promise<void> {
  await until('the execution has ended', async () => {
    const [row] = await sql<{ status: string }>(`select status from noetl.execution where execution_id = $1::bigint`, [
      executionId,
    ])
    return row!.status === 'COMPLETED'
  })
}

/** The events of native steps in their order, without a gap, each once. */
async function expectWhole(executionId: string, steps: number) {
  const log = await logOf(executionId)
  expect(log.map(({ version }) => version)).toEqual(log.map((_, index) => index + 1))
  const exits = log.filter((row) => row.event_type === 'step.exit').map((row) => row.node_name)
  expect(exits).toEqual(Array.from({ length: steps }, (_, n) => `s${n}`))
  const messages = await sql<{ n: number }>(
    `select count(*)::int as n from noetl.outbox where execution_id = $1::bigint`,
    [executionId],
  )
  expect(messages[0]!.n).toBe(log.length)
  return log
}

it('writes several decisions in one transaction, each under its key', async () => {
  const executionId = await startWorkflow(core, chainOf(STEPS))
  await untilEnded(executionId)
  const log = await expectWhole(executionId, STEPS + 1)
  const decided = log.filter(({ key }) => key !== null)
  expect(new Set(decided.map(({ key }) => key)).size).toBeGreaterThanOrEqual(5)
  expect(new Set(decided.map(({ xmin }) => xmin)).size).toBeLessThan(new Set(decided.map(({ key }) => key)).size)
  expect(log.filter(({ event_type }) => event_type === 'playbook.completed')).toHaveLength(1)
  expect(daemon.errors).toEqual([])
})

it('goes on to the command of a worker, with a state that is what the log says', async () => {
  const executionId = await startWorkflow(core, chainOf(STEPS, 'python'), { executionPool: 'chain' })
  const [held] = await daemon.commands.claim({ workerId: 'w', pools: ['chain'], max: 1, waitMs: 60_000 })
  expect(held!.executionId).toBe(executionId)
  await expectWhole(executionId, STEPS)
  await until('the state has followed', async () => {
    return (await daemon.state.sealed(executionId)) === (await foldText(database.get(), executionId))
  })
})

it('decides anew what was not committed', async () => {
  // The second decision of the chain is refused as long as the table says so.
  await sql('create table refusal (is_on boolean)')
  await sql('insert into refusal values (true)')
  await sql(
    `create function refuse_chain() returns trigger language plpgsql as $$ begin
       if (select is_on from refusal) and new.node_name = 's150' then raise exception 'not today'; end if;
       return new;
     end $$`,
  )
  await sql(
    `create trigger refuse_chain before insert on noetl.event for each row
     when (new.node_name = 's150') execute function refuse_chain()`,
  )
  const executionId = await startWorkflow(core, chainOf(STEPS))
  // What was decided before it stands.
  await until('the first decision is written', async () => (await logOf(executionId)).length > 1)
  await until('it was refused', async () => daemon.state.counts.errors.some((message) => message.includes('not today')))
  expect((await logOf(executionId)).map((row) => row.node_name)).not.toContain('s150')
  await sql('update refusal set is_on = false')
  await daemon.state.service.ask(executionId, { drive: true })
  await untilEnded(executionId)
  await expectWhole(executionId, STEPS + 1)
})
