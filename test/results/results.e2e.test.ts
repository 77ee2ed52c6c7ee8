// Promise: what is too large for an event is stored compressed beside its execution and comes back by its reference: whole for
// workers, without secrets for everybody else. Templates read it like any other result. Variables are read and written over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
const TOKEN = 'an-internal-token-of-this-test'
let daemon: Daemon
let url: string

beforeAll(async () => {
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.get().url,
      NOETL_INTERNAL_API_TOKEN: TOKEN,
      NOETL_CP_SECRET_KEY: 'a-secret-key-of-at-least-thirty-two-characters',
      NOETL_CP_WORKER: 'false',
      NOETL_CP_RESULT_LIMIT_MB: '2',
      NOETL_CP_RESULT_QUOTA_MB: '1',
    },
  })
  url = daemon.url
})
afterAll(() => daemon.stop())

async function call(method: string, path: string, body?: unknown, internal = false) {
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  if (internal) headers['authorization'] = `Bearer ${TOKEN}`
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(new URL(path, url), { method, headers, ...(body === undefined ? {} : { body: text }) })
  const answer = await response.text()
  return {
    status: response.status,
    text: answer,
    json: answer.startsWith('<') ? undefined : JSON.parse(answer || 'null'),
  }
}

/** As the worker of step a would. */
async function answerOf(id: string, reference: { ref: string } & Record<string, unknown>): Promise<void> {
  const result = { status: 'success', context: { data: { _ref: reference.ref } }, reference }
  await until(
    'a is issued',
    async () =>
      (await database.get().sql('select 1 from noetl.command where execution_id = $1::bigint', [id])).length === 1,
  )
  const base = { execution_id: id, step: 'a', worker_id: 'w' }
  const payload = { command_id: `${id}:a:1` }
  await call('POST', '/api/events', { ...base, event_type: 'call.done', payload: { ...payload, result } })
  await call('POST', '/api/events', { ...base, event_type: 'command.completed', status: 'success', payload })
}

let serial = 0

async function start(rest: string): Promise<string> {
  const path = `test/results${++serial}`
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: ${path}}\n${rest}`
  expect((await call('POST', '/api/catalog/register', { content })).status).toBe(200)
  return (await call('POST', '/api/execute', { path })).json.execution_id
}

const OPEN = 'workflow:\n- {step: a, tool: {kind: python, code: "x"}}\n'
const resolve = (ref: string, internal = false) =>
  call('GET', `/api/result/resolve?ref=${encodeURIComponent(ref)}`, undefined, internal)

describe('a stored result', () => {
  it('comes back as it was, large and small, exact in every digit', async () => {
    const id = await start(OPEN)
    const data = '{"rows":[1,90071992547409931234,1.25,"é\\u0000".length]}'.replace('"é\\u0000".length', '"é"')
    const put = await call('PUT', `/api/result/${id}`, `{"name":"my rows/1","data":${data},"source_step":"a"}`)
    expect(put).toMatchObject({ status: 200, json: { store: 'db', scope: 'execution', expires_at: null } })
    expect(put.json.ref).toMatch(new RegExp(`^noetl://execution/${id}/result/my%20rows%2F1/\\d+$`))
    expect((await resolve(put.json.ref)).text).toBe(data)
    const large = { list: Array.from({ length: 40_000 }, (_, n) => ({ n, text: `row ${n}` })) }
    const more = await call('PUT', `/api/result/${id}`, { name: 'large', data: large })
    expect(more.json.bytes).toBe(JSON.stringify(large).length)
    expect((await resolve(more.json.ref)).json).toEqual(large)
    const [row] = await database
      .get()
      .sql<{ stored: number }>('select octet_length(data) as stored from noetl.stored_result where name = $1::text', [
        'large',
      ])
    expect(row!.stored).toBeLessThan(more.json.bytes / 3)
  })

  it('shows its secrets to workers only, and keeps them sealed', async () => {
    const id = await start(OPEN)
    const data = { access_token: 'zq81-very-secret-value', n: 1 }
    const { ref } = (await call('PUT', `/api/result/${id}`, { name: 'login', data })).json
    expect((await resolve(ref)).json).toEqual({ access_token: '[REDACTED]', n: 1 })
    expect((await resolve(ref, true)).json).toEqual(data)
    const rows = await database
      .get()
      .sql<{ data: string }>(
        `select encode(data, 'escape') as data from noetl.stored_result where execution_id = $1::bigint`,
        [id],
      )
    expect(rows[0]!.data).toMatch(/^v1\./)
  })

  it.each([
    ['three bytes each', '漢'.repeat(255)],
    ['pairs', '😀'.repeat(127)],
    ['slashes', '/'.repeat(255)],
  ])('has a reference that can be resolved, whatever its name: %s', async (_, name) => {
    const id = await start(OPEN)
    const put = await call('PUT', `/api/result/${id}`, { name, data: [1] })
    expect(put.status, put.text).toBe(200)
    expect(await resolve(put.json.ref)).toMatchObject({ status: 200, json: [1] })
  })

  it('is refused under a name that cannot be kept', async () => {
    const id = await start(OPEN)
    for (const name of ['a\\ud800', 'a\\u0000', 'x'.repeat(256)]) {
      const put = await call('PUT', `/api/result/${id}`, `{"name":"${name}","data":1}`)
      expect(put).toMatchObject({ status: 400, json: { error: expect.stringContaining('/name') } })
    }
  })

  it('stays for the time that was said, and is refused with the longest one before anything is written', async () => {
    const id = await start(OPEN)
    const put = (ttl: string) => call('PUT', `/api/result/${id}`, `{"name":"x","data":1,"ttl_seconds":${ttl}}`)
    for (const ttl of ['1000000000000', '1e300', '123456789012345678901234567890', '0', '-1.0', '"60"']) {
      expect(await put(ttl), ttl).toMatchObject({
        status: 400,
        json: { error: expect.stringContaining('/ttl_seconds must be a number above 0 and at most 100000000000') },
      })
    }
    const rows = 'select 1 from noetl.stored_result where execution_id = $1::bigint'
    expect(await database.get().sql(rows, [id])).toEqual([])
    for (const ttl of ['60.0', '60', '1e11']) expect((await put(ttl)).json.expires_at, ttl).toMatch(/^\d{4}-/)
  })

  it('is refused with a clear answer when it cannot be stored or found', async () => {
    const id = await start(OPEN)
    const put = (body: unknown, to = id) => call('PUT', `/api/result/${to}`, body)
    expect(await put({ data: 1 })).toMatchObject({ status: 400, json: { error: expect.stringContaining('/name') } })
    expect(await put({ name: 'x' })).toMatchObject({ status: 400, json: { error: expect.stringContaining('/data') } })
    expect((await put('{"name": "x", "data": ')).status).toBe(400)
    expect((await put({ name: 'x', data: 1 }, '12345')).status).toBe(404)
    expect((await put({ name: 'x', data: 'y'.repeat(2_200_000) })).status).toBe(413)
    // Noise does not compress: one fits, a second one exceeds the room of the execution.
    const noise = Array.from({ length: 60_000 }, () => Math.random())
    expect((await put({ name: 'x', data: noise })).status).toBe(200)
    expect(await put({ name: 'x', data: noise })).toMatchObject({
      status: 413,
      json: { error: expect.stringContaining('NOETL_CP_RESULT_QUOTA_MB') },
    })
    expect((await resolve('noetl://somewhere')).status).toBe(400)
    const beyond = '9999999999999999999'
    for (const ref of [`${beyond}/result/a/1`, `1/result/a/${beyond}`, `${beyond}/result/a/${beyond}`]) {
      const refused = await resolve(`noetl://execution/${ref}`)
      expect(refused).toMatchObject({ status: 400, json: { error: expect.stringContaining('is no reference') } })
    }
    expect((await resolve(`noetl://execution/${id}/result/x/1`)).status).toBe(404)
    const { ref } = (await put({ name: 'x', data: 1, ttl_seconds: 0.001 })).json
    await until('its time is over', async () => (await resolve(ref)).status === 404)
  })

  it('is read from the table of another server, which is not changed', async () => {
    const id = await start(OPEN)
    await database.get().sql(
      `create table if not exists noetl.result_store (result_id bigint primary key, execution_id bigint, name text,
         scope text, source_step text, data jsonb, bytes bigint, sha256 text, media_type text,
         created_at timestamptz default now(), expires_at timestamptz)`,
      [],
    )
    await database
      .get()
      .sql(
        `insert into noetl.result_store (result_id, execution_id, name, data) values (77, $1::bigint, 'old', '{"a": 1, "password": "geheim-geheim"}')`,
        [id],
      )
    const ref = `noetl://execution/${id}/result/old/77`
    expect((await resolve(ref)).json).toEqual({ a: 1, password: '[REDACTED]' })
    expect((await resolve(ref, true)).json).toEqual({ a: 1, password: 'geheim-geheim' })
    expect(await database.get().sql('select count(*)::int as n from noetl.result_store')).toEqual([{ n: 1 }])
  })

  it.each([
    ['an object', (text: string) => ({ text }), (text: string) => ({ text, seen: 7 })],
    ['a list', (text: string) => [text], (text: string) => ({ data: [text], seen: 7 })],
  ])('of several MB is shown with what its step wrote: %s', async (_, dataOf, shown) => {
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: python, code: "x"}, set: {step.seen: 7}, next: [b]}\n- {step: b, tool: {kind: python, code: "x"}}\n',
    )
    const text = 'ü'.repeat(700_000)
    const stored = (await call('PUT', `/api/result/${id}`, { name: 'a', data: dataOf(text) })).json
    await answerOf(id, { kind: 'result_ref', ref: stored.ref, meta: { bytes: stored.bytes } })
    await until('a was left', async () => (await call('GET', `/api/executions/${id}/result?step=a`)).status === 200)
    expect((await call('GET', `/api/executions/${id}/result?step=a`)).json).toEqual(shown(text))
  })

  it('is read by templates as if it were in the event', async () => {
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: python, code: "x"}, set: {step.seen: "{{ output.rows | length }}"}, next: [b]}\n- {step: b, tool: {kind: noop, result: {last: "{{ a.rows | last }}", count: "{{ a.count }}", bytes: "{{ a._bytes }}"}}}\n',
    )
    const data = { count: 3, rows: ['x', 'y', 'z'] }
    const stored = (await call('PUT', `/api/result/${id}`, { name: 'a', data, source_step: 'a' })).json
    await answerOf(id, { kind: 'result_ref', ref: stored.ref, extracted: { count: 3 }, meta: { bytes: stored.bytes } })
    await until('it ends', async () => (await call('GET', `/api/executions/${id}/status`)).json.status === 'COMPLETED')
    const [end] = await database
      .get()
      .sql<{ data: unknown }>(
        `select result #> '{context,data}' as data from noetl.event where execution_id = $1::bigint and event_type = 'playbook.completed'`,
        [id],
      )
    expect(end!.data).toEqual({ last: 'z', count: 3, bytes: stored.bytes })
    // Who asks for the result of the step gets the data with what the step itself wrote, not the reference.
    expect((await call('GET', `/api/executions/${id}/result?step=a`)).json).toEqual({ ...data, seen: 3 })
  })
})

describe('variables', () => {
  it('are set in both forms, read, removed, and fixed after the end', async () => {
    const id = await start(`vars: {first: 1}\n${OPEN}`)
    await until('it runs', async () => (await call('GET', `/api/vars/${id}`)).json.first === 1)
    expect((await call('POST', `/api/vars/${id}`, { a: { b: 1 }, c: 2 })).json).toMatchObject({ count: 2 })
    const listed = { variables: [{ var_name: 'd', var_value: [1], var_type: 'user_defined', source_step: 'a' }] }
    expect((await call('POST', `/api/vars/${id}`, listed)).status).toBe(200)
    expect((await call('GET', `/api/vars/${id}`)).json).toEqual({ first: 1, a: { b: 1 }, c: 2, d: [1] })
    expect((await call('GET', `/api/vars/${id}/d`)).json).toEqual({ name: 'd', value: [1] })
    expect((await call('DELETE', `/api/vars/${id}/c`)).status).toBe(200)
    expect((await call('GET', `/api/vars/${id}/c`)).status).toBe(404)
    expect((await call('POST', `/api/vars/${id}`, { variables: [{ var_value: 1 }] })).status).toBe(400)
    expect((await call('GET', '/api/vars/12345')).status).toBe(404)
    await call('POST', `/api/executions/${id}/cancel`, {})
    expect((await call('POST', `/api/vars/${id}`, { a: 1 })).status).toBe(409)
    expect((await call('GET', `/api/vars/${id}/d`)).json).toEqual({ name: 'd', value: [1] })
  })

  it.each([
    ['by name', (vars: object) => vars],
    [
      'as a list',
      (vars: object) => ({ variables: Object.entries(vars).map(([var_name, var_value]) => ({ var_name, var_value })) }),
    ],
  ])('are the same in a body of any size that is accepted: %s', async (_, bodyOf) => {
    const values = (length: number) => ({ k: 'x'.repeat(length), n: [1, { deep: 2.5 }], db_password: 'not-to-be-told' })
    for (const length of [10, 66_000, 3_000_000]) {
      const id = await start(OPEN)
      const put = await call('POST', `/api/vars/${id}`, bodyOf(values(length)))
      expect(put).toMatchObject({ status: 200, json: { count: 3, execution_id: id } })
      const { json } = await call('GET', `/api/vars/${id}`)
      expect({ ...json, k: json.k.length }).toEqual({ k: length, n: [1, { deep: 2.5 }], db_password: '[REDACTED]' })
      const [event] = await database
        .get()
        .sql<{ text: string; status: string }>(
          `select context::text || meta::text as text, status from noetl.event where execution_id = $1::bigint and event_type = 'ctx.updated' order by event_id desc limit 1`,
          [id],
        )
      expect(event!.status).toBe('CONTEXT')
      expect(event!.text).toContain('"values": {}')
      expect(event!.text).toContain('vars:')
      expect(event!.text).not.toContain('not-to-be-told')
    }
    const id = await start(OPEN)
    const unnamed = { variables: [{ var_value: 'x'.repeat(70_000) }] }
    expect(await call('POST', `/api/vars/${id}`, unnamed)).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('/variables/0/var_name') },
    })
    expect((await call('POST', '/api/vars/12345', { k: 'x'.repeat(70_000) })).status).toBe(404)
    await call('POST', `/api/executions/${id}/cancel`, {})
    expect((await call('POST', `/api/vars/${id}`, { k: 'x'.repeat(70_000) })).status).toBe(409)
  })
})
