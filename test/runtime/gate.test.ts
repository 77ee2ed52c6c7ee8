// Promise: so many are let through at a time, the others in their order; the place of whoever goes away is free again, and whoever
// would wait among too many, or for too long, is told so.
import { expect, it } from 'vitest'
import { createGate } from '../../src/runtime/gate.js'
import { until } from '../support/until.js'

const HERE = new AbortController().signal

function open(settings: { atOnce?: number; waitingMax?: number; waitMs?: number } = {}) {
  const gate = createGate({ atOnce: 2, waitingMax: 3, waitMs: 60_000, what: 'searches', ...settings })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const enter = (name: string, signal: AbortSignal = HERE) =>
    gate(async () => {
      begun.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      return name
    }, signal)
  return { begun, enter, end: (name: string) => ends.get(name)!() }
}

it('lets so many through at a time, the others in their order', async () => {
  const { begun, enter, end } = open()
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => enter(name))
  await expect(enter('f')).rejects.toMatchObject({ code: 'overloaded', details: { retryAfterSeconds: 2 } })
  for (const [place, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    await until(`${name} has begun`, () => begun.length === Math.min(5, place + 2))
    end(name)
  }
  expect(await Promise.all(all)).toEqual(begun)
})

it('gives the place of whoever goes away to the next', async () => {
  const { begun, enter, end } = open({ atOnce: 1 })
  const leaving = new AbortController()
  const first = enter('a')
  const left = ['b', 'c', 'd'].map((name) => enter(name, leaving.signal))
  leaving.abort()
  for (const one of await Promise.allSettled(left))
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } })
  await expect(enter('late', leaving.signal)).rejects.toMatchObject({ code: 'cancelled' })
  const next = ['e', 'f', 'g'].map((name) => enter(name))
  for (const name of ['a', 'e', 'f', 'g']) {
    await until(`${name} has begun`, () => begun.at(-1) === name)
    end(name)
  }
  expect(await Promise.all([first, ...next])).toEqual(begun)
})

it('lets nobody wait for ever, and goes on after one that failed', async () => {
  const { enter, end } = open({ atOnce: 1, waitMs: 20 })
  const first = enter('a')
  await expect(enter('b')).rejects.toMatchObject({ code: 'overloaded' })
  end('a')
  expect(await first).toBe('a')
  const gate = createGate({ atOnce: 1, waitingMax: 1, waitMs: 60_000, what: 'searches' })
  await expect(gate(() => Promise.reject(new Error('it failed')), HERE)).rejects.toThrow('it failed')
  expect(await gate(async () => 'on', HERE)).toBe('on')
})
