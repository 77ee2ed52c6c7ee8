// Promise: what this process remembers of an execution only saves the look before an append. Whoever has changed anything in
// between, nothing is numbered twice, judged by what is no longer so, or sorted before what was there.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Tx } from '../../src/db/db.js'
import type { HeldCommand } from '../../src/services/commands/commands.js'
import { completed, done, openCommands, startWorkflow, type TestCommands } from '../commands/commandHarness.js'
import { foldText } from '../state/stateHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore
let other: TestCore
let daemon: TestCommands
/** The statements of the daemon's transactions. */
const transactions: string[][] = []

const sql = <Row>(text: string, values: (string | null)[] = []) => database.get().sql<Row>(text, values)

beforeAll(async () => {
  core = await openCore([database.get()])
  other = await openCore([database.get()], { hostName: 'other-host' })
  const { db } = core.databases.shards[0]!
  const { tx: run } = db
  db.tx = (work, options) =>
    run((tx) => {
      const statements: string[] = []
      transactions.push(statements)
      const watched = {
        ...tx,
        run: (query, ...rest) => {
          statements.push(query.name)
          return tx.run(query, ...rest)
        },
      } as Tx
      return work(watched)
    }, options)
  daemon = await openCommands(core, { patienceMs: 30_000 })
})
afterAll(async () => {
  await daemon.close()
  await other.close()
  await core.close()
})
beforeEach(() => {
  transactions.length = 0
})
const withStatement = (name: string) => transactions.filter((statements) => statements.includes(name))

const FOUR_STEPS = `workflow:
- {step: a, tool: {kind: python, code: "x"}, next: [b]}
- {step: b, tool: {kind: python, code: "x"}, next: [c]}
- {step: c, tool: {kind: python, code: "x"}, next: [d]}
- {step: d, tool: {kind: python, code: "x"}}
`
const answer = (held: HeldCommand) => daemon.commands.report(held, [done({ n: 1 }), completed])

async function claim(pool: string): Promise<HeldCommand> {
  const [held] = await daemon.commands.claim({ workerId: `${pool}-worker`, pools: [pool], max: 1, waitMs: 60_000 })
  return held!
}

/** A step whose beginning was written with the answer before, so that all of it is remembered; its command is claimed. */
async function remembered(pool: string): Promise<HeldCommand> {
  for (;;) {
    await startWorkflow(core, FOUR_STEPS, { executionPool: pool })
    const first = await claim(pool)
    await until('the state has the claim', async () => {
      const [row] = await sql<{ n: number }>(
        `select count(*)::int as n from noetl.event where execution_id = $1::bigint`,
        [first.executionId],
      )
      return (await daemon.state.service.ask(first.executionId, {})).version === row!.n
    })
    transactions.length = 0
    await answer(first)
    const held = await claim(pool)
    if (withStatement('decision_follow').length > 0) return held
    // The state was busy: what follows was decided afterwards.
    await answer(held)
    await answer(await claim(pool))
    await answer(await claim(pool))
  }
}

async function expectWhole(executionId: string): Promise<void> {
  const [row] = await sql<{ count: number; last: number; head: number; unordered: number }>(
    `select count(*)::int as count, max(e.stream_version)::int as last, max(x.stream_version)::int as head,
       count(*) filter (where e.event_id <= e.before)::int as unordered
     from (
       select *, lag(event_id) over (order by stream_version) as before from noetl.event where execution_id = $1::bigint
     ) e
     join noetl.execution x using (execution_id)`,
    [executionId],
  )
  expect(row).toEqual({ count: row!.head, last: row!.head, head: row!.head, unordered: 0 })
  expect(await daemon.state.sealed(executionId)).toBe(await foldText(database.get(), executionId))
  expect(daemon.errors).toEqual([])
}

it('appends without a look to what it has left', async () => {
  const held = await remembered('alone')
  transactions.length = 0
  await answer(held)
  const [statements] = withStatement('execution_expect_command')
  expect(statements).toEqual(expect.arrayContaining(['event_publish', 'command_change_one']))
  expect(statements).not.toContain('execution_lock')
  expect(statements).not.toContain('command_named')
  await answer(await claim('alone'))
  await answer(await claim('alone'))
  await expectWhole(held.executionId)
})

it('numbers on behind what another daemon has appended', async () => {
  const held = await remembered('other')
  const note = {
    event: {
      executionId: held.executionId,
      eventId: other.ids.next(),
      eventType: 'note.taken',
      createdAt: '2026-01-02T03:04:05.000000Z',
      createdAtGiven: false,
    },
    idGiven: false,
    publish: true,
    createExecution: false,
  } as unknown as Parameters<TestCore['appender']['append']>[0][number]
  await other.appender.append([note])
  expect(await answer(held)).toMatchObject([{ kind: 'stored' }, { kind: 'stored' }])
  await answer(await claim('other'))
  await answer(await claim('other'))
  await expectWhole(held.executionId)
})

it('sorts behind a row that a foreign program has written', async () => {
  const held = await remembered('foreign')
  const [high] = await sql<{ id: string }>(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, created_at)
     select execution_id, max(event_id) + 1000000, max(catalog_id), 'note.taken', now()
     from noetl.event where execution_id = $1::bigint group by execution_id
     returning event_id::text as id`,
    [held.executionId],
  )
  const [outcome] = await answer(held)
  expect(outcome!.kind).toBe('stored')
  const [row] = await sql<{ is_behind: boolean }>(
    `select min(event_id) > $2::bigint as is_behind from noetl.event
     where execution_id = $1::bigint and event_type = 'call.done' and node_name = 'b'`,
    [held.executionId, high!.id],
  )
  expect(row!.is_behind).toBe(true)
})

it('does not take an answer from a worker whose command went to another', async () => {
  const held = await remembered('requeued')
  await sql(
    `update noetl.command set status = 'CLAIMED', worker_id = 'another', attempt = 2, lease_token = lease_token + 1 where event_id = $1::bigint`,
    [held.eventId],
  )
  expect(await answer(held)).toMatchObject([
    { kind: 'ignored', reason: 'reclaimed' },
    { kind: 'ignored', reason: 'reclaimed' },
  ])
})
