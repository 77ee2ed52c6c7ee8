// Promise: whatever is lost in memory comes back by itself: a thread with its states, a whole daemon with thousands
// of running executions, states that had to make room. Memory stays within its bound all the while.
import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { pullDocument, registerDocuments } from '../subscriptions/specs.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { scaled } from '../support/scale.js'
import { until } from '../support/until.js'
import { append, foldText, openState, plantRunning, type StateOptions, start, type TestState } from './stateHarness.js'

const CHAIN = new URL('./orchestrators/chain.mjs', import.meta.url).pathname

const LIVE = scaled(2_000, 10_000)
const RESTARTED = scaled(500, 2_000)

const database = useDatabase()
let core: TestCore
let catalogId: string
const states: TestState[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/recovery')
})
afterEach(async () => {
  await Promise.all(states.splice(0).map((state) => state.close()))
  await database.get().sql("update noetl.execution set status = 'CANCELLED'")
})
afterAll(() => core.close())

async function open(options: StateOptions = {}): Promise<TestState> {
  const state = await openState(core, options)
  states.push(state)
  await until('lanes are held', () => state.service.stats().lanes[0] === 64)
  return state
}

const sample = (ids: readonly string[], count: number): string[] =>
  ids.filter((_, index) => index % Math.ceil(ids.length / count) === 0)

describe('live states', () => {
  it('of a thread that dies are built again, the question that killed it is asked once more, decisions stay single', async () => {
    const state = await open({ threads: 1, orchestrator: CHAIN })
    const neighbours = await Promise.all(Array.from({ length: 5 }, () => start(core, catalogId)))
    await until('all have their first step', async () => (await issued()) === 5)
    const victim = await start(core, catalogId)
    await append(core, victim, 'step.enter', 'poison')
    await until('the thread is lost', () => state.counts.threadLosses === 1)
    await until('the victim goes on', async () => (await issued()) === 6)
    for (const id of [victim, ...neighbours]) {
      await append(core, id, 'command.completed', 's1', { meta: { command_id: `${id}:s1` } })
    }
    await until('all have their second step', async () => (await issued()) === 12)
    for (const id of [victim, ...neighbours]) expect(await state.sealed(id)).toBe(await foldText(database.get(), id))
    expect(state.counts.decisions).toEqual({ appended: 12 })
    rmSync(`/tmp/noetl-cp-poison-${victim}`)
  })

  it('of an ended execution are shown to whoever joins the round that lets go of it', async () => {
    for (const snapshotAtEnd of ['remove', 'keep'] as const) {
      const state = await open({ threads: 1, snapshotAtEnd })
      const id = await start(core, catalogId)
      await append(core, id, 'playbook.completed', 'playbook')
      const { sealed, view, terminal } = await state.service.ask(id, { drive: true, sealed: true, view: true })
      expect(terminal).toBe(true)
      expect(view).toBeDefined()
      expect(Buffer.from(sealed!).toString('latin1')).toBe(await foldText(database.get(), id))
      await state.close()
    }
  })

  it('are looked after of executions alone: a subscription has a log, but nothing that could end', async () => {
    await registerDocuments(core)
    await registerEntry(core, { content: pullDocument({ path: 'tests/followed', stream: 'NOWHERE' }) })
    const { row } = await registerSubscription(core, 'tests/followed')
    await start(core, catalogId)
    const state = await open()
    await until('the execution is looked after', () => state.service.stats().tracked > 0)
    expect(state.service.stats().tracked).toBe(1)
    const advances = state.counts.advances
    await changeSubscription(core, { id: row.subscription_id, action: 'deactivate' })
    await until('the change was heard of', () => state.counts.advances > advances)
    await until('it is let go', () => state.service.stats().tracked === 1)
  })

  it(`of ${RESTARTED} running executions are all back after a restart, each asked about once`, async () => {
    const ids = await plantRunning(database.get(), RESTARTED, 4)
    const state = await open({ orchestrator: CHAIN })
    await until('all are driven', async () => (await issued()) === RESTARTED, { timeoutMs: 120_000 })
    await until('all are looked after', () => state.service.stats().tracked === RESTARTED)
    for (const id of sample(ids, 20)) expect(await state.sealed(id)).toBe(await foldText(database.get(), id))
    expect(state.counts.decisions).toEqual({ appended: RESTARTED })
    expect(state.counts.errors).toEqual([])
  })

  it(`of ${LIVE} executions stay within the bound of bytes, and every one is still right`, async () => {
    const ids = await plantRunning(database.get(), LIVE, 4)
    const bytesMax = 250_000
    let most = 0
    const state = await open({ bytesMax })
    const watch = setInterval(() => {
      most = Math.max(most, state.service.stats().bytes)
    }, 5)
    await until(
      'all were looked at',
      () => state.service.stats().tracked === LIVE && state.service.stats().queued === 0,
      { timeoutMs: 120_000 },
    )
    await until('all were advanced', () => state.counts.advances >= LIVE, { timeoutMs: 120_000 })
    clearInterval(watch)
    expect(state.counts.evicted['bound']).toBeGreaterThan(LIVE - 1_000)
    // Those in the hands of threads come on top: two threads with eight each, about a kilobyte.
    expect(most).toBeLessThan(bytesMax * 1.2)
    for (const id of sample(ids, 20)) expect(await state.sealed(id)).toBe(await foldText(database.get(), id))
    expect(state.counts.rejected).toEqual({})
    expect(state.counts.rebuilds.snapshot).toBeGreaterThan(0)
    expect(state.counts.errors).toEqual([])
  }, 300_000)
})

async function issued(): Promise<number> {
  const [row] = await database.get().sql<{ count: number }>(
    `select count(*)::int as count from noetl.event e join noetl.execution x using (execution_id)
     where e.event_type = 'command.issued' and x.status = 'RUNNING'`,
  )
  return row!.count
}
