// Promise: `outbox drain` publishes everything once and in order, several at once and beside a daemon; its exit code
// tells cron whether work is left (75) or a server is away (69); stopping it gives its lanes back at once.
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { BINARY, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { committedRows, countBy, insertRows } from '../support/outboxRows.js'
import { judge, type TestStream, useStream } from '../support/stream.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

let database: TestDatabase
let stream: TestStream
let env: Record<string, string>

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql('truncate noetl.outbox restart identity')
  stream = await useStream(inject('servers'))
  env = { NOETL_DATABASE_URL: database.url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN, ...stream.env }
  return () => stream.close()
})

const drain = (args: string[] = [], extra: Record<string, string> = {}) =>
  builtCli(['outbox', 'drain', ...args], { env: { ...env, ...extra } })

const lanesHeld = async (): Promise<number> =>
  (
    await database.sql<{ n: number }>(
      `select count(*)::int as n from noetl.lease where kind = 'outbox' and owner is not null and lease_until > now()`,
    )
  )[0]!.n

describe('outbox drain', () => {
  it('has nothing to do: 0, one line, and makes the stream', async () => {
    const run = await drain()
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^published 0 row\(s\) in [\d.]+ s \(0\/s\): nothing is left\n$/)
    expect((await stream.jsm.streams.info(stream.name)).config.duplicate_window).toBe(120e9)
  })

  it('publishes everything, in order, three at once', async () => {
    await insertRows(database, { rows: 6_000, executions: 100, prefix: stream.prefix })
    const runs = await Promise.all([drain(['--json']), drain(['--json']), drain(['--json'])])
    for (const run of runs) expect(run, run.stderr).toMatchObject({ code: 0 })
    expect(await countBy(database)).toEqual({ PUBLISHED: 6_000 })
    const published = runs.map((run) => JSON.parse(run.stdout).published as number)
    expect(published.reduce((sum, count) => sum + count, 0)).toBe(6_000)
    expect(judge(await stream.messages(), await committedRows(database))).toEqual({
      stored: 6_000,
      lost: [],
      duplicates: [],
      outOfOrder: [],
      uninvited: [],
    })
    expect(await lanesHeld()).toBe(0)
  })

  it('waits for what a daemon publishes', async () => {
    const daemon = await startDaemon([], { env })
    try {
      await until('the daemon holds the lanes', async () => (await lanesHeld()) === 64)
      await insertRows(database, { rows: 2_000, executions: 50, prefix: stream.prefix })
      const run = await drain(['--json'])
      expect(run.code, run.stderr).toBe(0)
      expect(JSON.parse(run.stdout)).toMatchObject({ end: 'empty', published: 0 })
    } finally {
      await daemon.stop()
    }
    expect(judge(await stream.messages(), await committedRows(database))).toMatchObject({ stored: 2_000, lost: [] })
  })

  it('ends with 75 when time is up with work left, also when it only waits', async () => {
    await insertRows(database, { rows: 10, executions: 10, prefix: stream.prefix })
    await database.sql(
      `update noetl.outbox set status = 'FAILED', available_at = now() + interval '1 hour' where outbox_id = 1`,
    )
    const run = await drain(['--max-seconds', '2'])
    expect(run.code).toBe(75)
    // All nine, unless the machine is so slow that time is up before.
    const { PUBLISHED: published = 0 } = await countBy(database)
    expect(run.stdout).toContain(`published ${published} row(s)`)
    expect(run.stdout).toContain('time is up')
    expect(await lanesHeld()).toBe(0)
  })

  it('publishes exactly the number of rows asked for and ends with 75', async () => {
    await insertRows(database, { rows: 3_000, executions: 500, prefix: stream.prefix })
    // Refused rows take nobody's place.
    await database.sql(`update noetl.outbox set subject = 'no good' where outbox_id in (2, 9)`)
    for (const [asked, sum] of [
      ['1', 1],
      ['1000', 1_001],
    ] as const) {
      const run = await drain(['--max-rows', asked, '--json'])
      expect(run.code, run.stderr).toBe(75)
      expect(JSON.parse(run.stdout)).toMatchObject({ end: 'rows', published: Number(asked) })
      expect((await countBy(database))['PUBLISHED']).toBe(sum)
      expect(await stream.messages()).toHaveLength(sum)
      expect(await lanesHeld()).toBe(0)
    }
    const rest = await drain(['--max-rows', '5000', '--json'])
    expect(rest.code, rest.stderr).toBe(0)
    expect(JSON.parse(rest.stdout)).toMatchObject({ end: 'empty', published: 1_997, dead: 2 })
    expect(judge(await stream.messages(), await committedRows(database))).toMatchObject({
      stored: 2_998,
      duplicates: [],
      outOfOrder: [],
    })
  })

  it('shares the number of rows among the shards', async () => {
    const other = await cloneDatabase(inject('servers'))
    try {
      await insertRows(database, { rows: 400, executions: 40, prefix: stream.prefix })
      await insertRows(other, { rows: 400, executions: 40, prefix: stream.prefix, firstEvent: 10_000 })
      const run = await drain(['--max-rows', '250', '--json'], { NOETL_SHARDS: `${database.url},${other.url}` })
      expect(run.code, run.stderr).toBe(75)
      const published = await Promise.all([countBy(database), countBy(other)])
      expect(published.reduce((sum, counts) => sum + (counts['PUBLISHED'] ?? 0), 0)).toBe(250)
    } finally {
      await other.drop()
    }
  })

  it('tells about dead rows but does not wait for them', async () => {
    await insertRows(database, { rows: 3, executions: 3, prefix: stream.prefix })
    await database.sql(`update noetl.outbox set subject = 'no good' where outbox_id = 2`)
    const run = await drain()
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('1 dead, see "noetl-cp outbox dead list"')
  })

  it('ends with 69 when NATS or Postgres is away, 78 without NATS', async () => {
    await insertRows(database, { rows: 1, executions: 1, prefix: stream.prefix })
    const noNats = await drain([], { NOETL_NATS_URL: 'nats://127.0.0.1:1' })
    expect(noNats.code).toBe(69)
    expect(noNats.stderr).toContain('NATS is not reachable')
    const noPostgres = await drain([], { NOETL_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x' })
    expect(noPostgres.code).toBe(69)
    const { NOETL_NATS_URL: _, ...without } = env
    const unset = await builtCli(['outbox', 'drain'], { env: without })
    expect(unset.code).toBe(78)
    expect(await countBy(database)).toEqual({ PENDING: 1 })
  })

  it('ends with 69 when NATS goes away for good under way', async () => {
    await stream.make()
    await insertRows(database, { rows: 5_000, executions: 50, prefix: stream.prefix })
    const nats = new URL(inject('servers').natsUrl)
    const proxy = await startTcpProxy(nats.hostname, Number(nats.port))
    try {
      const run = drain(['--max-seconds', '6'], { NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` })
      await until('it has begun', async () => ((await countBy(database))['PUBLISHED'] ?? 0) > 0, { everyMs: 5 })
      proxy.setMode('refuse')
      const ended = await run
      // On a fast machine everything may have gone out before the cut.
      if (((await countBy(database))['PENDING'] ?? 0) > 0) expect(ended.code, ended.stdout + ended.stderr).toBe(69)
    } finally {
      await proxy.close()
    }
    expect((await drain()).code).toBe(0)
    expect(judge(await stream.messages(), await committedRows(database))).toMatchObject({
      lost: [],
      duplicates: [],
      outOfOrder: [],
    })
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('gives its lanes back on %s', async (signal) => {
    await insertRows(database, { rows: 1, executions: 1, prefix: stream.prefix })
    await database.sql(`update noetl.outbox set available_at = now() + interval '1 hour'`)
    const child = spawn(process.execPath, [BINARY, 'outbox', 'drain'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore',
    })
    const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
    await until('it holds the lanes', async () => (await lanesHeld()) === 64)
    child.kill(signal)
    expect(await ended).toBe(75)
    expect(await lanesHeld()).toBe(0)
  })

  it('drains one shard of several, and says when one is away', async () => {
    const other = await cloneDatabase(inject('servers'))
    try {
      await insertRows(database, { rows: 5, executions: 5, prefix: stream.prefix })
      await insertRows(other, { rows: 5, executions: 5, prefix: stream.prefix, firstEvent: 100 })
      const shards = { ...env, NOETL_SHARDS: `${database.url},${other.url}` }
      expect((await builtCli(['outbox', 'drain', '--shard', '1'], { env: shards })).code).toBe(0)
      expect(await countBy(database)).toEqual({ PENDING: 5 })
      expect(await countBy(other)).toEqual({ PUBLISHED: 5 })
      const bad = await builtCli(['outbox', 'drain', '--shard', '2'], { env: shards })
      expect(bad.code).toBe(2)
      const dead = new URL(other.url)
      dead.port = '1'
      const half = await builtCli(['outbox', 'drain'], { env: { ...env, NOETL_SHARDS: `${database.url},${dead}` } })
      expect(half.code, half.stdout + half.stderr).toBe(69)
      expect(await countBy(database)).toEqual({ PUBLISHED: 5 })
    } finally {
      await other.drop()
    }
  })
})
