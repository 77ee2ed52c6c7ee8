// Promise: pipelines run their tasks in order under their policies, see each other's data, keep and report what they set,
// render what was left for the worker and nothing else, and give the data that the rules of pipelines say.
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import type { RetryNotice } from '../../src/tools/run/pipeline.js'
import { reply, useHttpServer } from '../support/httpServer.js'
import { type CommandParts, credentialsOf, useTools } from '../support/toolRunner.js'
import { until } from '../support/until.js'

/** `/fail?times=n&as=503`: fails so often, then answers. */
const failures = new Map<string, number>()
const server = useHttpServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://host')
  const key = searchParams.get('key') ?? ''
  const count = (failures.get(key) ?? 0) + 1
  failures.set(key, count)
  if (pathname === '/fail' && count <= Number(searchParams.get('times'))) {
    return reply(
      response,
      Number(searchParams.get('as') ?? 503),
      { count },
      { 'retry-after': searchParams.get('after') ?? '0' },
    )
  }
  if (pathname === '/token') return reply(response, 200, { access_token: `token-number-${count}`, expires_in: 3600 })
  if (pathname === '/page') return reply(response, 200, { data: [{ id: count }], paging: { hasMore: count < 3 } })
  return reply(response, 200, { count, authorization: request.headers.authorization ?? null })
})
const tools = useTools(
  {},
  {
    credentials: credentialsOf({
      api: { type: 'bearer', token: 'very-secret-token' },
      store: { client_id: 'id-of-client', client_secret: 'secret-of-client' },
      'projects/1/secrets/key/versions/1': { value: 'value-of-the-secret' },
    }),
  },
)

let keys = 0
const failing = (times: number, as = 503, after = 0): string =>
  server.url(`/fail?key=${++keys}&times=${times}&as=${as}&after=${after}`)
const noop = (name: string, result: JsonValue, more: JsonObject = {}): JsonObject => ({
  name,
  kind: 'noop',
  result,
  ...more,
})

interface Ran {
  status: string
  data: JsonObject
  error: JsonObject | undefined
  retries: RetryNotice[]
  runs: Record<string, number>
}

async function run(tasks: JsonValue[], parts: CommandParts = {}): Promise<Ran> {
  return ranOf({ kind: 'task_sequence', tasks }, parts)
}

async function ranOf(config: JsonObject, parts: CommandParts = {}): Promise<Ran> {
  const retries: RetryNotice[] = []
  const options = { onRetry: (notice: RetryNotice) => void retries.push(notice), ...parts.options }
  const { status, data, error, meta } = await tools.tool(config, { ...parts, options })
  const runs = Object.fromEntries((meta?.tasks ?? []).map((task) => [task.name, task.runs]))
  return { status, data: data as JsonObject, error, retries, runs }
}

/** Not written as a map: a key `then` would look like a promise. */
const ruleOf = (when: JsonValue, action: JsonObject): JsonObject =>
  Object.fromEntries([
    ['when', when],
    ['then', action],
  ])
const policyOf = (...rules: JsonObject[]): JsonObject => ({ spec: { policy: { rules } } })
/** A policy of one rule. */
const rule = (when: JsonValue, action: JsonObject): JsonObject => policyOf(ruleOf(when, action))

describe('the data of a pipeline', () => {
  it('has each task under its label, fields of maps beside them, results and _prev', async () => {
    const { status, data } = await run([
      noop('fetch', { items: [1], page: 1, shared: 'first' }),
      noop('count', 7),
      noop('store', { stored: 1, shared: 'last', fetch: 'a field' }),
    ])
    expect(status).toBe('success')
    const results = {
      fetch: { items: [1], page: 1, shared: 'first' },
      count: 7,
      store: { stored: 1, shared: 'last', fetch: 'a field' },
    }
    expect(data).toEqual({
      ...results,
      items: [1],
      page: 1,
      shared: 'last',
      stored: 1,
      results,
      _prev: results.store,
    })
  })

  it('takes labels as keys, too, and numbers tasks without a name', async () => {
    const { data } = await run([{ first: { kind: 'noop', result: 1 } }, { kind: 'noop', result: 2 }])
    expect(data).toMatchObject({ first: 1, task_2: 2 })
  })

  it('of one tool alone is what the tool gave', async () => {
    expect((await ranOf({ kind: 'noop', result: { a: 1 } })).data).toEqual({ a: 1 })
    expect((await ranOf({ kind: 'noop', message: 'hello' })).data).toEqual({ status: 'ok', message: 'hello' })
    expect((await ranOf({ kind: 'noop', result: 'text', ...rule(true, { do: 'continue' }) })).data).toBe('text')
  })

  it('survives hostile names', async () => {
    const { data } = await run([noop('__proto__', { constructor: 1, __proto__: null }), noop('toString', { a: 1 })])
    expect(Object.hasOwn(data, '__proto__')).toBe(true)
    expect(({} as JsonObject)['constructor']).toBe(Object)
  })

  it('holds neither zero characters nor half characters, which cannot be stored', async () => {
    const { data } = await ranOf({ kind: 'noop', result: { 'a\0b': ['\ud800', 'x\0'] } })
    expect(data).toEqual({ 'a\u2400b': ['\ufffd', 'x\u2400'] })
  })
})

describe('templates', () => {
  it('read the task before as output, as its own set does', async () => {
    const [output, status, failed] = ['{{ output.data.count }}', '{{ output.status_code }}', '{{ output.error.kind }}']
    const { data } = await run(
      [
        { name: 'fetch', kind: 'http', url: failing(0) },
        noop('second', { count: output, status }),
        noop('third', '{{ output.count }}'),
        { name: 'wrong', kind: 'http', url: failing(9, 404), ...rule(true, { do: 'continue' }) },
        noop('last', failed),
      ],
      {
        meta: {
          deferred: ['1/result/count', '1/result/status', '2/result', '4/result'].map(
            (end) => `/tool_config/tasks/${end}`,
          ),
        },
      },
    )
    expect(data).toMatchObject({ second: { count: 1, status: 200 }, third: 1, last: 'not_found' })
  })

  it('are rendered where the command says so, and nowhere else', async () => {
    const { data } = await run(
      [
        noop('first', { value: 10 }),
        noop('second', { doubled: '{{ first.value * 2 }}', kept: '{{ first.value }}', text: '<{{ _prev.value }}>' }),
      ],
      { meta: { deferred: ['/tool_config/tasks/1/result/doubled', '/tool_config/tasks/1/result/text'] } },
    )
    expect(data['second']).toEqual({ doubled: 20, kept: '{{ first.value }}', text: '<10>' })
  })

  it('read args, the render context, earlier tasks and what was set, in the order of pipelines', async () => {
    const deferred = ['/tool_config/tasks/1/result']
    const both = (template: string): Promise<Ran> =>
      run([noop('first', { a: 1 }, { set: { local: '{{ output.a + 1 }}', 'ctx.page': 2 } }), noop('see', template)], {
        meta: { deferred },
        args: { user: { name: 'Ada' } },
        context: { ctx: { page: 1, kept: true }, workload: { page: 9 } },
      })
    for (const [template, expected] of [
      ['{{ user.name }}', 'Ada'],
      ['{{ local }}', 2],
      ['{{ ctx.page }}', 2],
      ['{{ ctx.kept }}', true],
      ['{{ page }}', 2],
      ['{{ workload.page }}', 9],
      ['{{ results.first.a }}', 1],
      ['{{ first.result.a }}', 1],
      ['{{ execution_id }}', '380600494935949312'],
      ['{{ missing.deep | default("none") }}', 'none'],
    ] as const) {
      expect((await both(template)).data['see'], template).toEqual(expected)
    }
  })

  it('are rendered in keys that the command names', async () => {
    const { data } = await ranOf(
      { kind: 'noop', result: { '{{ who }}': '{{ who }}', 'b{{ who }}': 1 } },
      { context: { who: 'Ada' }, meta: { deferred_keys: ['/tool_config/result/{{ who }}'] } },
    )
    expect(data).toEqual({ Ada: '{{ who }}', 'b{{ who }}': 1 })
  })

  it('that fail make the command fail, with their place', async () => {
    const { error } = await ranOf(
      { kind: 'noop', result: '{{ 1 / 0 }}' },
      { meta: { deferred: ['/tool_config/result'] } },
    )
    expect(error).toMatchObject({
      kind: 'template',
      retryable: false,
      message: expect.stringContaining('/tool_config/result'),
    })
    const broken = await ranOf({ kind: 'noop', ...rule('{{ nonsense( }}', { do: 'continue' }) })
    expect(broken.error).toMatchObject({ kind: 'template' })
  })
})

describe('set', () => {
  it('reports ctx and vars, writes into the step, keeps iter and locals to itself', async () => {
    const { data } = await run(
      [
        noop(
          'one',
          { n: 1 },
          {
            set: {
              'ctx.a': '{{ output.n }}',
              'ctx.deep.b': 2,
              'vars.v': '{{ output.data.n }}',
              'step.extra': 3,
              'iter.i': 4,
              local: 5,
            },
          },
        ),
      ],
      { context: { ctx: { deep: { a: 1 } } } },
    )
    // By its path: what else is in the map may not be known here, or change meanwhile.
    expect(data['_context_updates']).toEqual({ ctx: { a: 1 }, 'ctx.deep.b': 2, vars: { v: 1 } })
    expect(data['extra']).toBe(3)
    expect(JSON.stringify(data)).not.toContain('local')
  })

  it('tells a part of what it wrote whole as that whole, and the last one of a path', async () => {
    const { data } = await run(
      [
        noop('one', null, { set: { 'ctx.a': { z: 0 }, 'ctx.b.c.d': 1, 'ctx.e.f': 1 } }),
        noop('two', null, { set: { 'ctx.a.y': 2, 'ctx.b.c': { x: 3 }, 'ctx.e.f.g': 4 } }),
        noop('three', null, { set: { 'vars.seen': '{{ ctx.a.z }} {{ ctx.a.y }} {{ ctx.b.c.x }} {{ ctx.b.old }}' } }),
      ],
      { context: { ctx: { b: { old: true } } } },
    )
    expect(data['_context_updates']).toEqual({
      ctx: { a: { z: 0, y: 2 } },
      'ctx.b.c': { x: 3 },
      'ctx.e.f': { g: 4 },
      vars: { seen: '0 2 3 true' },
    })
  })

  it('of one block is rendered before any of it is written', async () => {
    const { data } = await run([noop('swap', null, { set: { 'ctx.a': '{{ ctx.b }}', 'ctx.b': '{{ ctx.a }}' } })], {
      context: { ctx: { a: 1, b: 2 } },
    })
    expect(data['_context_updates']).toEqual({ ctx: { a: 2, b: 1 } })
  })

  it('sees raw data first, and the envelope where data has no such key', async () => {
    const { data } = await run([
      noop(
        'plain',
        { status: 'own' },
        { set: { 'ctx.status': '{{ output.status }}', 'ctx.error': '{{ output.error }}' } },
      ),
      noop('scalar', 5, { set: { 'ctx.scalar': '{{ output.data }}', 'ctx.scalar_status': '{{ output.status }}' } }),
    ])
    expect(data['_context_updates']).toEqual({ ctx: { status: 'own', error: null, scalar: 5, scalar_status: 'ok' } })
  })

  it('of one tool with a policy goes to ctx by bare names, and its vars to vars', async () => {
    const task = noop('only', { n: 1 }, { set: { bare: '{{ output.n }}' }, vars: { v: 2 } })
    const { data } = await ranOf({ kind: 'task_sequence', unwrapped: true, tasks: [task] })
    expect(data).toEqual({ n: 1, _context_updates: { ctx: { bare: 1 }, vars: { v: 2 } } })
  })

  it.each<JsonValue>([[[1, 2]], ['text'], [5]])('leaves data that is no map as it is: %j', async (result) => {
    const tasks = [noop('only', result, { set: { 'ctx.seen': '{{ output.data }}' } })]
    const report = await tools.tool({ kind: 'task_sequence', unwrapped: true, tasks })
    expect(report).toMatchObject({ data: result, _context_updates: { ctx: { seen: result } } })
  })

  it('can set nothing at all: the result of a noop that is null stays null', async () => {
    const { data } = await run([noop('none', null), { name: 'plain', kind: 'noop' }])
    expect(data['results']).toEqual({ none: null, plain: { status: 'ok', message: 'noop' } })
  })

  it('of a rule is applied before the action, also on every retry', async () => {
    const { data } = await run([
      {
        name: 'flaky',
        kind: 'http',
        url: failing(2),
        ...rule('{{ output.error.retryable }}', {
          do: 'retry',
          attempts: 5,
          delay: 0,
          set: { 'ctx.tries': '{{ (ctx.tries | default(0)) + 1 }}' },
        }),
        set: { 'ctx.done': '{{ output.status_code }}' },
      },
    ])
    expect(data['_context_updates']).toEqual({ ctx: { tries: 2, done: 200 } })
  })

  it('of a task is left out when it fails or runs again, and applied once after continue', async () => {
    const set = { 'ctx.seen': '{{ output.error.kind }}' }
    const url = server.url('/fail?key=x&times=99&as=404')
    const continued = await run([
      { name: 'a', kind: 'http', url, set, ...rule('{{ output.status == "error" }}', { do: 'continue' }) },
    ])
    expect(continued.status).toBe('success')
    expect(continued.data['_context_updates']).toEqual({ ctx: { seen: 'not_found' } })
    const failed = await run([{ name: 'a', kind: 'http', url, set }])
    expect(failed.status).toBe('error')
    expect(failed.data['_context_updates']).toBeUndefined()
  })
})

describe('a policy', () => {
  it('retries as often as it says, counting the first run, and then fails with the last error', async () => {
    const retry = rule('{{ output.error.kind == "server_error" }}', { do: 'retry', attempts: 3, delay: 0 })
    expect(await run([{ name: 'a', kind: 'http', url: failing(2), ...retry }])).toMatchObject({
      status: 'success',
      runs: { a: 3 },
    })
    const lost = await run([{ name: 'a', kind: 'http', url: failing(9), ...retry }])
    expect(lost).toMatchObject({ status: 'error', error: { kind: 'server_error', http_status: 503 }, runs: { a: 3 } })
    expect(lost.retries.map(({ runs, attempts }) => [runs, attempts])).toEqual([
      [1, 3],
      [2, 3],
    ])
  })

  it('counts per rule', async () => {
    const policy = policyOf(
      ruleOf('{{ output.data.count == 1 }}', { do: 'retry', attempts: 2, delay: 0 }),
      ruleOf('{{ output.status == "error" }}', { do: 'retry', attempts: 3, delay: 0 }),
    )
    expect(await run([{ name: 'a', kind: 'http', url: failing(3), ...policy }])).toMatchObject({
      status: 'success',
      runs: { a: 4 },
    })
  })

  it('reads output.data.data and output.data.<field of the body> alike', async () => {
    const url = server.url(`/page?key=${++keys}`)
    for (const when of [
      '{{ output.data.paging.hasMore }}',
      '{{ output.data.data.paging.hasMore }}',
      '{{ output.data.status_code == 200 and output.http.status == 200 }}',
    ]) {
      expect(
        await run([{ name: 'a', kind: 'http', url, ...rule(when, { do: 'break' }) }, noop('never', 1)]),
      ).toMatchObject({
        data: expect.not.objectContaining({ never: 1 }),
      })
      failures.clear()
    }
  })

  it('pages by jumping, at most 10,000 times', async () => {
    const url = server.url(`/page?key=${++keys}`)
    const { data, status } = await run([
      {
        name: 'page',
        kind: 'http',
        url,
        set: { 'ctx.ids': '{{ (ctx.ids | default([])) + [output.data.data[0].id] }}' },
        ...rule('{{ output.data.paging.hasMore }}', { do: 'jump', to: 'page' }),
      },
      noop('end', 'reached'),
    ])
    expect(status).toBe('success')
    expect(data['_context_updates']).toEqual({ ctx: { ids: [1, 2, 3] } })
    expect(data['end']).toBe('reached')
    const endless = await run([noop('again', 1, rule(true, { do: 'jump', to: 'again' }))])
    expect(endless.error).toMatchObject({ message: 'more than 10000 jumps in one command' })
  })

  it('breaks successfully, and fails with the error of the tool or a word of its own', async () => {
    const { data, status } = await run([noop('a', 1, rule('{{ output.data == 1 }}', { do: 'break' })), noop('b', 2)])
    expect([status, data['b']]).toEqual(['success', undefined])
    const failed = await run([noop('a', 1, rule(true, { do: 'fail' })), noop('b', 2)])
    expect(failed.error).toMatchObject({ message: 'policy failed a', code: 'POLICY_FAILED' })
    expect(failed.data).toMatchObject({ a: 1 })
  })

  it('takes else with and without then, booleans as guards, and the first rule that is met', async () => {
    const { then } = ruleOf(true, { do: 'break' })
    const wrapped = Object.fromEntries([['then', then as JsonValue]])
    for (const otherwise of [{ else: wrapped }, { else: { do: 'break', set: { 'ctx.x': 1 } } }]) {
      const policy = policyOf(ruleOf(false, { do: 'fail' }), otherwise, ruleOf(true, { do: 'fail' }))
      expect((await run([noop('a', 1, policy), noop('b', 1)])).status).toBe('success')
    }
  })

  it('without a rule that is met fails on errors and goes on otherwise, unless it says so', async () => {
    const never = rule(false, { do: 'continue' })
    expect((await run([noop('a', 1, never)])).status).toBe('success')
    const strict = { spec: { policy: { on_unmatched: 'fail', rules: [] } } }
    expect((await run([noop('a', 1, strict)])).error).toMatchObject({ message: 'policy failed a' })
    expect((await run([{ name: 'a', kind: 'http', url: failing(1), ...never }])).status).toBe('error')
  })

  it('works on a single tool, whose data stays its own', async () => {
    const retry = rule('{{ output.error.retryable }}', { do: 'retry', attempts: 2, delay: 0 })
    const { status, data } = await ranOf({ kind: 'http', url: failing(1), ...retry })
    expect([status, data['status_code']]).toEqual(['success', 200])
  })

  it('that cannot be understood fails the command before anything runs', async () => {
    for (const policy of [
      rule(true, { do: 'explode' }),
      rule(true, { do: 'jump' }),
      rule(true, { do: 'jump', to: 'nowhere' }),
      rule(true, { do: 'retry', attempts: 0 }),
      rule(true, { do: 'retry', backoff: 'sometimes' }),
    ]) {
      const before = server.seen.length
      expect((await run([{ name: 'a', kind: 'http', url: failing(0), ...policy }])).error).toMatchObject({
        kind: 'config',
      })
      expect(server.seen.length).toBe(before)
    }
  })

  it('ends when the command is cancelled in a pause', async () => {
    const controller = new AbortController()
    const retries: RetryNotice[] = []
    const ran = run([{ name: 'a', kind: 'http', url: failing(9), ...rule(true, { do: 'retry', delay: 60 }) }], {
      options: { signal: controller.signal, onRetry: (notice) => void retries.push(notice) },
    })
    await until('it waits for its second run', () => retries.length === 1)
    controller.abort(new Error('cancelled'))
    expect((await ran).status).toBe('error')
  })
})

describe('delays', () => {
  const delays = async (then: JsonObject, url: string): Promise<number[]> => {
    const controller = new AbortController()
    const seen: number[] = []
    await run(
      [
        {
          name: 'a',
          kind: 'http',
          url,
          ...rule('{{ output.status == "error" }}', { do: 'retry', attempts: 9, ...then }),
        },
      ],
      {
        options: {
          signal: controller.signal,
          onRetry: ({ delayMs }) => {
            seen.push(delayMs)
            if (seen.length === 4) controller.abort(new Error('enough'))
          },
        },
      },
    )
    return seen
  }

  it('are fixed, linear or exponential', async () => {
    expect(await delays({ delay: 0.001, backoff: 'fixed' }, failing(9))).toEqual([1, 1, 1, 1])
    expect(await delays({ delay: 0.001, backoff: 'linear' }, failing(9))).toEqual([1, 2, 3, 4])
    expect(await delays({ delay: 0.001, backoff: 'exponential' }, failing(9))).toEqual([1, 2, 4, 8])
    expect(await delays({ delay: 0.001, backoff: 'exponential', max_delay: 0.003 }, failing(9))).toEqual([1, 2, 3, 3])
  })

  it('are at least what the other side asks for', async () => {
    const first: number[] = []
    const controller = new AbortController()
    await run([{ name: 'a', kind: 'http', url: failing(9, 429, 100), ...rule(true, { do: 'retry', delay: 0 }) }], {
      options: {
        signal: controller.signal,
        onRetry: ({ delayMs }) => {
          first.push(delayMs)
          controller.abort(new Error('enough'))
        },
      },
    })
    expect(first).toEqual([100_000])
  })
})

describe('shorthands', () => {
  it('retry: true, a number, or a map', async () => {
    const http = (retry: JsonValue, times = 2): Promise<Ran> => ranOf({ kind: 'http', url: failing(times), retry })
    expect((await http({ max_attempts: 3, initial_delay: 0 })).status).toBe('success')
    expect((await http({ attempts: 2, delay: 0 })).status).toBe('error')
    expect((await http(false)).status).toBe('error')
    expect((await http({ max_attempts: 9, delay: 0, retry_on_status: [429] })).runs).toEqual({})
    expect((await http({ max_attempts: 9, delay: 0, retry_on_status: [503] })).status).toBe('success')
    expect((await http({ max_attempts: 9, delay: 0, stop_when: '{{ output.data.count == 2 }}' }, 5)).runs).toEqual({
      fetch: 2,
    })
    expect((await http({ max_attempts: 9, delay: 0, retry_when: '{{ output.data.count < 4 }}' }, 9)).runs).toEqual({
      fetch: 4,
    })
  })

  it('eval: rules beside each other', async () => {
    const entries = [
      {
        expr: '{{ output.error.retryable }}',
        do: 'retry',
        attempts: 5,
        delay: 0,
        set_vars: { tries: '{{ output.meta.attempt }}' },
      },
      { else: { do: 'continue' } },
    ]
    const { data, status } = await run([{ name: 'a', kind: 'http', url: failing(2), eval: entries }])
    expect(status).toBe('success')
    expect(data['_context_updates']).toEqual({ vars: { tries: 2 } })
  })
})

describe('the keychain', () => {
  const call = (authorization: string, keychain: JsonValue[], catalog = String(++keys)): Promise<Ran> =>
    ranOf(
      { kind: 'http', url: server.url('/'), headers: { Authorization: authorization } },
      { keychain, meta: { catalog_id: catalog, deferred: ['/tool_config/headers/Authorization'] } },
    )
  const sent = (): string => server.seen.at(-1)?.headers.authorization ?? ''

  it('opens credentials, renames their fields, and is never reported', async () => {
    const keychain = [
      { name: 'web', credential: 'store', map: { id: 'client_id' } },
      { name: 'bare', credential: 'api' },
    ]
    const { data } = await call('Key {{ keychain.web.id }}', keychain)
    expect(sent()).toBe('Key id-of-client')
    expect(JSON.stringify(data)).not.toContain('id-of-client')
    expect((data['data'] as JsonObject)['authorization']).toBe('Key ***')
    await call('Bearer {{ keychain.bare }}', keychain)
    expect(sent()).toBe('Bearer very-secret-token')
    await call("Bearer {{ token('bare') }}", keychain)
    expect(sent()).toBe('Bearer very-secret-token')
  })

  it('asks for a token by client credentials once, and keeps it for the playbook', async () => {
    const url = server.url(`/token?key=${++keys}`)
    const keychain: JsonValue[] = [
      {
        name: 'amadeus',
        kind: 'secret_manager',
        provider: 'gcp',
        map: { client_id: 'projects/1/secrets/key/versions/1' },
      },
      {
        name: 'web',
        kind: 'oauth2',
        endpoint: url,
        data: { grant_type: 'client_credentials', client_id: '{{ keychain.amadeus.client_id }}' },
      },
    ]
    for (let times = 0; times < 3; times++) await call('Bearer {{ keychain.web.access_token }}', keychain, 'same')
    expect(sent()).toBe('Bearer token-number-1')
    const asked = server.seen.filter(({ url: path }) => url.endsWith(path))
    expect(asked.map(({ method, body }) => [method, body])).toEqual([
      ['POST', 'grant_type=client_credentials&client_id=value-of-the-secret'],
    ])
    await call('Bearer {{ keychain.web.access_token }}', keychain, 'another playbook')
    expect(sent()).toBe('Bearer token-number-2')
  })

  it('fails with kind credential and a next step', async () => {
    const missing = await call('{{ keychain.web.x }}', [{ name: 'web', credential: 'nobody' }])
    expect(missing.error).toMatchObject({
      kind: 'credential',
      message: 'keychain entry "web": credential "nobody" not found',
    })
    const manager = await call('{{ keychain.web.x }}', [
      { name: 'web', provider: 'gcp', map: { x: 'projects/9/secrets/y' } },
    ])
    expect(manager.error?.['message']).toContain('store a credential named "projects/9/secrets/y"')
    const itself = await call('{{ keychain.web.x }}', [{ name: 'web', map: { x: '{{ keychain.web.x }}' } }], '1')
    expect(itself.error).toMatchObject({ kind: 'credential' })
  })

  it('is not opened by what a stranger wrote into the payload', async () => {
    const { data } = await ranOf(
      { kind: 'noop', result: { name: '{{ keychain.web.token }}' } },
      { keychain: [{ name: 'web', credential: 'api' }], meta: { deferred: [] } },
    )
    expect(data).toEqual({ name: '{{ keychain.web.token }}' })
  })
})

describe('a command', () => {
  const closed = useTools({ allowed: [] })
  const stored = useTools(
    {},
    { results: { get: async (ref) => ({ from: ref }), put: () => Promise.reject(new Error('not asked for')) } },
  )
  it('of an unknown kind, or one that is not allowed, fails and says why', async () => {
    expect((await ranOf({ kind: 'snowflake' })).error).toMatchObject({ kind: 'unsupported' })
    for (const kind of ['python', 'shell']) {
      const { error } = await closed.tool({ kind, code: 'result = 1', command: 'true' })
      expect(error).toMatchObject({ kind: 'config', message: expect.stringContaining('NOETL_CP_WORKER_ALLOW') })
    }
    expect(closed.kinds()).not.toContain('python')
    expect(closed.kinds()).toContain('http')
  })

  it('ends with its own time limit', async () => {
    const slow = { name: 'a', kind: 'http', url: failing(99), ...rule(true, { do: 'retry', attempts: 99, delay: 30 }) }
    const { status, error } = await run([slow], { meta: { timeout_seconds: 0.3 } })
    expect([status, error]).toMatchObject([
      'timeout',
      { kind: 'timeout', message: 'the step did not end within 0.3 s' },
    ])
  })

  it('takes stored results in place of references, where the engine put them', async () => {
    const reference = { __ref__: 'noetl://execution/1/result/a/2' }
    const { data } = await stored.tool(
      { kind: 'noop', result: { rows: reference, payload: reference } },
      { meta: { references: ['/tool_config/result/rows'] } },
    )
    expect(data).toEqual({ rows: { from: reference.__ref__ }, payload: reference })
  })
})
