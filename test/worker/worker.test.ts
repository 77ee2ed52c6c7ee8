// Promise: a command that was lost and comes again to the same worker is held like any other, however long the tool of the first
// time takes to end. A worker that stops begins nothing more, and gives back what is its own and nothing else.
import { expect, it } from 'vitest'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { systemClock } from '../../src/runtime/clock.js'
import type { BeatOutcome, HeldCommand } from '../../src/services/commands/commands.js'
import { createWorker, type Worker, type WorkerDeps } from '../../src/services/worker/worker.js'
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
const HELD: BeatOutcome = { kind: 'held', leaseUntil: wireTimeFromMillis(0) }
/** A minute of beats in a second. */
const FAST = {
  ...systemClock,
  sleep: (ms: number, ...signals: AbortSignal[]) => systemClock.sleep(ms / 50, ...signals),
}

/** A worker of two slots; `run` plays every tool. */
function workerWith(
  run: (signal: AbortSignal) => Promise<JsonObject>,
  commands: Partial<WorkerDeps['commands']>,
  clock = systemClock,
): Worker {
  return createWorker(
    { workerId: 'w', pools: ['shared'], slots: 2 },
    {
      clock,
      commands: {
        claim: async () => [],
        report: async () => [],
        giveBack: async () => undefined,
        releaseStrays: async () => undefined,
        beat: async (_, list) => new Map(list.map(({ eventId }) => [eventId, HELD])),
        ...commands,
      },
      tools: {
        kinds: ['noop'],
        warm: async () => undefined,
        close: async () => undefined,
        run: (_context: unknown, _meta: unknown, { signal }: { signal: AbortSignal }) => run(signal),
      } as never,
      onError: (error) => {
        throw error
      },
    },
  )
}

/** Hands out what is there, one list after the other. */
const claimFrom =
  (waiting: HeldCommand[][]): WorkerDeps['commands']['claim'] =>
  async ({ signal }) => {
    if (waiting.length === 0) await systemClock.sleep(5, signal!)
    return waiting.shift() ?? []
  }

it('is not given back by the end of what ran before', async () => {
  const waiting = [[commandAt(1)]]
  let isLost = false
  const beaten: number[] = []
  const kept: (readonly string[])[] = []
  const ends: (() => void)[] = []
  const worker = workerWith(
    // It takes its time to end, whatever it is told.
    () => new Promise((resolve) => void ends.push(() => resolve({ status: 'success' }))),
    {
      claim: claimFrom(waiting),
      releaseStrays: async (_, ids) => void kept.push(ids),
      beat: async (_, list) => {
        const attempts = list.map((command) => (command as HeldCommand).attempt)
        beaten.push(...attempts)
        const outcome: BeatOutcome = isLost && attempts[0] === 1 ? { kind: 'lost' } : HELD
        return new Map(list.map(({ eventId }) => [eventId, outcome]))
      },
    },
    FAST,
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
  const signals: AbortSignal[] = []
  const worker = workerWith(
    (signal) =>
      new Promise((resolve) => {
        signals.push(signal)
        signal.addEventListener('abort', () => resolve({ status: 'error' }))
      }),
    { claim: claimFrom([[commandAt(1)], [commandAt(2)]]) },
  )
  await worker.start()
  await until('the second runs', async () => signals.length === 2)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  await worker.stop(1_000)
})

it('that comes while the worker is told to stop is given back and never begun', async () => {
  let hand: ((list: HeldCommand[]) => void) | undefined
  const givenBack: string[] = []
  let begun = 0
  const worker = workerWith(
    async () => {
      begun++
      return { status: 'success' }
    },
    {
      // Its claim is being committed: nobody can call it off any more.
      claim: () =>
        new Promise((resolve) => {
          hand = resolve
        }),
      giveBack: async ({ eventId }) => void givenBack.push(eventId),
    },
  )
  await worker.start()
  await until('it claims', async () => hand !== undefined)
  const stopped = worker.stop(10_000)
  hand!([commandAt(1)])
  await stopped
  expect({ begun, givenBack }).toEqual({ begun: 0, givenBack: ['2'] })
})

it('that was lost is not taken from its new holder by a worker that stops', async () => {
  const givenBack: string[] = []
  let isBeaten = false
  const worker = workerWith(
    () => new Promise(() => undefined),
    {
      claim: claimFrom([[commandAt(1)]]),
      giveBack: async ({ eventId }) => void givenBack.push(eventId),
      beat: async (_, list) => {
        isBeaten = true
        return new Map(list.map(({ eventId }) => [eventId, { kind: 'lost' } as const]))
      },
    },
    FAST,
  )
  await worker.start()
  await until('its loss is noticed', async () => isBeaten)
  await worker.stop(1_000)
  expect(givenBack).toEqual([])
})
