// Promise: what callers make the server hold is bounded, over all of them together; who goes beyond gives way, who has
// been at it longest first; large uploads pass through without being held.
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createByteBudget } from '../../src/http/byteBudget.js'
import type { RouteSpec } from '../../src/http/route.js'
import type { HttpServer } from '../../src/http/server.js'
import { until } from '../support/until.js'
import { ROUTES, server, testLimits } from './httpHarness.js'

const started: HttpServer[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((http) => http.stop(100).catch(() => undefined)))
})

async function listening(http: HttpServer): Promise<string> {
  started.push(http)
  await http.start()
  return http.url()
}

describe('the budget', () => {
  it('makes the oldest give way, and never what is being worked on', () => {
    const gone: string[] = []
    const budget = createByteBudget(100)
    const hold = (name: string) => budget.hold(() => gone.push(name))
    const [first, second, third] = [hold('first'), hold('second'), hold('third')]
    expect([first.grow(40), second.grow(40)]).toEqual([true, true])
    first.settle()
    expect(third.grow(40)).toBe(true)
    expect(gone).toEqual(['second'])
    expect(second.grow(1)).toBe(false)
    expect(third.grow(30)).toBe(false)
    expect(budget.held()).toBe(80)
    first.release()
    expect(third.grow(30)).toBe(true)
    third.release()
    third.release()
    expect(budget.held()).toBe(0)
  })
})

describe('an upload', () => {
  const route: RouteSpec = {
    method: 'PUT',
    path: '/api/upload',
    summary: 'counts bytes',
    access: 'public',
    effect: 'write',
    bodySize: 'upload',
    responses: { 200: 'the count' },
    handler: async ({ upload }) => {
      let bytes = 0
      for await (const piece of upload!) bytes += piece.length
      return { body: { bytes } }
    },
  }
  const limits = testLimits({ upload: 5_000_000 }, { bodiesBytes: 200_000 })
  const put = (url: string, bytes: number) =>
    fetch(`${url}/api/upload`, { method: 'PUT', body: new Uint8Array(bytes) }).then(
      async (reply) => ({ status: reply.status, body: await reply.json() }),
      // The server need not wait for the rest of what it refuses.
      (error: { cause?: { code?: string } }) => ({ status: 413, body: error.cause?.code }),
    )

  it('of many times the budget passes through', async () => {
    const url = await listening(server({ limits }, [route]))
    const many = await Promise.all(Array.from({ length: 3 }, () => put(url, 4_000_000)))
    for (const reply of many) expect(reply).toEqual({ status: 200, body: { bytes: 4_000_000 } })
  })
  it('beyond its limit is refused, announced or not', async () => {
    const url = await listening(server({ limits }, [route]))
    expect((await put(url, 5_000_001)).status).toBe(413)
    const chunked = await fetch(`${url}/api/upload`, {
      method: 'PUT',
      body: new Blob([new Uint8Array(5_000_001)]).stream(),
      duplex: 'half',
    } as RequestInit).catch(() => ({ status: 413 }))
    expect(chunked.status).toBe(413)
  })
})

describe('answers that nobody reads', () => {
  it('are cut, the longest silent first, when they are too much together', async () => {
    const large: RouteSpec = {
      method: 'GET',
      path: '/large',
      summary: 'more than the network takes',
      access: 'open',
      effect: 'read',
      responses: { 200: 'zeros' },
      handler: async () => ({ bytes: Buffer.alloc(20_000_000, 0x30) }),
    }
    const cuts: string[] = []
    const url = await listening(
      server({ limits: testLimits({}, { answersBytes: 50_000_000 }) }, [large, ...ROUTES], {
        onCut: (reason) => cuts.push(reason),
      }),
    )
    const silent: net.Socket[] = []
    for (let count = 1; count <= 4; count++) {
      const socket = net.connect(Number(new URL(url).port), '127.0.0.1').pause()
      socket.on('error', () => undefined)
      socket.write('GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n')
      silent.push(socket)
      if (count > 2) await until('one is cut', () => cuts.length === count - 2)
      else expect((await fetch(`${url}/open`)).status).toBe(200)
    }
    const complete = async (socket: net.Socket): Promise<boolean> => {
      let bytes = 0
      for await (const chunk of socket.resume().on('error', () => undefined)) {
        bytes += (chunk as Buffer).length
        if (bytes > 20_000_000) return true
      }
      return false
    }
    const ends = await Promise.all(silent.map((socket) => complete(socket).catch(() => false)))
    expect(ends).toEqual([false, false, true, true])
    expect(cuts).toEqual(['unread', 'unread'])
    for (const socket of silent) socket.destroy()
  })
})
