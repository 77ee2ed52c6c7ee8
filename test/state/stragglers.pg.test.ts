// Promise: an event that comes late, with an old id and an old time, is in the live state as soon as it is visible:
// whoever wrote it, whatever its type, and in whichever state cache, snapshot and process are.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { append, foldText, insertForeign, openState, type StateOptions, start, type TestState } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let catalogId: string
const states: TestState[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/stragglers')
})
afterEach(async () => {
  await Promise.all(states.splice(0).map((state) => state.close()))
})
afterAll(() => core.close())

async function open(options: StateOptions = {}): Promise<TestState> {
  const state = await openState(core, options)
  states.push(state)
  await until('lanes are held', () => state.service.stats().lanes[0] === 64)
  return state
}

/** An execution with some history, and an event id below all of it. */
async function prepare(events = 12): Promise<{ executionId: string; lowId: string }> {
  const lowId = core.ids.next()
  const executionId = await start(core, catalogId)
  for (let index = 0; index < events; index++) {
    await append(core, executionId, index % 2 === 0 ? 'step.enter' : 'command.completed', `s${index >> 1}`)
  }
  return { executionId, lowId }
}

const TYPES = [
  ['triggering', 'command.completed'],
  ['non-triggering', 'ctx.updated'],
] as const
const WRITERS = ['our append', 'foreign insert'] as const
const CASES = TYPES.flatMap(([kind, type]) => WRITERS.map((writer) => ({ kind, type, writer })))

async function comeLate(executionId: string, lowId: string, type: string, writer: (typeof WRITERS)[number]) {
  if (writer === 'foreign insert') {
    await insertForeign(database.get(), executionId, {
      eventId: lowId,
      type,
      step: 'late',
      meta: { command_id: 'late' },
    })
    return
  }
  await append(core, executionId, type, 'late', {
    event_id: lowId,
    created_at: '2026-01-01T00:00:00Z',
    context: { command_id: 'late', values: { late: 1 } },
  })
}

async function expectExact(state: TestState, executionId: string, events: number): Promise<void> {
  const text = await state.sealed(executionId)
  expect(text).toBe(await foldText(database.get(), executionId))
  expect(JSON.parse(text.split('\n', 1)[0]!)).toMatchObject({ applied_count: events, version: events })
}

describe('with a state in memory', () => {
  // The same for all of them: threads take a second to start.
  let state: TestState
  beforeAll(async () => {
    state = await open()
    states.splice(0)
  })
  afterAll(() => state?.close())

  describe.each(CASES)('a late event of a $kind type by $writer', ({ type, writer }) => {
    it('below the watermark of a state in memory', async () => {
      const { executionId, lowId } = await prepare()
      await expectExact(state, executionId, 13)
      await comeLate(executionId, lowId, type, writer)
      await expectExact(state, executionId, 14)
    })

    it('whose transaction was open while later ones were applied', async () => {
      const { executionId, lowId } = await prepare()
      const { promise: committed, resolve: commit } = withResolvers()
      const { promise: inserted, resolve: wrote } = withResolvers()
      // Our own appends hold the execution's lock, so only a foreign writer can leave a gap that later ones jump over.
      const open_ = database.get().db.tx(async (tx) => {
        await tx.run(
          {
            name: 'test',
            text: `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, meta)
                   values ($1::bigint, $2::bigint, 1, $3::text, 'late', '{"command_id": "late"}')`,
          },
          [executionId, lowId, type],
        )
        wrote()
        await committed
      })
      await inserted
      await append(core, executionId, 'step.enter', 'meanwhile')
      await expectExact(state, executionId, 14)
      if (writer === 'our append') await append(core, executionId, type, 'also')
      commit()
      await open_
      await expectExact(state, executionId, writer === 'our append' ? 16 : 15)
    })
  })

  // A standby that lacked the last commits took over, and their numbers went to other events.
  it.each([0, 1, 2, 3])('a state whose last two events were lost is made anew, %i events later', async (later) => {
    const { executionId } = await prepare(4)
    await expectExact(state, executionId, 5)
    await database
      .get()
      .sql('delete from noetl.event where execution_id = $1::bigint and stream_version > 3', [executionId])
    await database
      .get()
      .sql('update noetl.execution set stream_version = 3, event_count = 3 where execution_id = $1::bigint', [
        executionId,
      ])
    for (let n = 0; n < later; n++) await append(core, executionId, 'step.enter', `after${n}`)
    await expectExact(state, executionId, 3 + later)
  })
})

describe.each(CASES)('a late event of a $kind type by $writer', ({ type, writer }) => {
  it('after a snapshot that does not contain it', async () => {
    const state = await open({ snapshotEvents: 5 })
    const { executionId, lowId } = await prepare()
    await expectExact(state, executionId, 13)
    await until('a snapshot is there', () => snapshotVersion(executionId))
    await comeLate(executionId, lowId, type, writer)
    await expectExact(state, executionId, 14)
    await state.close()
    const again = await open()
    await expectExact(again, executionId, 14)
    expect(again.counts.rejected).toEqual({})
  })

  it('while no daemon was running', async () => {
    const first = await open({ snapshotEvents: 5 })
    const { executionId, lowId } = await prepare()
    await expectExact(first, executionId, 13)
    await first.close()
    await comeLate(executionId, lowId, type, writer)
    const second = await open()
    await until('the reconciler has found it', () => second.service.stats().entries > 0)
    await expectExact(second, executionId, 14)
    expect(second.counts.rebuilds.snapshot).toBeGreaterThan(0)
  })

  it('during a rebuild', async () => {
    const { executionId, lowId } = await prepare(60)
    const state = await open({ page: 3 })
    const building = state.sealed(executionId)
    await comeLate(executionId, lowId, type, writer)
    await building
    await expectExact(state, executionId, 62)
  })
})

async function snapshotVersion(executionId: string): Promise<number | undefined> {
  const [row] = await database
    .get()
    .sql<{ version: string }>('select version from noetl.projection_snapshot where aggregate_id = $1::text', [
      executionId,
    ])
  return row && Number(row.version)
}

function withResolvers(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
