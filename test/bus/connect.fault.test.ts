// Promise: the link to NATS is made in the background, a dead one is noticed within seconds, it comes back by
// itself after kill, stop, cut and black hole, and stopping always ends.
import { afterEach, describe, expect, it } from 'vitest'
import { type Bus, createBus } from '../../src/bus/connect.js'
import type { CpError } from '../../src/errors.js'
import { systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { type OwnNats, startNats } from '../support/natsServer.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** What readiness promises. */
const NOTICED_WITHIN_MS = 5_000

function open(url: string, extra: Partial<Parameters<typeof createBus>[0]> = {}, onReconnect?: () => void): Bus {
  const bus = createBus(
    { url, name: 'test', ...extra },
    { clock: systemClock, log: silentLog, ...(onReconnect && { onReconnect }) },
  )
  cleanups.push(() => bus.stop(1_000))
  return bus
}

async function ownNats(args: string[] = []): Promise<OwnNats> {
  const nats = await startNats(args)
  cleanups.push(() => nats.stop())
  return nats
}

async function proxied(nats: OwnNats): Promise<TcpProxy> {
  const proxy = await startTcpProxy('127.0.0.1', nats.port)
  cleanups.push(() => proxy.close())
  return proxy
}

const up = (bus: Bus) => until('the link is up', () => bus.isConnected())
const down = (bus: Bus) => until('the loss is noticed', () => !bus.isConnected(), { timeoutMs: NOTICED_WITHIN_MS })
const works = (bus: Bus) => bus.ping(2_000)

describe('a broker that is away', () => {
  it('does not hold up the start; the link comes when it does', async () => {
    const nats = await ownNats()
    await nats.kill()
    const bus = open(`nats://127.0.0.1:${nats.port}`)
    let ups = 0
    bus.onUp(() => {
      ups += 1
    })
    await bus.start()
    expect(bus.isConnected()).toBe(false)
    expect(() => bus.connection()).toThrow(/NATS is not reachable/)
    await expect(bus.ping(500)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(bus.untilConnected(100)).rejects.toMatchObject({ code: 'unavailable' })
    await nats.start()
    await up(bus)
    await works(bus)
    expect(ups).toBe(1)
  })
  it('can be given up at any moment of connecting', async () => {
    const nats = await ownNats()
    const proxy = await proxied(nats)
    proxy.setMode('blackhole')
    const bus = open(`nats://127.0.0.1:${proxy.port}`)
    await bus.start()
    // The connection attempt under way succeeds only now, when nobody wants it any more.
    const stopping = bus.stop(500)
    proxy.setMode('pass')
    await stopping
    expect(bus.isConnected()).toBe(false)
    for (let round = 0; round < 5; round++) {
      const quick = open(`nats://127.0.0.1:${nats.port}`)
      void quick.start()
      await quick.stop(500)
      expect(quick.isConnected()).toBe(false)
    }
  })
})

describe('a server that accepts and never answers', () => {
  it('costs one socket however often it is tried, from the start and after a loss', async () => {
    const nats = await ownNats()
    const proxy = await proxied(nats)
    const fresh = await proxied(nats)
    fresh.setMode('blackhole')
    const lost = open(`nats://127.0.0.1:${proxy.port}`)
    const never = open(`nats://127.0.0.1:${fresh.port}`)
    await Promise.all([lost.start(), never.start()])
    await up(lost)
    proxy.setMode('blackhole')
    await until('both were tried several times', () => proxy.accepted() > 3 && fresh.accepted() > 2, {
      timeoutMs: 40_000,
    })
    // The one of the attempt under way, and one that is just being closed.
    expect(proxy.connections()).toBeLessThanOrEqual(2)
    expect(fresh.connections()).toBeLessThanOrEqual(2)
    await Promise.all([lost.stop(500), never.stop(500)])
    await until('no socket is left', () => proxy.connections() + fresh.connections() === 0)
  })
  it('is left for another one although it does not read what was sent to it', async () => {
    const pair = [await ownNats(), await ownNats()]
    const bus = open(pair.map(({ port }) => `nats://127.0.0.1:${port}`).join(','))
    await bus.start()
    await up(bus)
    const first = pair.find(({ port }) => bus.connection().getServer().endsWith(`:${port}`))!
    process.kill(first.pid(), 'SIGSTOP')
    // More than the kernel's buffers hold: a goodbye would wait behind it for ever.
    for (let part = 0; part < 30; part++) bus.connection().publish('x', Buffer.alloc(1_000_000))
    await down(bus)
    await up(bus)
    expect(bus.connection().getServer().endsWith(`:${first.port}`)).toBe(false)
    await works(bus)
  })
})

describe('a link that is lost', () => {
  it('by kill -9 of the server: noticed, and back after its restart', async () => {
    const nats = await ownNats()
    let reconnects = 0
    const bus = open(`nats://127.0.0.1:${nats.port}`, {}, () => {
      reconnects += 1
    })
    await bus.start()
    await up(bus)
    await nats.kill()
    await down(bus)
    await nats.start()
    await up(bus)
    await works(bus)
    expect(reconnects).toBe(1)
  })
  it('by SIGSTOP of the server: noticed, and back after SIGCONT', async () => {
    const nats = await ownNats()
    const bus = open(`nats://127.0.0.1:${nats.port}`)
    await bus.start()
    await up(bus)
    process.kill(nats.pid(), 'SIGSTOP')
    // The signal may arrive after an answer that was already on its way.
    const failure = () =>
      bus.ping(500).then(
        () => false as const,
        (error: CpError) => error,
      )
    const error = await until('a round trip fails', failure, { timeoutMs: NOTICED_WITHIN_MS })
    expect(['timeout', 'unavailable']).toContain(error.code)
    await down(bus)
    process.kill(nats.pid(), 'SIGCONT')
    await up(bus)
    await works(bus)
  })
  it('by a black hole: noticed, and back when it opens', async () => {
    const nats = await ownNats()
    const proxy = await proxied(nats)
    const bus = open(`nats://127.0.0.1:${proxy.port}`)
    await bus.start()
    await up(bus)
    proxy.setMode('blackhole')
    await down(bus)
    proxy.setMode('pass')
    await up(bus)
    await works(bus)
  })
  it('by a reset, again and again', async () => {
    const nats = await ownNats()
    const proxy = await proxied(nats)
    let reconnects = 0
    const bus = open(`nats://127.0.0.1:${proxy.port}`, {}, () => {
      reconnects += 1
    })
    await bus.start()
    for (let round = 1; round <= 3; round++) {
      await up(bus)
      proxy.reset()
      await until('it reconnected', () => reconnects === round)
    }
    await works(bus)
  })
})

describe('credentials', () => {
  it('as token, as user and password, and inside the URL; a wrong one is reported without itself', async () => {
    const token = await ownNats(['--auth', 's3cret'])
    const user = await ownNats(['--user', 'me', '--pass', 's3cret'])
    const good = [
      open(`nats://127.0.0.1:${token.port}`, { token: 's3cret' }),
      open(`nats://s3cret@127.0.0.1:${token.port}`),
      open(`nats://127.0.0.1:${user.port}`, { user: 'me', password: 's3cret' }),
      open(`nats://me:s3cret@127.0.0.1:${user.port}`),
    ]
    await Promise.all(good.map((bus) => bus.start()))
    await Promise.all(good.map(works))

    const wrong = open(`nats://me:hunter2@127.0.0.1:${user.port}`)
    await wrong.start()
    const error = await wrong.ping(500).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringMatching(/Authorization/i) })
    expect(String(error)).not.toContain('hunter2')
  })
})
