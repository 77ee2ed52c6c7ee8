// Promise: a command that changes something is on record before it does, by whom, with what and why, and afterwards with how it
// ended; a dry run and a look are not; what cannot be put on record is not done.
import { userInfo } from 'node:os'
import { expect, it } from 'vitest'
import { cli } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()

const run = (args: string[], input?: string) =>
  cli([...args, '--json'], {
    env: { NOETL_DATABASE_URL: database.get().url },
    ...(input === undefined ? {} : { input }),
  })

async function recorded(): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(['activity'])
  const entries = JSON.parse(stdout) as Record<string, unknown>[]
  return entries.map(({ id: _id, at: _at, finished_at: _end, ...entry }) => entry).reverse()
}

it('is on record with its outcome, and nothing else is', async () => {
  const by = { actor: userInfo().username, role: 'operator', via: 'cli', error: null, reason: null }
  expect((await run(['catalog', 'register', '-'], playbook('tests/acts'))).code).toBe(0)
  const started = await run(['execution', 'start', 'tests/acts', '--payload', '{"password": "hunter22"}'])
  const id = String(JSON.parse(started.stdout).execution_id)
  expect((await run(['execution', 'cancel', id, '--reason', 'wrong input'])).code).toBe(0)
  expect((await run(['execution', 'cancel', 'not an id'])).code).toBe(2)
  expect((await run(['execution', 'finalize', '12', '--status', 'FAILED'])).code).toBe(3)
  expect((await run(['outbox', 'dead', 'redrive', '--all', '--dry-run'])).code).toBe(0)
  expect((await run(['outbox', 'dead', 'redrive', '--reason', 'too large'])).code).toBe(0)
  expect((await run(['outbox', 'dead', 'redrive', '--reason', 'too large', '--note', 'repaired'])).code).toBe(0)
  expect((await run(['execution', 'list'])).code).toBe(0)
  const all = await recorded()
  expect(all).toEqual([
    {
      ...by,
      action: 'catalog.register',
      target_kind: 'catalog',
      target_id: '-',
      request: expect.anything(),
      outcome: 'done',
    },
    {
      ...by,
      action: 'execution.start',
      target_kind: 'execution',
      target_id: 'tests/acts',
      request: expect.anything(),
      outcome: 'done',
    },
    {
      ...by,
      action: 'execution.cancel',
      target_kind: 'execution',
      target_id: id,
      request: { id },
      outcome: 'done',
      reason: 'wrong input',
    },
    {
      ...by,
      ...{
        action: 'execution.finalize',
        target_kind: 'execution',
        target_id: '12',
        request: { id: '12', status: 'FAILED' },
      },
      ...{ outcome: 'refused', error: expect.stringContaining('there is no execution 12') },
    },
    // What it filters by is no reason for it.
    {
      ...by,
      action: 'outbox.dead.redrive',
      target_kind: null,
      target_id: null,
      request: expect.objectContaining({ reason: 'too large' }),
      outcome: 'done',
    },
    {
      ...by,
      action: 'outbox.dead.redrive',
      target_kind: null,
      target_id: null,
      request: expect.not.objectContaining({ note: expect.anything() }),
      outcome: 'done',
      reason: 'repaired',
    },
  ])
  expect(JSON.stringify(all)).not.toContain('hunter22')
})

it('is listed newest first, however many there are', async () => {
  await database.get().sql(
    `insert into noetl.operator_action (actor, role, via, action, target_id, outcome)
     select 'x', 'operator', 'api', 'many', n::text, 'done' from generate_series(1, 120) n`,
    [],
  )
  const { stdout } = await run(['activity', '--action', 'many', '--limit', '3'])
  expect(JSON.parse(stdout).map((act: { target_id: string }) => act.target_id)).toEqual(['120', '119', '118'])
})

it('is not done when it cannot be put on record', async () => {
  const { stdout } = await run(['execution', 'start', 'tests/acts'])
  const id = String(JSON.parse(stdout).execution_id)
  await database.get().sql(`create function pg_temp_full() returns trigger language plpgsql as $$
    begin raise exception 'disk full' using errcode = 'disk_full'; end $$`)
  await database
    .get()
    .sql('create trigger full_disk before insert on noetl.operator_action for each row execute function pg_temp_full()')
  const refused = await run(['execution', 'cancel', id])
  expect([refused.code, refused.stderr]).toEqual([69, expect.stringContaining('nothing was done')])
  const [row] = await database.get().sql('select status from noetl.execution where execution_id = $1::bigint', [id])
  expect(row).toEqual({ status: 'RUNNING' })
})
