// Promise: an execution that was started without the engine is taken over by one event, once, whoever asks and however often,
// and runs to its end; its state is what its log says. What the engine could not go on from is refused, and nothing changes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { adoptForEngine } from '../../src/services/executions/engineAdoption.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { resumeExecution } from '../../src/services/executions/resume.js'
import { type StuckFinding, whyStuck } from '../../src/services/state/whyStuck.js'
import { foldText, insertForeign, openState, type TestState } from '../state/stateHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore
let state: TestState

beforeAll(async () => {
  core = await openCore([database.get()])
  state = await openState(core, { engine: {}, snapshotAtEnd: 'keep', snapshotEvents: 3 })
})
afterAll(async () => {
  await state.close()
  await core.close()
})

const sql = <T extends object>(text: string, values: readonly string[] = []) => database.get().sql<T>(text, values)

let serial = 0
async function register(workflow: string): Promise<string> {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: test/adopt${++serial}}\n${workflow}`
  return (await registerEntry(core, { content })).catalogId
}

const NOOP = 'workload: {n: 7}\nworkflow:\n- {step: a, tool: {kind: noop, result: {n: "{{ workload.n }}"}}}\n'
const PYTHON = 'workflow:\n- {step: a, tool: {kind: python, code: ""}, next: [b]}\n- {step: b, tool: {kind: noop}}\n'

/** Started without the engine. */
async function left(workflow: string): Promise<string> {
  return (await startExecution(core, { catalogId: await register(workflow), payload: {} })).executionId
}

const adopt = (id: string, engine: number | undefined = ENGINE_VERSION) =>
  adoptForEngine({ ...core, engine }, { executionId: id as ExecutionId, reason: 'their server is gone' })

async function rowOf(id: string): Promise<{ status: string; engine: number | null; events: string }> {
  const [row] = await sql<{ status: string; engine: number | null; events: string }>(
    `select status, engine, (select string_agg(event_type, ' ' order by stream_version) from noetl.event e
       where e.execution_id = x.execution_id) as events
     from noetl.execution x where execution_id = $1::bigint`,
    [id],
  )
  return row!
}

const ended = (id: string, status = 'COMPLETED') =>
  until(`${id} is ${status}`, async () => (await rowOf(id)).status === status)

const STEP = 'step.enter command.issued call.done command.completed step.exit'

async function answer(id: string, type: 'command.completed' | 'command.failed', suffix = '1'): Promise<void> {
  const base = { execution_id: id, step: 'a', worker_id: 'w1' }
  const payload = { command_id: `${id}:a:${suffix}` }
  const result = { status: 'success', context: { data: {} } }
  if (type === 'command.completed')
    await ingestEvent(core, { ...base, event_type: 'call.done', payload: { ...payload, result } })
  await ingestEvent(core, { ...base, event_type: type, payload: { ...payload, error: { message: 'broken' } } })
}

const issued = (id: string) =>
  until('its command is issued', async () => (await rowOf(id)).events.includes('command.issued'))

/** What is said when nothing else holds it up: everything is published, and a daemon has its lane. */
const notDriven = (id: string): Promise<StuckFinding> =>
  until('it is said that nobody drives it', async () => {
    await sql("update noetl.outbox set status = 'PUBLISHED', published_at = now() where execution_id = $1::bigint", [
      id,
    ])
    const { findings } = await whyStuck({ databases: core.databases, state: state.service }, id as ExecutionId)
    return findings.find(({ reason }) => reason === 'not driven')
  })

describe('an execution that was started without the engine', () => {
  it('runs to its end once it is adopted, also when its state was looked at before', async () => {
    const id = await left(NOOP)
    await state.service.ask(id, { drive: true })
    expect(await notDriven(id)).toMatchObject({
      next: expect.stringMatching(`^noetl-cp execution adopt ${id} `),
      actions: ['execution.adopt', 'execution.cancel'],
    })
    expect((await rowOf(id)).events).toBe('playbook_started')
    const { eventId } = (await adopt(id)) as { eventId: string }
    await ended(id)
    expect(await rowOf(id)).toMatchObject({
      engine: ENGINE_VERSION,
      events: `playbook_started execution.adopted ${STEP} playbook.completed`,
    })
    const [event] = await sql<{ meta: object; sent: boolean }>(
      `select meta, exists (select 1 from noetl.outbox o where o.event_id = e.event_id) as sent from noetl.event e
       where event_id = $1::bigint`,
      [eventId],
    )
    expect(event).toMatchObject({
      meta: { emitter: 'control_plane', engine: ENGINE_VERSION, reason: 'their server is gone' },
      sent: true,
    })
    expect(await state.sealed(id)).toBe(await foldText(database.get(), id))
  })

  it('is adopted once, however many ask', async () => {
    const id = await left(PYTHON)
    const answers = await Promise.all(Array.from({ length: 6 }, () => adopt(id)))
    expect(answers.map(({ status }) => status).sort()).toEqual(['adopted', ...Array(5).fill('driven')])
    await issued(id)
    expect(await adopt(id)).toEqual({ status: 'driven' })
    expect((await rowOf(id)).events).toBe('playbook_started execution.adopted step.enter command.issued')
  })

  it('goes on in another daemon from its log or its snapshot; what others decide does not count any more', async () => {
    const id = await left(PYTHON)
    await adopt(id)
    await issued(id)
    await ingestEvent(core, { execution_id: id, event_type: 'step.enter', step: 'b' })
    expect(await state.sealed(id)).toBe(await foldText(database.get(), id))
    await state.close()
    state = await openState(core, { engine: {}, snapshotAtEnd: 'keep', snapshotEvents: 3 })
    await answer(id, 'command.completed')
    await ended(id)
    expect(await state.sealed(id)).toBe(await foldText(database.get(), id))
    expect((await rowOf(id)).events).toBe(
      `playbook_started execution.adopted step.enter command.issued step.enter call.done command.completed step.exit ${STEP} playbook.completed`,
    )
  })

  it('may be one that others wrote into the table; the workload of its playbook counts if they named none', async () => {
    const catalogId = await register(NOOP)
    const id = core.ids.next()
    await insertForeign(database.get(), id, {
      eventId: core.ids.next(),
      type: 'playbook_started',
      step: 'x',
      catalogId,
    })
    expect((await adopt(id)).status).toBe('adopted')
    await ended(id)
    const [row] = await sql<{ data: object }>(
      `select result #> '{context,data}' as data from noetl.event
       where execution_id = $1::bigint and event_type = 'playbook.completed'`,
      [id],
    )
    expect(row!.data).toEqual({ n: 7 })
  })

  it('can be resumed when it has failed', async () => {
    const id = await left(PYTHON)
    await adopt(id)
    await issued(id)
    await answer(id, 'command.failed')
    await ended(id, 'FAILED')
    const resumed = await resumeExecution(
      { ...core, engine: ENGINE_VERSION },
      { executionId: id as ExecutionId, latest: false },
    )
    expect(resumed.again).toEqual(['a'])
    await issued(resumed.executionId)
    await answer(resumed.executionId, 'command.completed')
    await ended(resumed.executionId)
  })
})

describe('is refused, and nothing changes', () => {
  async function refuses(id: string, message: RegExp, engine?: number): Promise<void> {
    const before = await rowOf(id)
    await expect(adopt(id, engine)).rejects.toMatchObject({ code: 'refused', message: expect.stringMatching(message) })
    expect(await rowOf(id)).toEqual(before)
  }

  it('one that has ended', async () => {
    const id = await left(NOOP)
    await endExecution(core, { executionId: id as ExecutionId, outcome: 'CANCELLED' })
    await refuses(id, /is CANCELLED; "noetl-cp execution start"/)
  })

  it('one that has begun; why-stuck does not name what would be refused', async () => {
    const id = await left(NOOP)
    await ingestEvent(core, { execution_id: id, event_type: 'step_enter', step: 'a' })
    await ingestEvent(core, { execution_id: id, event_type: 'step_exit', step: 'a' })
    await refuses(id, /has begun without the engine \(step_enter of a\).*"noetl-cp execution start test\/adopt\d+"/)
    expect(await notDriven(id)).toMatchObject({
      next: expect.stringContaining('must come from outside'),
      actions: ['execution.cancel'],
    })
  })

  it('one whose playbook is gone', async () => {
    const id = await left(NOOP)
    await sql(
      'delete from noetl.catalog where catalog_id = (select catalog_id from noetl.execution where execution_id = $1::bigint)',
      [id],
    )
    await refuses(id, /catalog entry \d+\) is not in the catalog/)
  })

  it('one whose playbook cannot run, with its problems', async () => {
    const catalogId = await register('workflow:\n- {stp: a}\n')
    const id = core.ids.next()
    await ingestEvent(core, { execution_id: id, event_type: 'playbook_started', catalog_id: catalogId, payload: {} })
    await refuses(id, /cannot run: .*\/workflow\/0/)
    await expect(adopt(id)).rejects.toMatchObject({ details: { problems: expect.any(Array) } })
  })

  it('one of another version of the engine', async () => {
    const deps = { ...core, engine: ENGINE_VERSION + 1 }
    const { executionId } = await startExecution(deps, { catalogId: await register(NOOP) })
    await refuses(executionId, /version 2 of the engine, this program has version 1/)
  })

  it('any while the engine is off', async () => {
    const id = await left(NOOP)
    await expect(adoptForEngine(core, { executionId: id as ExecutionId })).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('NOETL_CP_ENGINE'),
    })
    expect((await rowOf(id)).events).toBe('playbook_started')
  })

  it('one without a start, and one that does not exist', async () => {
    const id = core.ids.next()
    const catalogId = await register(NOOP)
    await insertForeign(database.get(), id, { eventId: core.ids.next(), type: 'note', step: 'x', catalogId })
    await expect(adopt(id)).rejects.toMatchObject({ message: expect.stringContaining('the start of execution') })
    await expect(adopt('1')).rejects.toMatchObject({ code: 'not_found' })
  })
})
