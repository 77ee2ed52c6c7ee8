// Promises of the small tools: a loop never dies and never hammers, a deadline always fires once, services
// stop in reverse whatever fails, every metric exists at zero, a name close to a real one is recognised.
import { EventEmitter, getEventListeners } from 'node:events'
import { Writable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { METRICS } from '../../src/daemon/metricTable.js'
import { CpError, type CpError as CpErrorType } from '../../src/errors.js'
import { type Clock, systemClock } from '../../src/runtime/clock.js'
import { withDeadline } from '../../src/runtime/deadline.js'
import { createLog } from '../../src/runtime/log.js'
import { createPollLoop, type LoopOptions } from '../../src/runtime/loop.js'
import { LruMap } from '../../src/runtime/lruMap.js'
import { createMetrics } from '../../src/runtime/metrics.js'
import { nearest } from '../../src/runtime/nearest.js'
import { type Service, startAll, stopAll } from '../../src/runtime/service.js'
import { listenForShutdown, type SignalSource } from '../../src/runtime/shutdown.js'
import { until } from '../support/until.js'

/** Sleeps last until the test advances; their lengths are recorded. */
function fakeClock(): Clock & { sleeps: number[]; wake(): void } {
  const sleeps: number[] = []
  let release: (() => void)[] = []
  return {
    sleeps,
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms, ...signals) =>
      new Promise((resolve) => {
        sleeps.push(ms)
        if (signals.some(({ aborted }) => aborted)) return resolve()
        for (const signal of signals) signal.addEventListener('abort', () => resolve(), { once: true })
        release.push(resolve)
      }),
    wake: () => {
      const waiting = release
      release = []
      for (const resolve of waiting) resolve()
    },
  }
}

function loopWith(clock: Clock, options: Partial<LoopOptions>) {
  return createPollLoop({
    name: 'test',
    clock,
    random: () => 0.5,
    idleMs: 1_000,
    errorMs: 100,
    errorMsMax: 1_600,
    onError: () => undefined,
    runOnce: async () => 'idle',
    ...options,
  })
}

describe('a loop', () => {
  it('leaves nothing behind in its signal, however often it slept', async () => {
    let passes = 0
    let signal: AbortSignal | undefined
    const loop = loopWith(systemClock, {
      idleMs: 1,
      runOnce: async (given) => {
        signal = given
        passes += 1
        return 'idle'
      },
    })
    await loop.start()
    await until('it slept a hundred times', () => passes > 100)
    // What the platform hangs on a signal for those who depend on it is a set under a symbol without a public name.
    const sizes = Object.getOwnPropertySymbols(signal!).map((symbol) => Number(Reflect.get(signal!, symbol)?.size ?? 0))
    expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(1)
    expect(getEventListeners(signal!, 'abort').length).toBeLessThanOrEqual(1)
    await loop.stop(1_000)
  })

  it('runs again at once while busy, then sleeps', async () => {
    const clock = fakeClock()
    let left = 5
    const loop = loopWith(clock, { runOnce: async () => (--left > 0 ? 'busy' : 'idle') })
    await loop.start()
    await until('it sleeps', () => clock.sleeps.length === 1)
    expect(left).toBe(0)
    expect(clock.sleeps).toEqual([1_000])
    await loop.stop(100)
  })

  it('wakes when nudged, also when the nudge comes during a pass', async () => {
    const clock = fakeClock()
    let passes = 0
    let finish: () => void = () => undefined
    const loop = loopWith(clock, {
      runOnce: () =>
        new Promise((resolve) => {
          passes += 1
          finish = () => resolve('idle')
        }),
    })
    await loop.start()
    loop.nudge()
    finish()
    await until('the nudge of the pass led to another', () => passes === 2)
    finish()
    await until('it sleeps', () => clock.sleeps.length === 1)
    loop.nudge()
    await until('it woke', () => passes === 3)
    finish()
    await loop.stop(100)
  })

  it('backs off after errors, does not let nudges shorten that, and recovers', async () => {
    const clock = fakeClock()
    const seen: [string, number][] = []
    let broken = true
    let passes = 0
    const loop = loopWith(clock, {
      onError: (error: CpErrorType, consecutive) => seen.push([error.code, consecutive]),
      runOnce: async () => {
        passes += 1
        if (broken) throw passes % 2 === 1 ? new CpError('unavailable', 'away') : new Error('foreign')
        return 'idle'
      },
    })
    await loop.start()
    for (let failures = 1; failures <= 6; failures++) {
      await until(`failure ${failures}`, () => clock.sleeps.length === failures)
      for (let index = 0; index < 100; index++) loop.nudge()
      await new Promise((resolve) => setImmediate(resolve))
      expect(passes).toBe(failures)
      if (failures === 6) broken = false
      clock.wake()
    }
    await until('it is well again', () => clock.sleeps.length === 7)
    expect(clock.sleeps).toEqual([100, 200, 400, 800, 1_600, 1_600, 1_000])
    expect(seen.map(([, consecutive]) => consecutive)).toEqual([1, 2, 3, 4, 5, 6])
    expect(seen[0]![0]).toBe('unavailable')
    expect(seen[1]![0]).toBe('internal')
    expect(loop.lastSuccessAgeMs()).toBe(0)
    await loop.stop(100)
  })

  it('ends soon after stop, can be stopped twice or before starting, and started again', async () => {
    let running = 0
    let overlapping = false
    const loop = loopWith(systemClock, {
      idleMs: 60_000,
      runOnce: async () => {
        running += 1
        overlapping ||= running > 1
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        return 'idle'
      },
    })
    await loop.stop(100)
    for (let round = 0; round < 50; round++) {
      await Promise.all([loop.start(), loop.start()])
      loop.nudge()
      await Promise.all([loop.stop(100), loop.stop(100)])
      expect(running).toBe(0)
    }
    expect(overlapping).toBe(false)
  })
})

describe('a deadline', () => {
  it('rejects once with what was waited for, and calls onExpire before', async () => {
    const onExpire = vi.fn()
    await expect(withDeadline(new Promise(() => undefined), 20, { what: 'the moon', onExpire })).rejects.toMatchObject({
      code: 'timeout',
      message: 'the moon did not finish within 20 ms',
    })
    expect(onExpire).toHaveBeenCalledTimes(1)
  })
  it('passes values and errors through, and swallows what comes too late', async () => {
    const onExpire = vi.fn()
    await expect(withDeadline(Promise.resolve(7), 1_000, { what: 'x', onExpire })).resolves.toBe(7)
    await expect(withDeadline(Promise.reject(new Error('own')), 1_000, { what: 'x', onExpire })).rejects.toThrow('own')
    let late: (error: Error) => void = () => undefined
    const promise = new Promise((_, reject) => {
      late = reject
    })
    await expect(withDeadline(promise, 10, { what: 'x' })).rejects.toThrow('did not finish')
    // An unhandled rejection would fail the test run.
    late(new Error('late'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(onExpire).not.toHaveBeenCalled()
  })
})

describe('services', () => {
  function recorded(log: string[], name: string, faults: { start?: boolean; stop?: 'fails' | 'hangs' } = {}): Service {
    return {
      name,
      start: async () => {
        log.push(`+${name}`)
        if (faults.start) throw new Error(`${name} cannot start`)
      },
      stop: async () => {
        log.push(`-${name}`)
        if (faults.stop === 'fails') throw new Error(`${name} cannot stop`)
        if (faults.stop === 'hangs') await new Promise(() => undefined)
      },
    }
  }

  it('start in order and stop in reverse', async () => {
    const log: string[] = []
    const services = ['a', 'b', 'c'].map((name) => recorded(log, name))
    await startAll(services, 1_000)
    expect(await stopAll(services, 1_000)).toEqual([])
    expect(log).toEqual(['+a', '+b', '+c', '-c', '-b', '-a'])
  })
  it('that were started are stopped when a later one cannot start, and the first error is kept', async () => {
    const log: string[] = []
    const services = [recorded(log, 'a', { stop: 'fails' }), recorded(log, 'b'), recorded(log, 'c', { start: true })]
    await expect(startAll(services, 1_000)).rejects.toThrow('c cannot start')
    expect(log).toEqual(['+a', '+b', '+c', '-b', '-a'])
  })
  it('are all stopped although one fails and one never ends', async () => {
    const log: string[] = []
    const services = [recorded(log, 'a'), recorded(log, 'b', { stop: 'hangs' }), recorded(log, 'c', { stop: 'fails' })]
    const errors = await stopAll(services, 300)
    expect(log).toEqual(['-c', '-b', '-a'])
    expect(errors.map(String)).toEqual([
      'Error: c cannot stop',
      expect.stringMatching(/stopping b did not finish within \d+ ms/),
    ])
  })
})

describe('metrics', () => {
  it('exist at zero before anything happened, for every label value known in advance', async () => {
    const text = await createMetrics(METRICS, { process: false }).render()
    for (const [name, row] of Object.entries(METRICS)) {
      expect(text).toContain(`# HELP ${name} `)
      const labels = 'labels' in row ? Object.values(row.labels) : []
      if (labels.some((values) => values.length === 0)) continue
      expect(text, name).toMatch(new RegExp(`^${name}(_count)?(\\{[^}]*\\})? 0$`, 'm'))
    }
  })
  it('declare makes the missing combinations, and collectors run before each scrape', async () => {
    const metrics = createMetrics(METRICS, { process: false })
    metrics.declare('noetl_cp_worker_tasks_total', { task: 'fold' })
    let scrapes = 0
    metrics.onCollect(() => {
      scrapes += 1
      metrics.set('noetl_cp_worker_queue', scrapes)
    })
    const text = await metrics.render()
    for (const outcome of ['ok', 'failed', 'timeout', 'crashed', 'overloaded']) {
      expect(text).toContain(`noetl_cp_worker_tasks_total{task="fold",outcome="${outcome}"} 0`)
    }
    expect(text).toContain('noetl_cp_worker_queue 1')
    expect(await metrics.render()).toContain('noetl_cp_worker_queue 2')
  })
  it('have what was counted elsewhere whenever they are read or scraped, each count once', async () => {
    const metrics = createMetrics(METRICS, { process: false })
    let counted = 0
    metrics.onRead(() => {
      metrics.inc('noetl_cp_outbox_publish_total', { outcome: 'stored' }, counted)
      counted = 0
    })
    const read = async () => {
      const values = await metrics.read(new Set(['noetl_cp_outbox_publish_total']))
      return values.find(({ labels }) => labels['outcome'] === 'stored')?.value
    }
    counted = 3
    expect(await read()).toBe(3)
    counted = 2
    expect(await metrics.render()).toContain('noetl_cp_outbox_publish_total{outcome="stored"} 5')
    expect(await read()).toBe(5)
  })
  it('refuse a name that is not in the table', () => {
    const metrics = createMetrics(METRICS, { process: false })
    expect(() => metrics.inc('noetl_cp_typo_total')).toThrow('not in the table')
  })
})

describe('nearest', () => {
  const words = ['serve', 'status', 'doctor', 'migrate']
  it.each([
    ['stauts', 'status'],
    ['SERVE', 'serve'],
    ['dcotor', 'doctor'],
    ['migrat', 'migrate'],
    ['xyzzy', undefined],
    ['', undefined],
  ])('%s → %s', (typed, found) => {
    expect(nearest(typed, words)).toBe(found)
  })
})

describe('logs', () => {
  function logged(write: (log: ReturnType<typeof createLog>) => void, format: 'json' | 'pretty'): string {
    let text = ''
    const stream = new Writable({
      write: (chunk, _, done) => {
        text += chunk
        done()
      },
    })
    write(createLog({ level: 'info', format, isTerminal: false, color: false, stream }))
    return text
  }
  it('are one JSON object per line, without secrets in fields', () => {
    const text = logged((log) => {
      log.info({ token: 'hunter2', nested: { password: 'hunter2', databaseUrl: 'hunter2' }, executionId: '7' }, 'hello')
      log.debug('not shown')
    }, 'json')
    const line = JSON.parse(text)
    expect(line).toMatchObject({ level: 'info', msg: 'hello', executionId: '7' })
    expect(text).not.toContain('hunter2')
  })

  it.each(['json', 'pretty'] as const)('hide secrets in messages, errors and bound fields as well: %s', (format) => {
    const text = logged((log) => {
      const cause = new Error('cannot log in as u with password=hunter2')
      log
        .child({ github_token: 'hunter2' })
        .warn(
          { err: new Error('no postgres://u:hunter2@h/db', { cause }), list: [{ PGPASSWORD: 'hunter2' }] },
          'token=hunter2',
        )
      log.error(cause)
    }, format)
    expect(text).toContain('cannot log in')
    expect(text.trim().split('\n').length).toBeGreaterThan(1)
    expect(text).not.toContain('hunter2')
  })
})

describe('logs on a terminal', () => {
  it('show control characters as marks, and no line that is not ours', () => {
    let text = ''
    const stream = new Writable({
      write: (chunk, _, done) => {
        text += chunk
        done()
      },
    })
    const log = createLog({ level: 'info', format: 'pretty', isTerminal: true, color: false, stream })
    const hostile = 'a\x1b[2J\r\nFAKE\u009b\x07\\u001b'
    log.info({ path: hostile, err: new Error(hostile) }, hostile)
    log.child({ component: hostile }).warn(hostile)
    expect(text.match(/\p{Cc}/gu)?.every((found) => found === '\n')).toBe(true)
    expect(text).toContain('\\u001b')
  })
})

describe('signals', () => {
  it('first asks, second forces with the code of the signal, dispose lets go', async () => {
    const source = new EventEmitter()
    const shutdown = listenForShutdown(source as SignalSource)
    source.emit('SIGTERM')
    expect(shutdown.signal.aborted).toBe(true)
    source.emit('SIGINT')
    expect(await shutdown.forced).toBe(130)
    shutdown.dispose()
    expect(source.eventNames()).toEqual([])
  })
})

describe('a map that forgets', () => {
  it('holds no more entries than allowed, and forgets what was used longest ago', () => {
    const map = new LruMap<string, number>({ entriesMax: 2, weightMax: 100 })
    map.set('a', 1)
    map.set('b', 2)
    map.get('a')
    map.set('c', 3)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3])
  })

  it('holds no more weight than allowed, and nothing that is heavier alone', () => {
    const map = new LruMap<string, number>({ entriesMax: 10, weightMax: 100 })
    map.set('a', 1, 60)
    map.set('b', 2, 60)
    expect([map.size, map.weight, map.get('a')]).toEqual([1, 60, undefined])
    map.set('b', 3, 10)
    expect([map.weight, map.get('b')]).toEqual([10, 3])
    map.set('c', 4, 101)
    expect([map.get('b'), map.get('c')]).toEqual([3, undefined])
  })
})
