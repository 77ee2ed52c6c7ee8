// Promise: artifacts, stored results, secrets, child playbooks and containers do what their authors wrote, and stay within
// their folder, their pipeline and their time.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { ToolFailure } from '../../src/domain/tool/toolFailure.js'
import { credentialsOfEnvironment, credentialsOfFile, firstOf } from '../../src/tools/credentials/credentials.js'
import type { ChildEnd, ChildStart } from '../../src/tools/run/children.js'
import { credentialsOf, useTools } from '../support/toolRunner.js'

const stored = new Map<string, JsonValue>()
const children: { started: ChildStart[]; end: ChildEnd } = {
  started: [],
  end: { status: 'COMPLETED', error: undefined, durationMs: 12 },
}
const tools = useTools(
  {},
  {
    credentials: credentialsOf({
      api_key: { value: 'value-of-the-key' },
      pg: { type: 'postgres', db_host: 'host', db_password: 'db-password' },
    }),
    results: {
      get: async (ref) => {
        if (!stored.has(ref)) throw new ToolFailure('storage', `there is no result ${ref}`)
        return stored.get(ref) as JsonValue
      },
      put: async ({ executionId, name, data }) => {
        const ref = `noetl://execution/${executionId}/result/${name}/${stored.size + 1}`
        stored.set(ref, data)
        return { ref, store: 'db' }
      },
    },
    children: {
      start: async (child) => {
        if (child.path === 'missing') throw new ToolFailure('config', 'there is no playbook missing')
        const known = children.started.findIndex(({ key }) => key === child.key)
        if (known >= 0) return { executionId: String(known + 1), path: child.path ?? '' }
        children.started.push(child)
        return { executionId: String(children.started.length), path: child.path ?? '' }
      },
      ended: async () => children.end,
      resultOf: async (id, step) => ({ from: step ?? `execution ${id}`, status: 'own', score: 5 }),
    },
  },
)

describe('artifact', () => {
  const artifact = (config: JsonObject) => tools.tool({ kind: 'artifact', ...config })

  it('puts data into a file and gets it back', async () => {
    const data = { id: 9007199254740993n, list: ['ä'] }
    const put = await artifact({ action: 'put', path: 'out/a.json', data })
    expect(put.data).toMatchObject({ uri: 'out/a.json', bytes: 37, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(readFileSync(join(tools.folder, 'out/a.json'), 'utf8')).toBe('{"id":9007199254740993,"list":["ä"]}')
    expect((await artifact({ path: 'out/a.json' })).data).toMatchObject({ data })
    expect((await artifact({ path: 'out/a.json', format: 'text' })).data).toMatchObject({
      data: expect.stringMatching(/^\{"id"/),
    })
    const texts = Array.from({ length: 12 }, (_, n) => String(n).repeat(50_000 + n))
    const puts = await Promise.all(texts.map((text) => artifact({ action: 'put', path: 'out/same.txt', data: text })))
    expect(puts.map(({ status }) => status)).toEqual(texts.map(() => 'success'))
    expect(texts).toContain(readFileSync(join(tools.folder, 'out/same.txt'), 'utf8'))
    expect(readdirSync(join(tools.folder, 'out')).sort()).toEqual(['a.json', 'same.txt'])
    await artifact({ action: 'put', uri: 'file://bytes.bin', data: '/wAQ', format: 'base64' })
    expect([...readFileSync(join(tools.folder, 'bytes.bin'))]).toEqual([255, 0, 16])
  })

  it('puts data into the result store and gets it back, in the form of older playbooks, too', async () => {
    const { data } = await artifact({ action: 'put', data: [1, 2] })
    const { uri } = data as { uri: string }
    expect((await tools.tool({ kind: 'artifact', action: 'get', input: { result_ref: uri } })).data).toEqual({
      uri,
      data: [1, 2],
    })
    expect((await tools.tool({ kind: 'result_fetch', ref: uri, prefer: 'flight' })).data).toEqual([1, 2])
    expect((await tools.tool({ kind: 'result_fetch', ref: `${uri}9` })).error).toMatchObject({ kind: 'storage' })
  })

  it('stays in its folder, whatever names and links say', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'noetl-outside-'))
    try {
      writeFileSync(join(outside, 'secret'), 'outside')
      symlinkSync(outside, join(tools.folder, 'link'))
      symlinkSync(join(outside, 'secret'), join(tools.folder, 'file-link'))
      mkdirSync(join(tools.folder, 'in'))
      for (const path of ['../x', 'in/../../x', '/etc/passwd', 'link/secret', 'file-link', join(outside, 'secret')]) {
        expect((await artifact({ path })).error?.['kind'], path).toMatch(/config|not_found/)
        expect((await artifact({ action: 'put', path, data: 'changed' })).error, path).toMatchObject({ kind: 'config' })
      }
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('outside')
    } finally {
      await rm(outside, { recursive: true })
    }
    expect((await artifact({ uri: 'gs://bucket/a' })).error).toMatchObject({ kind: 'unsupported' })
  })
})

describe('secrets', () => {
  it('are known to later tasks and to nobody else', async () => {
    const tasks = [
      { name: 'key', kind: 'secrets', provider: 'gcp', secret: 'api_key' },
      { name: 'use', kind: 'noop', result: { length: '{{ key.value | length }}', shown: '{{ key.value }}' } },
    ]
    const deferred = ['/tool_config/tasks/1/result/length', '/tool_config/tasks/1/result/shown']
    const report = await tools.tool({ kind: 'task_sequence', tasks }, { meta: { deferred } })
    expect(report.data).toMatchObject({ use: { length: 16, shown: '***' }, key: { value: '***' } })
    expect(JSON.stringify(report)).not.toContain('value-of-the-key')
    expect((await tools.tool({ kind: 'secrets', secret: 'nobody' })).error).toMatchObject({ kind: 'credential' })
    // The name of a tool that is the step means the secret; that of a task is its label.
    expect((await tools.tool({ kind: 'secrets', provider: 'gcp', name: 'api_key' })).status).toBe('success')
    const task = await tools.tool({ kind: 'task_sequence', tasks: [{ name: 'api_key', kind: 'secrets' }] })
    expect(task.error).toMatchObject({ kind: 'config' })
  })
})

describe('playbook', () => {
  const playbook = (config: JsonObject, parts = {}) => tools.tool({ kind: 'playbook', path: 'child', ...config }, parts)

  it('hands its arguments over, without those of the iteration', async () => {
    const { data } = await playbook(
      { args: { a: 1, b: 1 }, input: { b: 2, c: 2 }, payload: { c: 3 } },
      { args: { step_input: 0, user: { name: 'Ada' }, iter: {}, _index: 4 }, meta: { item_var: 'user' } },
    )
    expect(children.started.at(-1)?.payload).toEqual({ step_input: 0, a: 1, b: 2, c: 3 })
    expect(data).toEqual({ execution_id: expect.any(String), path: 'child', status: 'started', async: true })
  })

  it('waits where somebody wants its result, and lends the slot meanwhile', async () => {
    let lent = 0
    const whileWaiting = <T>(work: () => Promise<T>): Promise<T> => {
      lent += 1
      return work()
    }
    const options = { whileWaiting }
    expect((await playbook({ wait: true }, { options })).data).toMatchObject({ status: 'COMPLETED', duration_ms: 12 })
    expect((await playbook({ return_result: true }, { options })).data).toMatchObject({
      from: expect.stringMatching(/^execution/),
    })
    expect((await playbook({ return_step: 'score' }, { options })).data).toEqual({
      execution_id: expect.any(String),
      status: 'COMPLETED',
      result: { from: 'score', status: 'own', score: 5 },
      from: 'score',
      score: 5,
    })
    const whole = { from: 'score', status: 'own', score: 5 }
    expect((await playbook({ return_result: true, result_step: 'score' }, { options })).data).toEqual(whole)
    expect((await playbook({ result_step: 'score' }, { options })).data).toMatchObject({ result: whole, score: 5 })
    expect(lent).toBe(5)
  })

  it('that fails is an error, a retry starts another child, the same command finds its own', async () => {
    children.end = { status: 'FAILED', error: 'step "x": no', durationMs: 1 }
    const before = children.started.length
    const meta = { command_id: '1:retried:1' }
    const retry = { max_attempts: 2, delay: 0 }
    const config = {
      kind: 'task_sequence',
      tasks: [{ name: 'call', kind: 'playbook', path: 'child', wait: true, retry }],
    }
    const { error } = await tools.tool(config, { meta })
    expect(error).toMatchObject({
      kind: 'child_failed',
      retryable: false,
      message: expect.stringMatching(/^child child \(\d+\): step "x": no$/),
    })
    expect(children.started.slice(before).map(({ key }) => key)).toEqual(['1:retried:1/call/1', '1:retried:1/call/2'])
    await tools.tool(config, { meta })
    expect(children.started.length).toBe(before + 2)
    children.end = { status: 'COMPLETED', error: undefined, durationMs: 1 }
    expect((await playbook({ path: 'missing' })).error).toMatchObject({ kind: 'config' })
  })
})

describe('credentials', () => {
  it('come from a file and from the environment, the first that knows the name', async () => {
    const path = join(tools.folder, 'credentials.json')
    writeFileSync(path, JSON.stringify([{ name: 'pg_local', type: 'postgres', data: { db_host: 'file' } }]))
    const environment = {
      NOETL_CRED_PG_LOCAL_DB_HOST: 'env',
      NOETL_CRED_MY_API_TYPE: 'bearer',
      NOETL_CRED_MY_API_TOKEN: 't',
      OTHER: 'x',
    }
    const credentials = firstOf(credentialsOfFile(path), credentialsOfEnvironment(environment))
    expect(await credentials.find('pg_local', '1')).toEqual({
      name: 'pg_local',
      type: 'postgres',
      data: { db_host: 'file' },
    })
    expect(await credentials.find('my-api', '1')).toEqual({ name: 'my-api', type: 'bearer', data: { token: 't' } })
    expect(await credentials.find('nobody', '1')).toBeUndefined()
  })

  it('of a file that cannot be read stop the start, and show nothing of it', () => {
    const path = join(tools.folder, 'broken.json')
    for (const text of [
      '[{"name": "a", "data": {"password": "hidden-value"',
      '{"password": "hidden-value"}',
      '[{"name": "hidden-value"}]',
    ]) {
      writeFileSync(path, text)
      expect(() => credentialsOfFile(path)).toThrow(/NOETL_CP_CREDENTIALS_FILE/)
      expect(() => credentialsOfFile(path)).not.toThrow(/hidden-value/)
    }
    expect(() => credentialsOfFile('/nowhere.json')).toThrow(/NOETL_CP_CREDENTIALS_FILE/)
  })
})
