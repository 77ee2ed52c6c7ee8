// Promise: whatever a task does to its thread, only that task fails, with a code; the thread is replaced, the
// others go on, the queue is bounded, and closing ends within its deadline. Real threads.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CpError } from '../../src/errors.js'
import { createWorkerPool, type WorkerPool, type WorkerPoolSettings } from '../../src/workers/pool.js'
import { until } from '../support/until.js'

const FAULTY = fileURLToPath(new URL('./faultyTasks.mjs', import.meta.url))
const HASTY = fileURLToPath(new URL('./hastyPools.mjs', import.meta.url))
const YOUNG = fileURLToPath(new URL('./youngSpace.mjs', import.meta.url))
const PROGRAM = new URL('../../bin/noetl-cp.js', import.meta.url)
const REAL = fileURLToPath(new URL('../../dist/workers/entry.js', import.meta.url))

const pools: WorkerPool[] = []
const outcomes: [string, string][] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close(200)))
  outcomes.length = 0
})

interface AnyPool extends Omit<WorkerPool, 'run'> {
  run(task: string, input?: unknown, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<unknown>
}

function open(settings: Partial<WorkerPoolSettings> = {}): AnyPool {
  const pool = createWorkerPool({
    threads: 2,
    queueMax: 8,
    memoryMb: 64,
    taskTimeoutMs: 20_000,
    entry: FAULTY,
    onTask: (task, outcome) => outcomes.push([task, outcome]),
    ...settings,
  })
  pools.push(pool)
  return pool as unknown as AnyPool
}

async function failure(promise: Promise<unknown>): Promise<CpError> {
  const error = await promise.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`)
    },
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(CpError)
  return error as CpError
}

describe('a task that', () => {
  it.each([
    ['exit', 'internal', 'crashed'],
    ['memory', 'overloaded', 'crashed'],
    ['throw', 'internal', 'crashed'],
    ['lateThrow', 'internal', 'crashed'],
    ['uncloneable', 'internal', 'crashed'],
  ])('does "%s" fails alone with %s; its neighbour and its successor are well', async (task, code, outcome) => {
    const pool = open()
    const neighbour = pool.run('wait', { ms: 300 })
    const error = await failure(pool.run(task))
    expect(error.code).toBe(code)
    expect(error.message).not.toBe('')
    expect(error.message).not.toContain('[object')
    expect(await neighbour).toBe('waited')
    expect(await pool.run('echo', { big: 2n ** 63n, bytes: new Uint8Array([1, 2]) })).toEqual({
      big: 2n ** 63n,
      bytes: new Uint8Array([1, 2]),
    })
    expect(outcomes).toContainEqual([task, outcome])
    expect(outcomes).toContainEqual(['echo', 'ok'])
  })

  it('loses its thread is run again, once', async () => {
    const pool = open()
    const tries = new SharedArrayBuffer(4)
    expect(await pool.run('exitOnce', { tries })).toBe('alive')
    expect(new Int32Array(tries)[0]).toBe(2)
    expect(outcomes).toEqual([['exitOnce', 'ok']])
  })

  it('never ends is stopped at its deadline, and only that one', async () => {
    const pool = open()
    const neighbour = pool.run('wait', { ms: 800 })
    const error = await failure(pool.run('loop', {}, { timeoutMs: 200 }))
    expect(error.code).toBe('timeout')
    expect(error.message).toMatch(/^loop did not finish within \d+\.\d s/)
    expect(await neighbour).toBe('waited')
    expect(await pool.run('echo', 1)).toBe(1)
    expect(outcomes).toContainEqual(['loop', 'timeout'])
  })

  it('is no longer wanted is stopped', async () => {
    const pool = open()
    const controller = new AbortController()
    const task = pool.run('loop', {}, { signal: controller.signal })
    await until('it runs', () => pool.stats().threads > 0)
    controller.abort()
    expect((await failure(task)).code).toBe('cancelled')
    expect(await pool.run('echo', 1)).toBe(1)
  })

  it('fails in words keeps its code and details', async () => {
    const error = await failure(open().run('refused'))
    expect([error.code, error.message, error.details]).toEqual(['refused', 'not now', { id: '7' }])
    expect(outcomes).toEqual([['refused', 'failed']])
  })

  it('gets what cannot be cloned fails before it starts', async () => {
    expect((await failure(open().run('echo', () => 1))).code).toBe('internal')
  })
})

describe('the queue', () => {
  it('is bounded: the one too many is told at once, the others run', async () => {
    const pool = open({ threads: 1, queueMax: 2 })
    await pool.run('echo', 1)
    const running = [1, 2, 3].map(() => pool.run('wait', { ms: 100 }))
    expect(pool.stats().queued).toBeGreaterThan(0)
    expect((await failure(pool.run('wait', { ms: 100 }))).code).toBe('overloaded')
    expect(await Promise.all(running)).toEqual(['waited', 'waited', 'waited'])
    expect(pool.stats()).toMatchObject({ threads: 1, queued: 0 })
  })
})

describe('closing', () => {
  it('waits for what runs, and no longer than its deadline', async () => {
    const patient = open()
    const short = patient.run('wait', { ms: 100 })
    await until('it runs', () => patient.stats().threads > 0)
    await patient.close(10_000)
    expect(await short).toBe('waited')

    const hung = open()
    const task = failure(hung.run('loop'))
    await until('it runs', () => hung.stats().threads > 0)
    await hung.close(100)
    expect((await task).code).not.toBe('timeout')
  })
})

it('gives back the threads that nobody keeps warm, and starts one for the next task', async () => {
  const pool = open({ warmThreads: 0, idleMs: 1 })
  expect(await pool.run('echo', 1)).toBe(1)
  await until('its thread is gone', async () => pool.stats().threads === 0)
  expect(await pool.run('echo', 2)).toBe(2)
})

describe('the real entry', () => {
  // Node itself would abort and take the daemon with it; about every third run of this test has met that moment.
  it('may be stopped while it loads', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [HASTY])
    expect(stdout).toBe('40\n')
  })
  it('of each kind has the room for young objects that it is given, not that of the main thread', async () => {
    const flags = readFileSync(PROGRAM, 'utf8').split('\n')[0]!.match(/--\S+/g)!
    expect(flags.join()).toContain('semi-space')
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, YOUNG])
    const { states, tapes, tasks } = JSON.parse(stdout) as Record<string, number>
    expect(tapes).toBeLessThanOrEqual(3 * 1_048_576)
    expect(Math.max(states!, tasks!)).toBeLessThanOrEqual(24 * 1_048_576)
  })
  beforeAll(() => {
    if (!existsSync(REAL)) throw new Error('dist is missing: run "make build" first')
  })
  it('runs the registered tasks, with failures as coded values', async () => {
    const pool = open({ entry: REAL })
    const database = {
      target: { host: '127.0.0.1', port: 1, user: 'nobody', password: '', database: 'none' },
      tls: false,
      ignoresServerName: false,
      applicationName: 'test',
      connectTimeoutMs: 2000,
      statementTimeoutMs: 2000,
      prepare: true,
    }
    const away = await failure(pool.run('replay', { database, deadlineMs: 5000, query: {} }))
    expect(away).toMatchObject({ code: 'unavailable' })
    expect((await failure(pool.run('nonsense', {}))).message).toContain('nonsense')
  })
})
