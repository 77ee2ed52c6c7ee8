// Promise: a playbook with a schedule starts once per moment, whichever daemon is alive; a daemon that was dead for three
// moments makes up for them as the schedule says; a pause starts nothing, and a version without a schedule ends it.
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import { statement } from '../../src/db/queries.js'
import { CpError } from '../../src/errors.js'
import { type CatalogEntry, deleteEntry, registerEntry, restoreEntry } from '../../src/services/catalog/catalog.js'
import { endExecution } from '../../src/services/executions/executions.js'
import { startDue } from '../../src/services/schedules/scheduler.js'
import { allSchedules, findSchedule, pause, resume } from '../../src/services/schedules/schedules.js'
import { lockPath } from '../../src/stores/catalog/catalogStore.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'

let database: TestDatabase
let cores: TestCore[]

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  cores = await Promise.all([1, 2].map((machine) => openCore([database], { machineId: String(machine) })))
})
afterAll(async () => {
  for (const core of cores) await core.close()
  await database.drop()
})
beforeEach(() => database.sql('delete from noetl.cp_schedule', []))

const HOUR_MS = 3_600_000

async function register(path: string, schedule: string): Promise<void> {
  await registerEntry(cores[0]!, {
    content: `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: s, path: ${path}${schedule}}\nworkflow: [{step: one, tool: {kind: noop}}]\n`,
  })
}

/** As if nobody had looked for some hours. */
async function asleep(path: string, hours: number): Promise<void> {
  await database.sql(
    `update noetl.cp_schedule set last_tick = date_trunc('hour', now()) - interval '1 minute' - make_interval(hours => $2::int - 1), next_tick = now() where path = $1`,
    [path, hours],
  )
}

const due = (core: TestCore): Promise<number> =>
  startDue({
    ...core,
    random: Math.random,
    onError: (error) => {
      throw error
    },
  })

async function started(path: string): Promise<string[]> {
  const rows = await database.sql<{ execution_id: string }>(
    'select execution_id::text as execution_id from noetl.execution where path = $1 order by 1',
    [path],
  )
  return rows.map((row) => row.execution_id)
}

const STUCK = 110

it('those that cannot be started now hold up none of the others, however many they are, and lose nothing', async () => {
  await register('schedules/stuck', ', schedule: {cron: "0 * * * *"}')
  await register('schedules/well', ', schedule: {cron: "0 * * * *"}')
  await database.sql(
    `insert into noetl.catalog (catalog_id, path, version, kind, content)
     select $1::bigint + n, 'schedules/stuck/' || n, 1, kind, content from noetl.catalog, generate_series(1, ${STUCK}) n where path = 'schedules/stuck'`,
    [cores[0]!.ids.next()],
  )
  await database.sql(
    `insert into noetl.cp_schedule (path, cron, timezone, missed, overlap)
     select 'schedules/stuck/' || n, '0 * * * *', 'UTC', 'once', 'allow' from generate_series(1, ${STUCK}) n`,
    [],
  )
  await database.sql(
    `update noetl.cp_schedule set last_tick = date_trunc('hour', now()) - interval '1 minute', next_tick = now() - interval '1 hour' where path like 'schedules/stuck/%'`,
    [],
  )
  await asleep('schedules/well', 1)
  const [core] = cores as [TestCore]
  const { documents } = core
  const away = {
    ...documents,
    ofEntry: (entry: CatalogEntry) => {
      if (!entry.path.startsWith('schedules/stuck/')) return documents.ofEntry(entry)
      return Promise.reject(new CpError('unavailable', 'nobody can read it now'))
    },
  }
  const errors: string[] = []
  const look = () =>
    startDue({ ...core, documents: away, random: Math.random, onError: (error) => errors.push(error.message) })
  while ((await look()) > 0);
  expect(await started('schedules/well')).toHaveLength(1)
  expect(new Set(errors)).toEqual(new Set(['nobody can read it now']))
  const path = 'schedules/stuck/1'
  expect(await findSchedule(core, path)).toMatchObject({
    last_error: 'nobody can read it now',
    last_execution_id: null,
  })
  expect(await started(path)).toEqual([])
  await database.sql(`update noetl.cp_schedule set next_tick = now() where path = $1`, [path])
  await due(core)
  expect(await started(path)).toHaveLength(1)
  expect(await findSchedule(core, path)).toMatchObject({ last_error: null })
})

it('starts one execution per moment, though two daemons look at once', async () => {
  await register('schedules/once', ', schedule: {cron: "0 * * * *"}')
  expect(await due(cores[0]!)).toBe(0)
  await asleep('schedules/once', 1)
  await Promise.all([...cores, ...cores].map(due))
  expect(await started('schedules/once')).toHaveLength(1)
  const { next_ms: next, now_ms: now } = await findSchedule(cores[0]!, 'schedules/once')
  expect(next! - now).toBeGreaterThan(0)
  expect(next! - now).toBeLessThanOrEqual(HOUR_MS)
})

it.each([
  ['once', 1],
  ['all', 3],
])('makes up for three moments: %s', async (missed, count) => {
  const path = `schedules/missed-${missed}`
  await register(path, `, schedule: {cron: "0 * * * *", missed: ${missed}}`)
  await asleep(path, 3)
  await due(cores[0]!)
  await due(cores[1]!)
  expect(await started(path)).toHaveLength(count)
})

it('does not start while the run before is under way, if it says so', async () => {
  const path = 'schedules/overlap'
  await register(path, ', schedule: {cron: "0 * * * *", overlap: skip}')
  await asleep(path, 1)
  await due(cores[0]!)
  await database.sql(`update noetl.cp_schedule set cron = '30 * * * *' where path = $1`, [path])
  await asleep(path, 2)
  await due(cores[0]!)
  const [only, ...others] = await started(path)
  expect(others).toEqual([])
  await endExecution(cores[0]!, { executionId: only as never, outcome: 'COMPLETED' })
  await asleep(path, 2)
  await due(cores[1]!)
  expect(await started(path)).toHaveLength(2)
})

it('starts nothing while it is paused, and does not make up for the pause', async () => {
  const path = 'schedules/paused'
  await register(path, ', schedule: {cron: "0 * * * *", missed: all}')
  await pause(cores[0]!, path)
  await asleep(path, 3)
  expect(await due(cores[0]!)).toBe(0)
  const { next_ms: next, now_ms: now } = await resume(cores[0]!, path)
  expect(next! > now).toBe(true)
  await due(cores[0]!)
  expect(await started(path)).toEqual([])
  await expect(pause(cores[0]!, 'schedules/none')).rejects.toThrow('has no schedule')
})

it('ends with a version without a schedule; a wrong one is refused', async () => {
  const path = 'schedules/gone'
  await register(path, ', schedule: {cron: "0 * * * *"}')
  expect(await allSchedules(cores[0]!)).toHaveLength(1)
  await register(path, '')
  expect(await allSchedules(cores[0]!)).toEqual([])
  await expect(register(path, ', schedule: {cron: "never"}')).rejects.toThrow('/metadata/schedule')
})

it('follows the newest version that there is, when versions are deleted and restored', async () => {
  const path = 'schedules/versions'
  const [core] = cores as [TestCore]
  const crons = async () => (await allSchedules(core)).map(({ cron }) => cron)
  await register(path, ', schedule: {cron: "0 * * * *"}')
  await asleep(path, 1)
  await due(core)
  await register(path, ', schedule: {cron: "30 * * * *"}')
  await asleep(path, 2)
  await due(core)
  await deleteEntry(core, path, 2)
  expect(await crons()).toEqual(['0 * * * *'])
  await restoreEntry(core, path, 2)
  expect(await crons()).toEqual(['30 * * * *'])
  await deleteEntry(core, path, undefined)
  expect(await crons()).toEqual([])
  await restoreEntry(core, path, 1)
  expect(await crons()).toEqual(['0 * * * *'])
  const { next_ms: next, now_ms: now } = await findSchedule(core, path)
  expect(next! > now).toBe(true)
})

it('one whose playbook is gone ends, and one that was registered anew meanwhile stays', async () => {
  const path = 'schedules/elsewhere'
  const [core] = cores as [TestCore]
  await register(path, ', schedule: {cron: "0 * * * *"}')
  await database.sql('update noetl.catalog set archived_at = now() where path = $1', [path])
  await asleep(path, 1)
  const look = () => startDue({ ...core, random: Math.random, onError: () => undefined })
  // Somebody registers it again at the moment at which its start fails.
  let looking: Promise<number> | undefined
  await cores[1]!.databases.cluster.db.tx(async (tx) => {
    await lockPath(tx, path)
    await tx.run(statement(`update noetl.catalog set archived_at = null where path = '${path}'`))
    await tx.run(statement(`update noetl.cp_schedule set updated_at = now() where path = '${path}'`))
    looking = look()
    await until('the scheduler waits for it', async () => {
      const [found] = await database.sql<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        [],
      )
      return found!.waiting > 0
    })
  })
  await looking
  expect(await allSchedules(core)).toHaveLength(1)
  await database.sql('update noetl.catalog set archived_at = now() where path = $1', [path])
  await asleep(path, 1)
  await look()
  expect(await allSchedules(core)).toEqual([])
})
