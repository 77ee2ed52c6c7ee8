// Promise: a playbook with a schedule starts once per moment, whichever daemon is alive; a daemon that was dead for three
// moments makes up for them as the schedule says; a pause starts nothing, and a version without a schedule ends it.
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import { CpError } from '../../src/errors.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { endExecution } from '../../src/services/executions/executions.js'
import { startDue } from '../../src/services/schedules/scheduler.js'
import { allSchedules, findSchedule, pause, resume } from '../../src/services/schedules/schedules.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'

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

it('one that cannot be started now holds up none of the others', async () => {
  await register('schedules/a-away', ', schedule: {cron: "0 * * * *"}')
  await register('schedules/b-here', ', schedule: {cron: "0 * * * *"}')
  await asleep('schedules/a-away', 1)
  await asleep('schedules/b-here', 1)
  const [core] = cores as [TestCore]
  let starts = 0
  // The first start meets a database that is away.
  const appender = new Proxy(core.appender, {
    get: (target, name) => {
      const own = Reflect.get(target, name)
      if (typeof own !== 'function') return own
      return (...given: unknown[]) => {
        if (starts++ === 0) throw new CpError('unavailable', 'its shard is away')
        return own.apply(target, given)
      }
    },
  })
  const once = startDue({ ...core, appender, random: Math.random, onError: () => undefined })
  await expect(once).rejects.toMatchObject({ code: 'unavailable' })
  expect(await started('schedules/b-here')).toHaveLength(1)
  expect(await started('schedules/a-away')).toHaveLength(0)
  await due(core)
  expect(await started('schedules/a-away')).toHaveLength(1)
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
