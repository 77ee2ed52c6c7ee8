// Promise: whatever way a source names what we publish ourselves, it is recognised; what only looks like it is not.
import { describe, expect, it } from 'vitest'
import { ownSourceProblem, ownSources, subjectsOverlap } from '../../src/domain/subscriptions/ownSources.js'

const OWN = ownSources({
  streams: ['NOETL_EVENTS', 'noetl_commands'],
  subjectPrefix: 'noetl.events',
  template: '{prefix}.{tenant}.{organization}.{execution}.{shard}',
})

describe('filters that overlap', () => {
  it.each([
    ['a.b', 'a.b', true],
    ['a.b', 'a.c', false],
    ['a.b', 'a.b.c', false],
    ['a.*', 'a.b', true],
    ['a.*', '*.b', true],
    ['a.*', 'a.b.c', false],
    ['a.>', 'a', false],
    ['a.>', 'a.b.c', true],
    ['>', 'a.b.c', true],
    ['*.x.>', 'a.>', true],
    ['*.x.>', 'a.y.>', false],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(subjectsOverlap(one, other)).toBe(expected)
    expect(subjectsOverlap(other, one)).toBe(expected)
  })
})

it.each([
  [{ stream: 'NOETL_EVENTS' }, 'stream'],
  [{ stream: 'noetl_commands', subject: 'x' }, 'stream'],
  [{ subject: 'noetl.events.default.default.1.0' }, 'subject'],
  [{ subject: 'noetl.events' }, 'subject'],
  [{ subject: 'noetl.>' }, 'subject'],
  [{ subject: '>' }, 'subject'],
  [{ subject: '*.events.>' }, 'subject'],
  [{ subject: '*.*.*.*.*.*' }, 'subject'],
  [{ subject: 'noetl.commands.shared.1' }, 'subject'],
  [{ stream: 'OTHER', subject: 'noetl.events.>' }, 'subject'],
  [{ stream: 'OTHER', durable: 'noetl-cp-projector-x' }, 'durable'],
])('refuses %o for its %s', (source, key) => {
  expect(ownSourceProblem(OWN, source)?.key).toBe(key)
})

it.each([
  { stream: 'NOETL_EVENTS_2' },
  { subject: 'noetl.orders.>' },
  { subject: 'orders.*' },
  { stream: 'ORDERS', durable: 'noetl-shop-orders' },
])('allows %o', (source) => {
  expect(ownSourceProblem(OWN, source)).toBeUndefined()
})

it('knows subjects of a template that does not begin with the prefix', () => {
  const own = ownSources({ streams: ['S'], subjectPrefix: 'p', template: 'log-{tenant}.{execution}.done' })
  expect(ownSourceProblem(own, { subject: '*.*.done' })?.key).toBe('subject')
  expect(ownSourceProblem(own, { subject: 'a.b.other' })).toBeUndefined()
})
