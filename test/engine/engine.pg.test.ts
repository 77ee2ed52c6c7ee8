// Promise: an execution that is started runs to its end. Its decisions are in the log, its commands are rows beside it; what
// others write cannot pass for a decision; executions of another version, imported ones and ended ones are left alone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { whyStuck } from '../../src/services/state/whyStuck.js'
import { foldText, openState, type StateOptions, type TestState } from '../state/stateHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore
const states: TestState[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
})
afterAll(async () => {
  for (const state of states) await state.close()
  await core.close()
})

async function open(options: StateOptions = {}): Promise<TestState> {
  const state = await openState(core, { engine: {}, ...options })
  states.push(state)
  return state
}

let serial = 0

async function start(
  workflow: string,
  payload: JsonObject = {},
  engine: number | null = ENGINE_VERSION,
): Promise<string> {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: test/engine${++serial}}\n${workflow}`
  const { catalogId } = await registerEntry(core, { content })
  return (await startExecution({ ...core, engine: engine ?? undefined }, { catalogId, payload })).executionId
}

async function statusOf(executionId: string): Promise<string> {
  const [row] = await database
    .get()
    .sql<{ status: string }>('select status from noetl.execution where execution_id = $1::bigint', [executionId])
  return row!.status
}

async function events(executionId: string): Promise<string[]> {
  const rows = await database.get().sql<{ line: string }>(
    `select event_type || ' ' || coalesce(node_name, '') as line from noetl.event
     where execution_id = $1::bigint and stream_version > 1 order by stream_version`,
    [executionId],
  )
  return rows.map(({ line }) => line.trim())
}

interface Command {
  command_key: string
  status: string
  pool: string
  tool_kind: string
  has_deadline: boolean
  is_event: boolean
}

function commands(executionId: string): Promise<Command[]> {
  return database.get().sql<Command>(
    `select c.command_key, c.status, c.pool, c.tool_kind, c.deadline is not null as has_deadline,
       e.event_type = 'command.issued' and c.command_id = c.event_id as is_event
     from noetl.command c join noetl.event e on e.execution_id = c.execution_id and e.event_id = c.event_id
     where c.execution_id = $1::bigint order by c.event_id`,
    [executionId],
  )
}

async function answer(executionId: string, step: string, data: JsonObject = {}, suffix = '1'): Promise<void> {
  const id = `${executionId}:${step}:${suffix}`
  const base = { execution_id: executionId, step, worker_id: 'w1' }
  const result = { status: 'success', context: { status: 'success', data } }
  await ingestEvent(core, { ...base, event_type: 'call.done', payload: { command_id: id, call_index: 0, result } })
  await ingestEvent(core, { ...base, event_type: 'command.completed', status: 'success', payload: { command_id: id } })
}

async function resultOf(executionId: string): Promise<string> {
  const [row] = await database.get().sql<{ data: string }>(
    `select (result -> 'context' -> 'data')::text as data from noetl.event
     where execution_id = $1::bigint and event_type = 'playbook.completed'`,
    [executionId],
  )
  return row!.data
}

const ended = (executionId: string, status = 'COMPLETED') =>
  until(`${executionId} is ${status}`, async () => (await statusOf(executionId)) === status)

describe('an execution that is started', () => {
  beforeAll(() => open())

  it('runs native steps to its end', async () => {
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: noop}, next: [b]}\n- {step: b, tool: {kind: noop, result: {n: 1}}}\n',
    )
    await ended(id)
    const each = (step: string) =>
      ['step.enter', 'command.issued', 'call.done', 'command.completed', 'step.exit'].map((type) => `${type} ${step}`)
    expect(await events(id)).toEqual([...each('a'), ...each('b'), 'playbook.completed playbook'])
    expect(await commands(id)).toEqual([])
    const [row] = await database.get().sql<{ data: unknown; meta: JsonObject; node_id: string }>(
      `select result #> '{context,data}' as data, meta, node_id from noetl.event
       where execution_id = $1::bigint and event_type = 'playbook.completed'`,
      [id],
    )
    expect(row).toMatchObject({
      data: { n: 1 },
      meta: { emitter: 'orchestrator', idempotency_key: 'start', result_step: 'b' },
    })
  })

  it('keeps the kind of every number on its way into the log', async () => {
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: noop, result: {whole: "{{ 9 / 3 }}", big: 9007199254740993}}, set: {ctx.x: "{{ output.whole }}"}, next: [b]}\n- {step: b, loop: {in: [1]}, tool: {kind: noop, result: "{{ ctx.x }}"}, next: [end]}\n- {step: end, tool: {kind: noop, result: {a: "{{ a }}", b: "{{ b.results }}", x: "{{ ctx.x }}"}}}\n',
    )
    await ended(id)
    expect(await resultOf(id)).toBe('{"a": {"big": 9007199254740993, "whole": 3.0}, "b": [3.0], "x": 3.0}')
  })

  it('keeps the items and the results of a long loop outside of its log', async () => {
    const items = Array.from({ length: 450 }, (_, n) => ({ zebra: 'é'.repeat(1_500), n, ant: { b: 1, a: 2 } }))
    const id = await start(
      `workload: {items: []}
workflow:
- {step: each, loop: {in: "{{ workload.items }}", spec: {mode: parallel}}, tool: {kind: noop, result: "{{ item }}"}, next: [between]}
- {step: between, tool: {kind: python, code: ""}, next: [end]}
- {step: end, tool: {kind: noop, result: {n: "{{ each.results[449].n }}", count: "{{ each.data | length }}", total: "{{ each.stats.total }}"}}}
`,
      { items },
    )
    await until('the loop is over', async () =>
      (await commands(id)).some(({ command_key: key }) => key.includes(':between:')),
    )
    const [told] = await database.get().sql<{ enter: string; exit: string; stored: string }>(
      `select (select string_agg(context::text, '') from noetl.event where execution_id = $1::bigint
           and event_type = 'step.enter' and node_name = 'each') as enter,
         (select result::text from noetl.event where execution_id = $1::bigint
           and event_type = 'step.exit' and node_name = 'each') as exit,
         (select string_agg(name, ' ' order by name) from noetl.stored_result where execution_id = $1::bigint) as stored`,
      [id],
    )
    expect(told!.stored).toBe('each#1:data each#1:items')
    expect(JSON.parse(told!.enter)).toMatchObject({
      iterations_expected: 450,
      items_ref: expect.stringContaining('noetl://'),
    })
    expect(JSON.parse(told!.enter)).not.toHaveProperty('items')
    expect(JSON.parse(told!.exit)).toMatchObject({
      status: 'COMPLETED',
      reference: { extracted: { stats: { total: 450 } } },
    })
    await answer(id, 'between')
    await ended(id)
    expect(JSON.parse(await resultOf(id))).toEqual({ n: 449, count: 450, total: 450 })
  })

  it('issues commands as rows, and goes on with every answer', async () => {
    const id = await start(
      'workflow:\n- {step: a, spec: {timeout: 60}, tool: {kind: python, code: "x"}, next: [b]}\n- {step: b, tool: {kind: http, url: "http://x/{{ a.n }}"}}\n',
    )
    await until('a is issued', async () => (await commands(id)).length === 1)
    expect(await commands(id)).toEqual([
      {
        command_key: `${id}:a:1`,
        status: 'PENDING',
        pool: 'shared',
        tool_kind: 'python',
        has_deadline: true,
        is_event: true,
      },
    ])
    await answer(id, 'a', { n: 7 })
    await until('b is issued', async () => (await commands(id)).length === 2)
    const [issued] = await database
      .get()
      .sql<{ url: string }>(
        `select context #>> '{tool_config,url}' as url from noetl.event where execution_id = $1::bigint and node_name = 'b' and event_type = 'command.issued'`,
        [id],
      )
    expect(issued).toEqual({ url: 'http://x/7' })
    await answer(id, 'b')
    await ended(id)
  })

  it('starts playbooks by rows with the id of the child', async () => {
    const id = await start('workflow:\n- {step: a, tool: {kind: playbook, path: some/where, return_result: true}}\n')
    await until('a is issued', async () => (await commands(id)).length === 1)
    expect(await commands(id)).toMatchObject([{ status: 'PARKED', tool_kind: 'playbook' }])
    const rows = await database.get().sql<{ same: boolean; state: string }>(
      `select x.state, e.meta ->> 'child_execution_id' = x.child_execution_id::text as same
       from noetl.child x join noetl.event e on e.execution_id = x.parent_execution_id and e.event_id = x.command_id
       where x.parent_execution_id = $1::bigint`,
      [id],
    )
    expect(rows).toEqual([{ same: true, state: 'PENDING' }])
  })

  it('is failed by time, and its row with it', async () => {
    const id = await start('workflow:\n- {step: a, spec: {timeout: 1}, tool: {kind: python, code: "x"}}\n')
    await ended(id, 'FAILED')
    expect(await events(id)).toEqual([
      'step.enter a',
      'command.issued a',
      'command.failed a',
      'step.exit a',
      'playbook.failed playbook',
    ])
    expect(await commands(id)).toMatchObject([{ status: 'FAILED' }])
  })

  it('leaves no open row behind when it is cancelled or fails', async () => {
    const fork =
      'workflow:\n- {step: a, tool: {kind: noop}, next: [b, c]}\n- {step: b, tool: {kind: python, code: "x"}}\n- {step: c, tool: {kind: python, code: "x"}}\n'
    const id = await start(fork)
    await until('both are issued', async () => (await commands(id)).length === 2)
    await endExecution(core, { executionId: id as ExecutionId, outcome: 'CANCELLED' })
    expect(await commands(id)).toMatchObject([{ status: 'CANCELLED' }, { status: 'CANCELLED' }])
    const timed = await start(`executor: {spec: {timeout: 1}}\n${fork}`)
    await ended(timed, 'FAILED')
    expect(await commands(timed)).toMatchObject([{ status: 'CANCELLED' }, { status: 'CANCELLED' }])
  })

  it('tells what it waits for', async () => {
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: noop}, next: [b, c, p]}\n- {step: b, spec: {timeout: 600}, tool: {kind: python, code: "x"}, next: [j]}\n- {step: c, tool: {kind: noop}, next: [j]}\n- {step: p, tool: {kind: playbook, path: x/y, return_result: true}}\n- {step: j, tool: {kind: noop}}\n',
    )
    await until('they are issued', async () => (await commands(id)).length === 2)
    const report = await whyStuck({ databases: core.databases, state: states.at(-1)!.service }, id as ExecutionId)
    const said = report.findings.map(({ reason, what }) => `${reason}: ${what}`)
    expect(said).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^unclaimed command: command ${id}:b:1 of step b is issued, no worker has claimed it; the engine gives it up at 20`,
        ),
      ),
    )
    expect(said).toContainEqual(
      expect.stringMatching(
        /^child playbook: step p waits for execution \d+, which it has started; the engine gives it up at 20/,
      ),
    )
    expect(said).toContain('waiting step: step j was reached and waits for step b, which can still lead to it')
  })

  it('believes nobody who says that a decision was made', async () => {
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: python, code: "x"}, next: [b]}\n- {step: b, tool: {kind: python, code: "x"}}\n',
    )
    await until('a is issued', async () => (await commands(id)).length === 1)
    const forged = {
      emitter: 'orchestrator',
      idempotency_key: 'a#1:exit',
      engine: 1,
      visit: 1,
      routed: [{ step: 'b', arc: 0 }],
    }
    await ingestEvent(core, { execution_id: id, step: 'a', event_type: 'step.exit', meta: forged })
    await ingestEvent(core, {
      execution_id: id,
      step: 'a',
      event_type: 'ctx.updated',
      meta: forged,
      payload: { values: { x: 'forged' } },
    })
    await answer(id, 'a')
    await until('b is issued', async () => (await commands(id)).length === 2)
    const [written] = await database.get().sql<{ forged: string; x: string }>(
      `select count(*) filter (where event_type = 'step.exit' and meta ? 'emitter') as forged,
         count(*) filter (where event_type = 'command.issued' and context::text like '%forged%') as x
       from noetl.event where execution_id = $1::bigint`,
      [id],
    )
    expect(written).toEqual({ forged: '1', x: '0' })
    await answer(id, 'b')
    await ended(id)
  })
})

describe('executions that are not to be decided for', () => {
  beforeAll(() => open())

  const noop = 'workflow:\n- {step: a, tool: {kind: noop}}\n'
  const touched = async (id: string) => {
    await states.at(-1)!.service.ask(id, { drive: true })
    return events(id)
  }

  it('are those that were started without the engine', async () => {
    expect(await touched(await start(noop, {}, null))).toEqual([])
  })

  it('are those of another version of the engine', async () => {
    const id = await start(noop, {}, ENGINE_VERSION + 1)
    expect(await touched(id)).toEqual([])
    const report = await whyStuck({ databases: core.databases, state: states.at(-1)!.service }, id as ExecutionId)
    expect(report.findings.at(-1)).toMatchObject({
      reason: 'not driven',
      what: 'it was started for version 2 of the engine; this program has version 1',
    })
  })

  it('are those whose log came from elsewhere', async () => {
    const id = await start(noop, {}, null)
    await database
      .get()
      .sql(`update noetl.event set meta = meta || '{"engine": 1}' where execution_id = $1::bigint`, [id])
    expect(await touched(id)).toEqual([])
  })
})

describe('a playbook that requires tools', () => {
  it('is started only while a living pool offers them', async () => {
    const requires = (tools: string) =>
      start(`executor: {requires: {tools: [${tools}]}}\nworkflow:\n- {step: a, tool: {kind: noop}}\n`)
    expect(await requires('noop, playbook')).toMatch(/^\d+$/)
    await expect(requires('snowflake')).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('no pool of workers offers snowflake'),
      details: { problems: [expect.objectContaining({ pointer: '/executor/requires/tools' })] },
    })
    const pool = (heartbeat: string) =>
      database.get().sql(
        `insert into noetl.runtime (runtime_id, name, kind, status, capabilities, heartbeat)
         values (5, 'w', 'worker_pool', 'ready', '{"tools": ["snowflake"]}', now() - $1::text::interval)
         on conflict (kind, name) do update set heartbeat = excluded.heartbeat`,
        [heartbeat],
      )
    await pool('5 minutes')
    await expect(requires('snowflake')).rejects.toMatchObject({ code: 'refused' })
    await pool('1 second')
    expect(await requires('snowflake')).toMatch(/^\d+$/)
    await database.get().sql('delete from noetl.runtime where runtime_id = 5')
  })
})

describe('whatever happens to the daemon', () => {
  it('fails when its playbook is gone', async () => {
    for (const state of states.splice(0)) await state.close()
    const id = await start('workflow:\n- {step: a, tool: {kind: noop}}\n')
    await database
      .get()
      .sql(
        'delete from noetl.catalog where catalog_id = (select catalog_id from noetl.execution where execution_id = $1::bigint)',
        [id],
      )
    await open()
    await ended(id, 'FAILED')
    expect(await events(id)).toEqual(['playbook.failed playbook'])
  })

  it('the live state is the fold of the log, and another daemon goes on', async () => {
    const first = await openState(core, { engine: {}, memberId: 'one', leaseMs: 3_000 })
    const id = await start(
      'workflow:\n- {step: a, loop: {in: 3, spec: {mode: parallel, max_in_flight: 2}}, tool: {kind: python, code: "x"}, next: [b]}\n- {step: b, tool: {kind: python, code: "x"}}\n',
    )
    await until('two are issued', async () => (await commands(id)).length === 2)
    await answer(id, 'a', { n: 0 }, '1:i0')
    await until('the third is issued', async () => (await commands(id)).length === 3)
    expect(await first.sealed(id)).toBe(await foldText(database.get(), id))
    await first.close()
    await answer(id, 'a', { n: 1 }, '1:i1')
    await answer(id, 'a', { n: 2 }, '1:i2')
    const second = await openState(core, { engine: {}, memberId: 'two', leaseMs: 3_000 })
    states.push(second)
    await until('b is issued', async () => (await commands(id)).some(({ command_key }) => command_key === `${id}:b:1`))
    await answer(id, 'b')
    await ended(id)
    const keys = await database
      .get()
      .sql<{ twice: string }>(
        `select count(*) - count(distinct meta ->> 'command_id') as twice from noetl.event where execution_id = $1::bigint and event_type = 'command.issued'`,
        [id],
      )
    expect(keys).toEqual([{ twice: '0' }])
  })
})
