// Promise: what was just appended reaches a state without being read from the log, but only where that is the same: numbers
// without a gap, behind the event that the state ends with, values that the database does not spell in another way.
import { describe, expect, it } from 'vitest'
import type { LogNews } from '../../src/services/events/logNews.js'
import { createHandedNews } from '../../src/services/state/handedNews.js'
import { followingEvents } from '../../src/services/state/inThread/followingEvents.js'
import type { HandedPart } from '../../src/stores/state/tailEvent.js'

const ID = '77'

function news(afterVersion: number, mark: string | undefined, ids: readonly string[], context = '{"a":1}'): LogNews {
  const rows = ids.map((eventId, index) => ({
    event: { executionId: ID, eventId, eventType: 'step.enter', createdAt: '2026-01-01T00:00:00.000000+00:00' },
    parts: { context, result: undefined, meta: undefined },
    catalogId: '1',
    streamVersion: BigInt(afterVersion + 1 + index),
    checksum: null,
    sealed: null,
  }))
  return { executionId: ID, engine: 1, afterVersion, mark, rows: rows as unknown as LogNews['rows'] }
}

function handed(...list: LogNews[]): HandedPart[] | undefined {
  const store = createHandedNews()
  for (const one of list) store.add(one)
  return store.take(ID)
}

const idsAfter = (state: { version: number; mark: string | undefined }, parts: HandedPart[] | undefined) =>
  followingEvents(ID, state, parts)?.map(({ event }) => event.eventId)

describe('a state', () => {
  const state = { version: 3, mark: 'c' }
  it.each([
    ['what follows it', [news(3, 'c', ['d', 'e'])], ['d', 'e']],
    ['two parts that came in the wrong order', [news(4, 'd', ['e']), news(3, 'c', ['d'])], ['d', 'e']],
    ['the rest of what it contains in part', [news(2, 'b', ['c', 'd'])], ['d']],
    ['nothing of what it contains', [news(1, 'a', ['b', 'c'])], []],
  ])('takes %s', (_, list, ids) => {
    expect(idsAfter(state, handed(...list))).toEqual(ids)
  })
  it.each([
    ['there is a gap', [news(4, 'd', ['e'])]],
    ['there is a gap between two parts', [news(3, 'c', ['d']), news(5, 'e', ['f'])]],
    ['its last event is another one', [news(3, 'x', ['d'])]],
    ['its last event is another one inside of a part', [news(2, 'b', ['x', 'd'])]],
  ])('reads the log when %s', (_, list) => {
    expect(idsAfter(state, handed(...list))).toBeUndefined()
  })
  it('reads the log when nobody told it', () => {
    expect(idsAfter(state, undefined)).toBeUndefined()
  })
})

describe('values', () => {
  it.each(['{"n":1e3}', '{"n":-0}', '[-0.0]', '{"n": 1.5E+2}', '1e1', '{"a":[1,2E5]}'])(
    '%s are read from the log',
    (text) => {
      expect(handed(news(3, 'c', ['d'], text))).toBeUndefined()
    },
  )
  it.each(['{"n":1.50,"m":-12,"t":"2e"}', '[9007199254740993, 0, 0.5]', '{"b":1,"a":2}'])(
    '%s are handed over',
    (text) => {
      expect(handed(news(3, 'c', ['d'], text))?.[0]?.events[0]?.[1]).toBe(text)
    },
  )
})

describe('the room for one execution', () => {
  it('is bounded, and once it is full everything is read', () => {
    const store = createHandedNews()
    const ids = Array.from({ length: 1_500 }, (_, n) => String(n))
    store.add(news(0, undefined, ids))
    store.add(news(1_500, '1499', ids))
    store.add(news(3_000, '1499', ['z']))
    expect(store.take(ID)).toBeUndefined()
    store.add(news(3_001, 'z', ['y']))
    expect(store.take(ID)).toHaveLength(1)
  })
  it('counts text as well', () => {
    const long = JSON.stringify('x'.repeat(3_000_000))
    expect(handed(news(0, undefined, ['a'], long))).toHaveLength(1)
    expect(handed(news(0, undefined, ['a'], long), news(1, 'a', ['b'], long))).toBeUndefined()
  })
})
