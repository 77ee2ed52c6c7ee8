// Promise: kind nats publishes, asks, and keeps keys and objects on a real server, tells trouble in the words of policies, and
// leaves no connection behind.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, type NatsConnection } from 'nats'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { freePort } from '../support/freePort.js'
import { startNats } from '../support/natsServer.js'
import { useTools } from '../support/toolRunner.js'
import { until } from '../support/until.js'

const name = `t${randomBytes(4).toString('hex')}`
let nats: NatsConnection
beforeAll(async () => {
  const { natsUrl, natsToken } = inject('servers')
  nats = await connect({ servers: natsUrl, token: natsToken })
  const manager = await nats.jetstreamManager()
  await manager.streams.add({ name, subjects: [`${name}.stored`] })
  await nats.jetstream().views.kv(name)
  await nats.jetstream().views.os(name)
})
afterAll(async () => {
  const manager = await nats.jetstreamManager()
  for (const stream of [name, `KV_${name}`, `OBJ_${name}`]) await manager.streams.delete(stream)
  await nats.close()
})

const tools = useTools(
  {},
  {
    credentials: {
      find: async (alias) => {
        const { natsUrl, natsToken } = inject('servers')
        const token = alias === 'own' ? natsToken : 'not-the-right-token'
        return alias === 'nobody'
          ? undefined
          : { name: alias, type: 'nats', data: { nats_url: natsUrl, nats_token: token } }
      },
    },
  },
)
const run = (config: JsonObject) => tools.tool({ kind: 'nats', auth: 'own', bucket: name, ...config })

describe('messages', () => {
  it('are published, with headers, to whoever listens', async () => {
    const subscription = nats.subscribe(`${name}.heard`, { max: 1 })
    await nats.flush()
    const { data } = await run({
      operation: 'publish',
      subject: `${name}.heard`,
      payload: { a: 1 },
      headers: { 'X-A': 'b' },
    })
    expect(data).toEqual({ status: 'success', subject: `${name}.heard` })
    for await (const message of subscription) {
      expect([message.string(), message.headers?.get('X-A')]).toEqual(['{"a":1}', 'b'])
    }
  })

  it('are answered', async () => {
    nats.subscribe(`${name}.ask`, {
      max: 1,
      callback: (_, message) => void message.respond(`{"id": 9007199254740993, "got": ${message.string()}}`),
    })
    await nats.flush()
    const { data } = await run({ operation: 'request', subject: `${name}.ask`, payload: '5' })
    expect(data).toMatchObject({ reply: { id: 9007199254740993n, got: 5 } })
  })

  it('are stored in a stream', async () => {
    const { data } = await run({ operation: 'js_publish', subject: `${name}.stored`, payload: 'text' })
    expect(data).toMatchObject({ stream: name, seq: 1 })
  })
})

describe('keys', () => {
  it('are put, read, listed and deleted', async () => {
    expect((await run({ operation: 'kv_put', key: 'a.one', value: { deep: [1] } })).data).toMatchObject({ revision: 1 })
    await run({ operation: 'kv_put', key: 'b', value: 'plain' })
    expect((await run({ operation: 'kv_get', key: 'a.one' })).data).toMatchObject({
      found: true,
      value: { deep: [1] },
      revision: 1,
    })
    expect((await run({ operation: 'kv_get', key: 'b' })).data).toMatchObject({ value: 'plain' })
    expect((await run({ operation: 'kv_keys' })).data).toMatchObject({ keys: ['a.one', 'b'], count: 2 })
    await run({ operation: 'kv_delete', key: 'b' })
    expect((await run({ operation: 'kv_get', key: 'b' })).data).toMatchObject({ found: false, value: null })
    expect((await run({ operation: 'kv_get', key: 'never' })).data).toMatchObject({ found: false })
  })
})

describe('objects', () => {
  it('are put and read, as text or bytes', async () => {
    await run({ operation: 'object_put', key: 'big', value: 'x'.repeat(300_000) })
    expect((await run({ operation: 'object_get', key: 'big' })).data).toMatchObject({
      size: 300_000,
      value: 'x'.repeat(300_000),
    })
    await run({ operation: 'object_put', key: 'bytes', value: '/wAQ', encoding: 'base64' })
    expect((await run({ operation: 'object_get', key: 'bytes', encoding: 'base64' })).data).toMatchObject({
      size: 3,
      value: '/wAQ',
    })
    expect((await run({ operation: 'object_get', key: 'never' })).error).toMatchObject({ kind: 'not_found' })
  })
})

describe('trouble', () => {
  it('is told by its kind', async () => {
    expect((await run({ operation: 'kv_get', key: 'a', bucket: `${name}_missing` })).error).toMatchObject({
      kind: 'not_found',
    })
    expect((await run({ operation: 'object_get', key: 'a', bucket: `${name}_missing` })).error).toMatchObject({
      kind: 'not_found',
    })
    const manager = await nats.jetstreamManager()
    await expect(manager.streams.info(`KV_${name}_missing`)).rejects.toThrow()
    expect((await run({ operation: 'request', subject: `${name}.nobody`, timeout: 1 })).error).toMatchObject({
      retryable: true,
    })
    expect((await run({ operation: 'conquer' })).error).toMatchObject({ kind: 'config' })
    expect((await run({ operation: 'publish' })).error).toMatchObject({ kind: 'config' })
    expect((await run({ operation: 'publish', subject: 'a', auth: 'nobody' })).error).toMatchObject({
      kind: 'credential',
    })
    const wrong = await run({ operation: 'publish', subject: 'a', auth: 'wrong' })
    expect(wrong.error).toMatchObject({ kind: 'auth' })
    expect(JSON.stringify(wrong)).not.toContain('not-the-right-token')
    const url = `nats://127.0.0.1:${await freePort()}`
    expect((await tools.tool({ kind: 'nats', url, operation: 'publish', subject: 'a' })).error).toMatchObject({
      kind: 'connection',
      retryable: true,
    })
  })

  it('of a server that hangs ends in time', async () => {
    const own = await startNats()
    try {
      process.kill(own.pid(), 'SIGSTOP')
      await until('it stands still', () => /^State:\tT/m.test(readFileSync(`/proc/${own.pid()}/status`, 'utf8')))
      const url = `nats://127.0.0.1:${own.port}`
      const { error } = await tools.tool({ kind: 'nats', url, operation: 'publish', subject: 'a', timeout: 1 })
      expect(error).toMatchObject({ retryable: true })
    } finally {
      process.kill(own.pid(), 'SIGCONT')
      await own.stop()
    }
  })
})

describe('many commands', () => {
  it('leave no connection behind', async () => {
    const monitorPort = await freePort()
    const own = await startNats(['-m', String(monitorPort)])
    onTestFinished(() => own.stop())
    const url = `nats://127.0.0.1:${own.port}`
    const connections = async (state: 'open' | 'closed'): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${monitorPort}/connz?state=${state}`)
      const list = ((await answer.json()) as { connections: { name?: string }[] }).connections
      return list.filter((one) => one.name === 'noetl-cp step').length
    }
    for (let round = 0; round < 5; round++) {
      const publish = () => tools.tool({ kind: 'nats', url, operation: 'publish', subject: 'many', payload: { round } })
      await Promise.all(Array.from({ length: 6 }, publish))
    }
    await until('all are closed', async () => (await connections('open')) === 0 && (await connections('closed')) > 0)
  })
})
