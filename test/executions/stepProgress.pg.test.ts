// Promise: the progress of an execution is that of all its events, however they came, and asking again costs what is new.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Queryable } from '../../src/db/db.js'
import { adoptExecution } from '../../src/services/events/adoption.js'
import { createStepProgress } from '../../src/services/executions/stepProgress.js'
import { append, insertForeign, start } from '../state/stateHarness.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let core: TestCore
let catalogId: string

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/progress')
})
afterAll(() => core.close())

it('follows appended, foreign and late events, and reads each of them once', async () => {
  const id = await start(core, catalogId)
  const db = core.databases.of(id)
  let rows = 0
  const counting = {
    run: async (...given: Parameters<Queryable['run']>) => {
      const answer = await db.run(...given)
      rows = answer.filter((row) => row['rank'] !== null).length
      return answer
    },
  } as Queryable
  const progress = createStepProgress()
  const agreed = async () => {
    const counts = await progress(counting, id)
    // One that has never been asked reads the whole log.
    expect(await createStepProgress()(db, id)).toEqual(counts)
    return counts
  }

  await append(core, id, 'step.enter', 'a')
  await append(core, id, 'command.failed', 'b')
  expect(await agreed()).toMatchObject({ total: 2, completed: 0, failed: 1, running: 1 })
  await progress(counting, id)
  expect(rows).toBe(0)

  await append(core, id, 'step.exit', 'a')
  await append(core, id, 'ctx.updated', 'c')
  expect(await agreed()).toMatchObject({ total: 2, completed: 1, failed: 1, running: 0 })
  expect((await agreed()).completedSteps).toHaveLength(1)

  // Older than everything, and without a number at first.
  await insertForeign(database.get(), id, { eventId: '5', type: 'command.completed', step: 'b' })
  expect(await agreed()).toMatchObject({ total: 2, completed: 2, failed: 0, running: 0 })
  await adoptExecution(db, id)
  expect(await agreed()).toMatchObject({ total: 2, completed: 2, failed: 0, running: 0 })

  // What comes late never takes back what was reached.
  await append(core, id, 'command.started', 'a')
  await append(core, id, 'command.started', 'd')
  expect(await agreed()).toMatchObject({ total: 3, completed: 2, failed: 0, running: 1 })
  await progress(counting, id)
  expect(rows).toBe(0)
})

it('counts a step by what its end said, before what its commands said, and none that was not taken', async () => {
  const id = await start(core, catalogId)
  const progress = createStepProgress()
  const counted = async () => {
    const { total, completed, failed, running, completedSteps } = await progress(core.databases.of(id), id)
    return { total, completed, failed, running, completedSteps }
  }
  await append(core, id, 'step.enter', 'loop')
  await append(core, id, 'command.completed', 'loop')
  await append(core, id, 'command.failed', 'loop')
  await append(core, id, 'step.exit', 'loop', { status: 'FAILED' })
  await append(core, id, 'command.completed', 'tool', { status: 'error' })
  await append(core, id, 'step.skipped', 'other')
  expect(await counted()).toEqual({ total: 2, completed: 0, failed: 2, running: 0, completedSteps: [] })

  // Taken up again, and by another way.
  await append(core, id, 'step.exit', 'loop', { status: 'COMPLETED' })
  await append(core, id, 'step.enter', 'other')
  expect(await counted()).toEqual({ total: 3, completed: 1, failed: 1, running: 1, completedSteps: ['loop'] })
})

// A standby that lacked the last commits took over; what was lost is gone, and its versions go to other events.
it.each([
  ['is shorter', []],
  ['has grown again to the same length', ['step.enter']],
  ['has grown beyond', ['step.enter', 'step.enter']],
])('counts no step of a lost commit when the log %s', async (_, later) => {
  const id = await start(core, catalogId)
  const db = core.databases.of(id)
  const progress = createStepProgress()
  await append(core, id, 'step.exit', 'kept')
  await append(core, id, 'step.exit', 'lost')
  expect(await progress(db, id)).toMatchObject({ total: 2, completed: 2 })
  await database.get().sql('delete from noetl.event where execution_id = $1::bigint and stream_version = 3', [id])
  await database
    .get()
    .sql('update noetl.execution set stream_version = 2, event_count = 2 where execution_id = $1::bigint', [id])
  for (const [n, type] of later.entries()) await append(core, id, type, `after ${n}`)
  const counts = await progress(db, id)
  expect(counts).toMatchObject({ total: 1 + later.length, completed: 1, failed: 0, running: later.length })
  expect(await progress(db, id)).toEqual(counts)
})

it('forgets a step of somebody whose row vanished before it had a number', async () => {
  const id = await start(core, catalogId)
  const progress = createStepProgress()
  await insertForeign(database.get(), id, { eventId: '5', type: 'step.exit', step: 'b' })
  expect(await progress(core.databases.of(id), id)).toMatchObject({ total: 1 })
  await database.get().sql('delete from noetl.event where execution_id = $1::bigint and event_id = 5', [id])
  expect(await progress(core.databases.of(id), id)).toMatchObject({ total: 0 })
})

it('knows nothing of an execution without steps', async () => {
  expect(await createStepProgress()(core.databases.of('1'), '1')).toMatchObject({
    total: 0,
    completed: 0,
    failed: 0,
    running: 0,
  })
})
