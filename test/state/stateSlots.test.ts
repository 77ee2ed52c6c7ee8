// Promise: one question at a time per execution, none lost, storms coalesce; executions do not wait for each other;
// memory stays within both bounds, the longest unused go first, and never one that is being worked on.
import { describe, expect, it } from 'vitest'
import { CpError } from '../../src/errors.js'
import { createDueTimes } from '../../src/services/state/dueTimes.js'
import { createStateSlots, type Outcome, type SlotLimits, type Want } from '../../src/services/state/stateSlots.js'
import { until } from '../support/until.js'

interface Call {
  executionId: string
  want: Want
  handBack(): void
  finish(outcome?: Partial<Outcome>): void
  fail(error: CpError): void
}

const OUTCOME: Outcome = {
  version: 1,
  applied: 1,
  terminal: false,
  resident: true,
  bytes: 100,
  digest: '',
  view: undefined,
  open: undefined,
  sealed: undefined,
  isDriven: true,
}

function open(limits: Partial<SlotLimits> = {}) {
  const calls: Call[] = []
  const evictions: { executionId: string; finish(): void }[] = []
  const dropped: string[] = []
  const rounds: [string, Outcome | CpError][] = []
  let coalesced = 0
  const states = createStateSlots(
    { entriesMax: 1_000, bytesMax: 1_000_000, parallelMax: 4, threads: 1, ...limits },
    {
      run: ({ executionId }, want, handBack) =>
        new Promise((resolve, reject) => {
          calls.push({
            executionId,
            want,
            handBack,
            finish: (outcome = {}) => resolve({ ...OUTCOME, ...outcome }),
            fail: reject,
          })
        }),
      evict: ({ executionId }) => new Promise((finish) => evictions.push({ executionId, finish })),
      drop: (slots) => dropped.push(...slots.map(({ executionId }) => executionId)),
      onCoalesced: () => {
        coalesced += 1
      },
      onEvicted: () => undefined,
      onRound: (executionId, outcome) => rounds.push([executionId, outcome]),
    },
  )
  return { states, calls, evictions, dropped, rounds, coalesced: () => coalesced }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('questions that somebody waits for', () => {
  it('go before everything that nobody waits for, whether they are new or already queued, and run once', async () => {
    const { states, calls } = open({ parallelMax: 1 })
    for (let id = 1; id <= 200; id++) states.trigger(String(id))
    void states.ask('1000', { view: true })
    void states.ask('150', { view: true })
    await settle()
    for (let round = 0; round < 202; round++) {
      calls[round]?.finish()
      await settle()
    }
    expect(calls.slice(0, 4).map(({ executionId }) => executionId)).toEqual(['1', '1000', '150', '2'])
    expect(calls).toHaveLength(201)
    expect(new Set(calls.map(({ executionId }) => executionId)).size).toBe(201)
    expect(states.stats()).toMatchObject({ queued: 0, running: 0 })
  })
})

describe('triggers', () => {
  it('a storm of 500 while one runs costs one more round, and the round starts after the last of them', async () => {
    const { states, calls, coalesced } = open()
    states.trigger('1')
    await settle()
    for (let index = 0; index < 500; index++) states.trigger('1')
    expect(calls).toHaveLength(1)
    calls[0]!.finish()
    await settle()
    expect(calls).toHaveLength(2)
    expect(coalesced()).toBe(499)
    calls[1]!.finish()
    await settle()
    expect(calls).toHaveLength(2)
  })

  it('what several callers want is asked at once, and all are answered by a round that began after they asked', async () => {
    const { states, calls } = open()
    states.trigger('1')
    await settle()
    const answers = Promise.all([states.ask('1', { view: true }), states.ask('1', { sealed: true, open: true })])
    states.trigger('1')
    calls[0]!.finish({ version: 7 })
    await settle()
    expect(calls[1]!.want).toEqual({ drive: true, view: true, open: true, read: true, sealed: true })
    calls[1]!.finish({ version: 8 })
    expect((await answers).map(({ version }) => version)).toEqual([8, 8])
  })

  it('a failed round is told to those who wait and to the reconciler, and the next trigger runs', async () => {
    const { states, calls, rounds } = open()
    const asked = states.ask('1', {})
    await settle()
    states.trigger('1')
    calls[0]!.fail(new CpError('unavailable', 'away'))
    await expect(asked).rejects.toThrow('away')
    await settle()
    expect(rounds[0]![1]).toBeInstanceOf(CpError)
    expect(calls).toHaveLength(2)
  })

  it('executions do not wait for each other, beyond the hands of their thread', async () => {
    const { states, calls } = open({ parallelMax: 3 })
    for (const id of ['1', '2', '3', '4', '5']) states.trigger(id)
    await settle()
    expect(calls.map(({ executionId }) => executionId)).toEqual(['1', '2', '3'])
    calls[1]!.finish()
    await settle()
    expect(calls.map(({ executionId }) => executionId)).toEqual(['1', '2', '3', '4'])
  })
})

describe('a state that is borrowed', () => {
  const FOREVER = 3_600_000

  /** Its state is in memory, and nothing is asked of it. */
  async function resting() {
    const opened = open()
    opened.states.trigger('1')
    await settle()
    opened.calls[0]!.finish()
    await settle()
    return opened
  }

  it('is lent at once while it rests, and asked nothing else until it is back', async () => {
    const { states, calls, rounds } = await resting()
    const borrowed = (await states.borrow('1', FOREVER))!
    states.trigger('1')
    expect(await states.borrow('2', FOREVER)).toBeUndefined()
    await settle()
    expect(calls).toHaveLength(1)
    borrowed.handBack()
    borrowed.end({ ...OUTCOME, version: 5 })
    await settle()
    expect(rounds.at(-1)).toEqual(['1', { ...OUTCOME, version: 5 }])
    expect(states.versionOf('1')).toBe(5)
    expect(calls).toHaveLength(2)
    expect(states.stats().running).toBe(1)
  })

  it('is lent when its thread has answered everything that was asked before', async () => {
    const { states, calls } = await resting()
    states.trigger('1')
    await settle()
    let lent: unknown = 'waiting'
    void states.borrow('1', FOREVER).then((borrowed) => {
      lent = borrowed
    })
    states.trigger('1')
    calls[1]!.handBack()
    calls[1]!.finish()
    await settle()
    await settle()
    expect(lent).toBe('waiting')
    calls[2]!.handBack()
    calls[2]!.finish()
    await settle()
    expect(lent).toMatchObject({ place: { executionId: '1' } })
  })

  it('is not lent while a decision is written for it, nor for longer than somebody waits', async () => {
    const { states, calls } = await resting()
    states.trigger('1')
    await settle()
    const waiting = states.borrow('1', FOREVER)
    calls[1]!.handBack()
    expect(await waiting).toBeUndefined()
    expect(await states.borrow('1', FOREVER)).toBeUndefined()
    calls[1]!.finish()
    await settle()
    states.trigger('1')
    await settle()
    expect(await states.borrow('1', 1)).toBeUndefined()
  })

  it('is dropped when it is worth nothing, and not lent again', async () => {
    const { states, dropped } = await resting()
    const borrowed = (await states.borrow('1', FOREVER))!
    borrowed.end('worthless')
    expect(dropped).toEqual(['1'])
    expect(states.stats()).toMatchObject({ entries: 0, bytes: 0, running: 0 })
    expect(await states.borrow('1', FOREVER)).toBeUndefined()
  })
})

describe('bounds', () => {
  it.each([
    ['entries', { entriesMax: 3 }],
    ['bytes', { bytesMax: 300 }],
  ])('beyond the bound of %s the longest unused go, with a snapshot', async (_, limits) => {
    const { states, calls, evictions } = open(limits)
    for (const id of ['1', '2', '3']) {
      states.trigger(id)
      await settle()
      calls.at(-1)!.finish()
      await settle()
    }
    // Used again: now 2 is the longest unused.
    states.trigger('1')
    await settle()
    calls.at(-1)!.finish()
    await settle()
    states.trigger('4')
    await settle()
    calls.at(-1)!.finish()
    await settle()
    expect(evictions.map(({ executionId }) => executionId).slice(0, 2)).toEqual(['2', '3'])
    for (const eviction of evictions) eviction.finish()
    await settle()
    expect(states.stats()).toMatchObject({ entries: 2, bytes: 200 })
    expect(states.versionOf('2')).toBeUndefined()
    expect(states.versionOf('1')).toBe(1)
  })

  it('one that is asked for while it goes is built again', async () => {
    const { states, calls, evictions } = open({ entriesMax: 1 })
    for (const id of ['1', '2']) {
      states.trigger(id)
      await settle()
      calls.at(-1)!.finish()
      await settle()
    }
    expect(evictions[0]!.executionId).toBe('1')
    states.trigger('1')
    await settle()
    expect(calls).toHaveLength(2)
    for (const eviction of evictions) eviction.finish()
    await settle()
    expect(calls.map(({ executionId }) => executionId)).toEqual(['1', '2', '1'])
  })

  it('a state whose round failed is not left in its thread uncounted; one that was there before stays', async () => {
    const { states, calls, dropped } = open()
    states.trigger('1')
    await settle()
    calls[0]!.finish({ resident: true, bytes: 10 })
    await settle()
    states.trigger('1')
    states.trigger('2')
    await settle()
    calls[1]!.fail(new CpError('unavailable', 'the database is away'))
    calls[2]!.fail(new CpError('unavailable', 'the database is away'))
    await settle()
    expect(dropped).toEqual(['2'])
    expect(states.stats()).toMatchObject({ entries: 1, bytes: 10 })
  })

  it('ended executions leave no trace', async () => {
    const { states, calls } = open()
    states.trigger('1')
    await settle()
    calls[0]!.finish({ terminal: true, resident: false, bytes: 0 })
    await settle()
    expect(states.stats()).toEqual({ entries: 0, bytes: 0, queued: 0, running: 0 })
  })

  it('a lost thread takes its states with it, and closing saves what is left', async () => {
    const { states, calls, evictions } = open()
    for (const id of ['1', '2']) states.trigger(id)
    await settle()
    for (const call of calls) call.finish()
    await settle()
    states.forgetThread(0)
    expect(states.stats().entries).toBe(0)
    states.trigger('3')
    await settle()
    calls.at(-1)!.finish()
    await settle()
    const closing = states.close(1_000)
    await until('it is asked to save', () => evictions.length > 0)
    expect(evictions.map(({ executionId }) => executionId)).toEqual(['3'])
    evictions[0]!.finish()
    await closing
    await expect(states.ask('3', {})).rejects.toThrow('closed')
  })
})

describe('due times', () => {
  it('gives what is due, the earliest first, each once, moved ones at their last time', () => {
    const due = createDueTimes()
    due.set('a', 1_000)
    due.set('b', 500)
    due.set('c', 5_000)
    due.set('a', 3_000)
    due.set('d', 600)
    due.delete('d')
    expect(due.next()).toBe(500)
    expect(due.take(400, 10)).toEqual([])
    expect(due.take(3_500, 1)).toEqual(['b'])
    expect(due.take(3_500, 10)).toEqual(['a'])
    expect(due.take(3_500, 10)).toEqual([])
    expect(due.size()).toBe(1)
  })
})
