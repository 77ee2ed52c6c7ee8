// Promise: a command that was lost and comes again to the same worker is held like any other, however long the tool of the first
// time takes to end. A worker that stops begins nothing more, and gives back what is its own and nothing else.
import { expect, it } from 'vitest'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import { systemClock } from '../../src/runtime/clock.js'
import type { BeatOutcome, HeldCommand } from '../../src/services/commands/commands.js'
import { createWorker } from '../../src/services/worker/worker.js'
import { until } from '../support/until.js'

const commandAt = (attempt: number): HeldCommand => ({
  executionId: '1',
  eventId: '2',
  commandId: '1:a:1',
  step: 'a',
  kind: 'noop',
  workerId: 'w',
  attempt,
  leaseToken: attempt,
  leaseSeconds: 30,
  leaseUntil: wireTimeFromMillis(0),
  context: {},
  meta: {},
})

it('is not given back by the end of what ran before', async () => {
  const waiting = [[commandAt(1)]]
  let isLost = false
  const beaten: number[] = []
  const kept: (readonly string[])[] = []
  const ends: (() => void)[] = []
  const worker = createWorker(
    { workerId: 'w', pools: ['shared'], slots: 2 },
    {
      // A minute of beats in a second.
      clock: { ...systemClock, sleep: (ms, ...signals) => systemClock.sleep(ms / 50, ...signals) },
      commands: {
        claim: async ({ signal }) => {
          if (waiting.length === 0) await systemClock.sleep(5, signal!)
          return waiting.shift() ?? []
        },
        report: async () => [],
        giveBack: async () => undefined,
        releaseStrays: async (_, ids) => void kept.push(ids),
        beat: async (_, commands) => {
          const attempts = commands.map((command) => (command as HeldCommand).attempt)
          beaten.push(...attempts)
          const outcome: BeatOutcome =
            isLost && attempts[0] === 1 ? { kind: 'lost' } : { kind: 'held', leaseUntil: wireTimeFromMillis(0) }
          return new Map(commands.map(({ eventId }) => [eventId, outcome]))
        },
      },
      tools: {
        kinds: ['noop'],
        warm: async () => undefined,
        close: async () => undefined,
        // It takes its time to end, whatever it is told.
        run: () => new Promise((resolve) => void ends.push(() => resolve({ status: 'success' }))),
      } as never,
      onError: (error) => {
        throw error
      },
    },
  )
  await worker.start()
  await until('the first runs', async () => ends.length === 1)
  isLost = true
  await until('its loss is noticed', async () => beaten.length > 1)
  waiting.push([commandAt(2)])
  await until('the second runs', async () => ends.length === 2)
  ends[0]!()
  await until('the first has ended', async () => worker.stats().busy === 1)
  beaten.length = 0
  kept.length = 0
  await until('it was asked about, and what is unknown given back', async () => kept.length > 0)
  expect([...new Set(beaten)]).toEqual([2])
  expect(kept.every((ids) => ids.includes('2'))).toBe(true)
  expect(worker.stats().held).toBe(1)
  ends[1]!()
  await worker.stop(1_000)
})

it('that was taken from it and came again runs once: what ran of the claim before is aborted', async () => {
  const waiting = [[commandAt(1)], [commandAt(2)]]
  const signals: AbortSignal[] = []
  const worker = createWorker(
    { workerId: 'w', pools: ['shared'], slots: 2 },
    {
      clock: systemClock,
      commands: {
        claim: async ({ signal }) => {
          if (waiting.length === 0) await systemClock.sleep(20, signal!)
          return waiting.shift() ?? []
        },
        report: async () => [],
        giveBack: async () => undefined,
        releaseStrays: async () => undefined,
        beat: async (_, commands) =>
          new Map(
            commands.map(({ eventId }) => [eventId, { kind: 'held', leaseUntil: wireTimeFromMillis(0) } as const]),
          ),
      },
      tools: {
        kinds: ['noop'],
        warm: async () => undefined,
        close: async () => undefined,
        run: (_context: unknown, _meta: unknown, { signal }: { signal: AbortSignal }) =>
          new Promise((resolve) => {
            signals.push(signal)
            signal.addEventListener('abort', () => resolve({ status: 'error' }))
          }),
      } as never,
      onError: (error) => {
        throw error
      },
    },
  )
  await worker.start()
  await until('the second runs', async () => signals.length === 2)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  await worker.stop(1_000)
})

it('that comes while the worker is told to stop is given back and never begun', async () => {
  let hand: ((list: HeldCommand[]) => void) | undefined
  const givenBack: HeldCommand[] = []
  let begun = 0
  const worker = createWorker(
    { workerId: 'w', pools: ['shared'], slots: 1 },
    {
      clock: systemClock,
      commands: {
        // Its claim is being committed: nobody can call it off any more.
        claim: () =>
          new Promise((resolve) => {
            hand = resolve
          }),
        report: async () => [],
        giveBack: async (command) => void givenBack.push(command),
        releaseStrays: async () => undefined,
        beat: async () => new Map(),
      },
      tools: {
        kinds: ['noop'],
        warm: async () => undefined,
        close: async () => undefined,
        run: async () => {
          begun++
          return { status: 'success' }
        },
      } as never,
      onError: (error) => {
        throw error
      },
    },
  )
  await worker.start()
  await until('it claims', async () => hand !== undefined)
  const stopped = worker.stop(10_000)
  hand!([commandAt(1)])
  await stopped
  expect({ begun, givenBack: givenBack.map(({ eventId }) => eventId) }).toEqual({ begun: 0, givenBack: ['2'] })
})

it('that was lost is not taken from its new holder by a worker that stops', async () => {
  const waiting = [[commandAt(1)]]
  const givenBack: HeldCommand[] = []
  let isBeaten = false
  const ends: (() => void)[] = []
  const worker = createWorker(
    { workerId: 'w', pools: ['shared'], slots: 1 },
    {
      clock: { ...systemClock, sleep: (ms, ...signals) => systemClock.sleep(ms / 50, ...signals) },
      commands: {
        claim: async ({ signal }) => {
          if (waiting.length === 0) await systemClock.sleep(5, signal!)
          return waiting.shift() ?? []
        },
        report: async () => [],
        giveBack: async (command) => void givenBack.push(command),
        releaseStrays: async () => undefined,
        beat: async (_, commands) => {
          isBeaten = true
          return new Map(commands.map(({ eventId }) => [eventId, { kind: 'lost' } as const]))
        },
      },
      tools: {
        kinds: ['noop'],
        warm: async () => undefined,
        close: async () => undefined,
        run: () => new Promise((resolve) => void ends.push(() => resolve({ status: 'success' }))),
      } as never,
      onError: (error) => {
        throw error
      },
    },
  )
  await worker.start()
  await until('its loss is noticed', async () => isBeaten)
  await worker.stop(1_000)
  expect(givenBack).toEqual([])
})
