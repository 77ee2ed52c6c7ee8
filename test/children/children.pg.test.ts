// Promise: a step that starts a playbook starts it once, waits without a worker, and goes on with its result, its failure or
// its cancellation, whoever dies in between. What cannot be started fails the step; what nobody waits for any more is cancelled.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { type ChildKeeper, createChildKeeper } from '../../src/services/children/children.js'
import { familyOf } from '../../src/services/children/family.js'
import { createPipelineChildren } from '../../src/services/children/pipelineChildren.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { cancelExecution } from '../../src/services/executions/cancellation.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { openState, type TestState } from '../state/stateHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const first = useDatabase()
const second = useDatabase()
let core: TestCore
let state: TestState
let keeper: ChildKeeper
const errors: string[] = []

const parts = () => ({
  ...core,
  engine: ENGINE_VERSION,
  random: Math.random,
  depthMax: 3,
  stepData: async (executionId: string, step: string) => {
    const shard = core.databases.shardOf(executionId)
    const { data } = await state.threads.ask(0, 'stepData', { shard, executionId, step })
    return { data: parseJson(data) }
  },
  // None of these children gives more than an event holds.
  results: {
    get: () => Promise.reject(new Error('nothing is stored')),
    put: () => Promise.reject(new Error('no room')),
  },
  onError: (error: Error) => errors.push(error.message),
})

beforeAll(async () => {
  core = await openCore([first.get(), second.get()])
  state = await openState(core, { engine: {}, onChildren: () => keeper.nudge() })
  keeper = createChildKeeper(parts())
  core.appender.onAppended((_shard, _grown, _traces, ended) => keeper.ended(ended))
  await keeper.start()
})
afterAll(async () => {
  await keeper.stop(2_000)
  await state.close()
  await core.close()
})

let serial = 0

async function register(path: string, rest: string): Promise<void> {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: ${path}}\n${rest}`
  await registerEntry(core, { content })
}

async function start(rest: string, payload: JsonObject = {}): Promise<string> {
  const path = `test/parent${++serial}`
  await register(path, rest)
  return (await startExecution({ ...core, engine: ENGINE_VERSION }, { path, payload })).executionId
}

const databaseOf = (id: string) => (core.databases.shardOf(id) === 0 ? first : second).get()

interface Row {
  status: string
  error: string | null
  path: string | null
}

async function row(id: string): Promise<Row | undefined> {
  const [found] = await databaseOf(id).sql<Row>(
    'select status, error, path from noetl.execution where execution_id = $1::bigint',
    [id],
  )
  return found
}

const ended = (id: string, status = 'COMPLETED') =>
  until(`${id} is ${status}`, async () => (await row(id))?.status === status)

async function result(id: string): Promise<unknown> {
  const [found] = await databaseOf(id).sql<{ data: unknown }>(
    `select result #> '{context,data}' as data from noetl.event where execution_id = $1::bigint and event_type = 'playbook.completed'`,
    [id],
  )
  return found?.data
}

interface Child {
  child_execution_id: string
  state: string
  status: string
}

const childrenOf = (id: string): Promise<Child[]> =>
  databaseOf(id).sql<Child>(
    `select x.child_execution_id, x.state, c.status from noetl.child x
     join noetl.command c on c.execution_id = x.parent_execution_id and c.command_id = x.command_id
     where x.parent_execution_id = $1::bigint order by x.command_id`,
    [id],
  )

const child = async (id: string): Promise<string> => {
  await until('the child runs', async () => {
    const [found] = await childrenOf(id)
    return found !== undefined && (await row(found.child_execution_id)) !== undefined
  })
  return (await childrenOf(id))[0]!.child_execution_id
}

async function answer(executionId: string, step: string, data: JsonObject): Promise<void> {
  const base = { execution_id: executionId, step, worker_id: 'w1' }
  const id = `${executionId}:${step}:1`
  const payload = { command_id: id, call_index: 0, result: { status: 'success', context: { status: 'success', data } } }
  await ingestEvent(core, { ...base, event_type: 'call.done', payload })
  await ingestEvent(core, { ...base, event_type: 'command.completed', status: 'success', payload: { command_id: id } })
}

const WAITS =
  'workflow:\n- {step: a, tool: {kind: python, code: "x"}, next: [b]}\n- {step: b, tool: {kind: noop, result: {n: "{{ a.n }}"}}}\n'

describe('a step that starts a playbook', () => {
  it('waits for its result, wherever the child lives', async () => {
    await register(
      'test/sum',
      'workload: {b: 2}\nworkflow:\n- {step: s, tool: {kind: noop, result: {sum: "{{ workload.a + workload.b }}"}}}\n',
    )
    const shards = new Set<number>()
    // A child's shard is a matter of chance.
    for (let n = 0; n < 40 && shards.size < 2; n++) {
      const id = await start(
        'workflow:\n- {step: call, tool: {kind: playbook, path: test/sum, return_result: true, payload: {a: "{{ workload.a }}"}}, next: [out]}\n- {step: out, tool: {kind: noop, result: "{{ call.sum }}"}}\n',
        { a: n },
      )
      await ended(id)
      expect(await result(id)).toBe(n + 2)
      const [only] = await childrenOf(id)
      expect(only).toMatchObject({ state: 'DONE', status: 'COMPLETED' })
      shards.add(core.databases.shardOf(only!.child_execution_id))
    }
    expect(shards.size).toBe(2)
  })

  it('gives the data of one step with its fields, or tells how it went', async () => {
    await register(
      'test/two',
      'workflow:\n- {step: one, tool: {kind: noop, result: {n: 1, status: mine}}, next: [two]}\n- {step: two, tool: {kind: noop, result: 2}}\n',
    )
    const id = await start(
      'workflow:\n- {step: p, tool: {kind: playbook, path: test/two, return_step: one}, next: [q]}\n- {step: q, tool: {kind: playbook, path: test/two, wait: true}, next: [out]}\n- {step: out, tool: {kind: noop, result: {p: "{{ p.data }}", q: "{{ q.data }}"}}}\n',
    )
    await ended(id)
    const [p, q] = (await childrenOf(id)).map((one) => one.child_execution_id)
    expect(await result(id)).toEqual({
      p: { execution_id: p, status: 'COMPLETED', result: { n: 1, status: 'mine' }, n: 1 },
      q: { execution_id: q, status: 'COMPLETED', path: 'test/two', duration_ms: expect.any(Number) },
    })
  })

  it('gives the data of one step alone where its result is asked for', async () => {
    await register(
      'test/result_step',
      'workflow:\n- {step: one, tool: {kind: noop, result: {n: 1, status: mine}}, next: [end]}\n- {step: end, tool: {kind: noop}}\n',
    )
    const id = await start(
      'workflow:\n- {step: p, tool: {kind: playbook, path: test/result_step, return_result: true, result_step: one}, next: [end]}\n- {step: end, tool: {kind: noop, result: "{{ p.data }}"}}\n',
    )
    await ended(id)
    expect(await result(id)).toEqual({ n: 1, status: 'mine' })
  })

  it('goes on at once when it does not wait', async () => {
    await register('test/slow', WAITS)
    const id = await start('workflow:\n- {step: a, tool: {kind: playbook, path: test/slow}}\n')
    await ended(id)
    const [only] = await childrenOf(id)
    expect(await result(id)).toEqual({
      status: 'started',
      execution_id: only!.child_execution_id,
      path: 'test/slow',
      async: true,
    })
    expect((await row(only!.child_execution_id))?.status).toBe('RUNNING')
  })

  it('fails as its child fails or is cancelled', async () => {
    await register('test/bad', 'workflow:\n- {step: a, tool: {kind: noop, message: "{{ 1 / 0 }}"}}\n')
    const id = await start('workflow:\n- {step: a, tool: {kind: playbook, path: test/bad, return_result: true}}\n')
    await ended(id, 'FAILED')
    const failed = await child(id)
    expect((await row(id))?.error).toContain(`step "a": child test/bad (${failed}): step "a": `)
    const other = await start('workflow:\n- {step: a, tool: {kind: playbook, path: test/slow, return_result: true}}\n')
    const cancelled = await child(other)
    await cancelExecution(core, { executionId: cancelled as ExecutionId, cascade: false })
    await ended(other, 'FAILED')
    expect((await row(other))?.error).toContain(`child test/slow (${cancelled}): CANCELLED`)
  })

  it.each([
    ['a playbook that does not exist', 'path: test/nowhere', 'catalog path test/nowhere does not exist'],
    ['a playbook that cannot run', 'path: test/broken', 'the playbook test/broken cannot run: /workflow/0/tool'],
    ['a relative path without a file', 'path: ./x.yaml', 'the path ./x.yaml is relative'],
    ['a version that is none', 'path: test/sum, version: first', 'is not a whole number'],
  ])('fails for %s', async (_name, tool, why) => {
    await register('test/broken', 'workflow:\n- {step: a}\n')
    const id = await start(`workflow:\n- {step: a, tool: {kind: playbook, ${tool}, return_result: true}}\n`)
    await ended(id, 'FAILED')
    expect((await row(id))?.error).toContain(why)
    expect(await childrenOf(id)).toMatchObject([{ state: 'DONE', status: 'FAILED' }])
  })

  it('starts what each playbook means by a text that several use', async () => {
    const leaf = (n: number) => `workflow:\n- {step: end, tool: {kind: noop, result: ${n}}}\n`
    const calls = (path: string) => `{kind: playbook, path: ${path}, return_result: true}`
    await register('map/leaf', leaf(1))
    await register('map/sub/leaf', leaf(2))
    await register('map/sub', `workflow:\n- {step: end, tool: ${calls('./leaf.yaml')}}\n`)
    await register(
      'map',
      `workflow:\n- {step: a, tool: ${calls('./leaf.yaml')}, next: b}\n- {step: b, tool: ${calls('./sub.yaml')}, next: end}\n- {step: end, tool: {kind: noop, result: "{{ [a, b] }}"}}\n`,
    )
    const childrenMap = {
      './sub.yaml': 'map/sub',
      by_parent: { map: { './leaf.yaml': 'map/leaf' }, 'map/sub': { './leaf.yaml': 'map/sub/leaf' } },
    }
    const { executionId } = await startExecution({ ...core, engine: ENGINE_VERSION }, { path: 'map', childrenMap })
    await ended(executionId)
    expect(await result(executionId)).toEqual([1, 2])
  })

  it('ends a circle of playbooks', async () => {
    await register(
      'test/circle',
      'workflow:\n- {step: a, tool: {kind: playbook, path: test/circle, return_result: true}}\n',
    )
    const { executionId } = await startExecution({ ...core, engine: ENGINE_VERSION }, { path: 'test/circle' })
    await ended(executionId, 'FAILED')
    expect((await row(executionId))?.error).toContain('more than 3 deep')
  })

  it('starts one for each item of a loop, with what the item names', async () => {
    const id = await start(
      'workflow:\n- {step: a, loop: {in: [1, 2, 3], iterator: n, spec: {mode: parallel}}, tool: {kind: playbook, path: test/sum, return_result: true, input: {a: "{{ n }}"}}, next: [out]}\n- {step: out, tool: {kind: noop, result: "{{ a.results | map(attribute=\'sum\') | list }}"}}\n',
    )
    await ended(id)
    expect(await result(id)).toEqual([3, 4, 5])
  })

  it('cancels what it waited for when it ends', async () => {
    const id = await start('workflow:\n- {step: a, tool: {kind: playbook, path: test/slow, return_result: true}}\n')
    const waited = await child(id)
    await cancelExecution(core, { executionId: id as ExecutionId, cascade: false })
    await ended(waited, 'CANCELLED')
    await until('nothing is open', async () => (await childrenOf(id))[0]?.state === 'DONE')
  })
})

describe('whoever dies in between', () => {
  it('loses nothing: a row of any state is brought to its end, and the child is started once', async () => {
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: playbook, path: test/slow, return_result: true}, next: [out]}\n- {step: out, tool: {kind: noop, result: "{{ a.n }}"}}\n',
    )
    const only = await child(id)
    // As if the starter had died before it noted that the child runs; two others come at once.
    await databaseOf(id).sql(
      `update noetl.child set state = 'PENDING', due_at = now() where parent_execution_id = $1::bigint`,
      [id],
    )
    const other = createChildKeeper(parts())
    await other.start()
    keeper.nudge()
    await until('it is noted again', async () => (await childrenOf(id))[0]?.state === 'STARTED')
    // The end of the child is heard by nobody.
    await keeper.stop(1_000)
    await other.stop(1_000)
    await answer(only, 'a', { n: 7 })
    await ended(only)
    await databaseOf(id).sql('update noetl.child set due_at = now() where parent_execution_id = $1::bigint', [id])
    const third = createChildKeeper(parts())
    await Promise.all([third.start(), keeper.start()])
    await ended(id)
    await third.stop(1_000)
    expect(await result(id)).toBe(7)
    const [counts] = await databaseOf(only).sql<{ starts: number }>(
      `select count(*)::int as starts from noetl.event where execution_id = $1::bigint and event_type = 'playbook_started'`,
      [only],
    )
    expect(counts).toEqual({ starts: 1 })
    const [answers] = await databaseOf(id).sql<{ count: number }>(
      `select count(*)::int as count from noetl.event where execution_id = $1::bigint and node_name = 'a' and event_type = 'command.completed'`,
      [id],
    )
    expect(answers).toEqual({ count: 1 })
    expect(errors).toEqual([])
  })
})

describe('a shard that is away', () => {
  it('holds up those alone who live there', async () => {
    const ids: string[] = []
    for (const shard of [0, 1]) {
      let id: string
      do id = await start('workflow:\n- {step: a, tool: {kind: noop}}\n')
      while (core.databases.shardOf(id) !== shard)
      ids.push(id)
    }
    const [near, far] = ids as [string, string]
    const cutOff = await openCore([first.get(), second.get()])
    await cutOff.databases.shards[1]!.db.close(1_000)
    const family = await familyOf(cutOff.databases, ids)
    expect(family.get(near)?.execution_id).toBe(near)
    expect(() => family.get(far)).toThrow()
    await cutOff.close()
  })
})

describe('a child whose start took long', () => {
  it('is cancelled like any other when its parent ended meanwhile, however long ago it was asked for', async () => {
    await keeper.stop(1_000)
    const id = await start('workflow:\n- {step: a, tool: {kind: playbook, path: test/slow, return_result: true}}\n')
    await until('it is asked for', async () => (await childrenOf(id)).length === 1)
    const only = (await childrenOf(id))[0]!.child_execution_id
    // Its shard was away until now.
    await databaseOf(id).sql(
      `update noetl.child set created_at = now() - interval '1 hour', updated_at = now() - interval '1 hour', due_at = now() where parent_execution_id = $1::bigint`,
      [id],
    )
    const { appender } = core
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    let isStarting = false
    const slow = createChildKeeper({
      ...parts(),
      appender: {
        ...appender,
        append: async (items) => {
          isStarting = true
          await gate
          return appender.append(items)
        },
      },
    })
    await slow.start()
    await until('somebody begins to start it', async () => isStarting)
    await cancelExecution(core, { executionId: id as ExecutionId, cascade: false })
    const isDue = `update noetl.child set due_at = now() where parent_execution_id = $1::bigint`
    await databaseOf(id).sql(isDue, [id])
    await keeper.start()
    await until('another has looked at it', async () => {
      const rows = await databaseOf(id).sql(
        'select 1 from noetl.child where parent_execution_id = $1::bigint and due_at > now()',
        [id],
      )
      return rows.length === 1
    })
    await keeper.stop(1_000)
    open()
    await until('it runs', async () => (await row(only)) !== undefined)
    await slow.stop(1_000)
    await databaseOf(id).sql(isDue, [id])
    await keeper.start()
    await ended(only, 'CANCELLED')
    await until('nothing is open', async () => (await childrenOf(id))[0]?.state === 'DONE')
  })

  it('is not started once nobody begins to: its parent has ended', async () => {
    await keeper.stop(1_000)
    const id = await start('workflow:\n- {step: a, tool: {kind: playbook, path: test/slow, return_result: true}}\n')
    await until('it is asked for', async () => (await childrenOf(id)).length === 1)
    await cancelExecution(core, { executionId: id as ExecutionId, cascade: false })
    await databaseOf(id).sql(
      `update noetl.child set updated_at = now() - interval '1 hour', due_at = now() where parent_execution_id = $1::bigint`,
      [id],
    )
    await keeper.start()
    await until('nothing is open', async () => (await childrenOf(id))[0]?.state === 'DONE')
    expect(await row((await childrenOf(id))[0]!.child_execution_id)).toBeUndefined()
  })
})

describe('a playbook as a task of a pipeline', () => {
  it('is started once for its key, waited for, and cancelled with its parent', async () => {
    const parent = await start('workflow:\n- {step: a, tool: {kind: python, code: "x"}}\n')
    const children = createPipelineChildren({
      ...parts(),
      results: { get: async () => null },
      untilEnded: keeper.untilEnded,
    })
    const signal = new AbortController().signal
    const wanted = {
      ...{ parentExecutionId: parent, parentCommandId: `${parent}:a:1`, catalogId: undefined, version: undefined },
      ...{ key: `${parent}:a:1/x/1`, path: 'test/slow', payload: {} },
    }
    const one = await children.start(wanted, signal)
    expect(await children.start(wanted, signal)).toEqual(one)
    const waiting = children.ended(one.executionId, signal)
    await until(
      'a is issued',
      async () =>
        (
          await databaseOf(one.executionId).sql('select 1 from noetl.command where execution_id = $1::bigint', [
            one.executionId,
          ])
        ).length === 1,
    )
    await answer(one.executionId, 'a', { n: 3 })
    expect(await waiting).toMatchObject({ status: 'COMPLETED' })
    expect(await children.resultOf(one.executionId, undefined, signal)).toEqual({ n: 3 })
    expect(await children.resultOf(one.executionId, 'a', signal)).toEqual({ n: 3 })
    await expect(children.start({ ...wanted, path: 'test/nowhere' }, signal)).rejects.toMatchObject({ kind: 'config' })

    const two = await children.start({ ...wanted, key: 'another' }, signal)
    const stop = new AbortController()
    const ending = children.ended(two.executionId, stop.signal)
    await cancelExecution(core, { executionId: parent as ExecutionId, cascade: false })
    stop.abort()
    await expect(ending).rejects.toThrow()
    await ended(two.executionId, 'CANCELLED')
  })
})
