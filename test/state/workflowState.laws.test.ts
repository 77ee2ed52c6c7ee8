// Promise: any order and any repetition of a valid log gives, byte for byte, the state of the fold in order;
// cutting the log anywhere and going through the stored text changes nothing; and that state is the one the
// plain rules give.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { applyEvent } from '../../src/domain/state/applyEvent.js'
import { parseState, serialiseState } from '../../src/domain/state/serialiseState.js'
import { viewState } from '../../src/domain/state/viewState.js'
import type { WorkflowEvent } from '../../src/domain/state/workflowEvent.js'
import { emptyState, type WorkflowState } from '../../src/domain/state/workflowState.js'
import { inOrderFold } from './inOrderFold.js'
import { buildLog, EXECUTION, randomOf } from './logGenerator.js'

const RUNS = { numRuns: 200 }
const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 })

function foldAll(events: readonly WorkflowEvent[], state: WorkflowState = emptyState(EXECUTION as ExecutionId)) {
  for (const event of events) applyEvent(state, event)
  return state
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomOf(seed)
  const result = [...items]
  for (let index = result.length - 1; index > 0; index--) {
    const other = random.below(index + 1)
    const held = result[index] as T
    result[index] = result[other] as T
    result[other] = held
  }
  return result
}

/** The view, with the running states of loops taken together as the plain rules do. */
function comparable(state: WorkflowState): JsonObject {
  const { execution_id: _, steps, ...rest } = viewState(state)
  const shown = Object.entries((steps ?? {}) as Record<string, JsonObject>).map(([name, step]) => {
    const isLoop = step['iterations_expected'] !== undefined || step['is_cursor'] === true
    const isRunning = isLoop && String(step['state']).startsWith('command_')
    return [name, isRunning ? { ...step, state: 'running' } : step]
  })
  return { ...rest, steps: Object.fromEntries(shown) }
}

describe('logs of every kind', () => {
  it('are really generated', () => {
    const logs = Array.from({ length: 300 }, (_, seed) => buildLog(seed))
    const texts = logs.map((log) =>
      JSON.stringify(viewState(foldAll(log)), (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    )
    for (const sign of [
      '"is_cursor":true',
      '"iterations_expected":3',
      '"state":"skipped"',
      '"state":"failed"',
      '"error":"broken',
      '"cancelled"',
      '"ctx_set_marks"',
      '"command_claimed"',
      '"claim_rows":[]',
    ]) {
      expect(texts.filter((text) => text.includes(sign)).length, sign).toBeGreaterThan(3)
    }
    const stale = logs.filter((log) => [...foldAll(log).steps.values()].some((step) => step.stale.size > 0))
    expect(stale.length).toBeGreaterThan(50)
  })
})

describe('laws', () => {
  it('the fold in order is the plain fold', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const log = buildLog(seed)
        expect(comparable(foldAll(log))).toEqual(inOrderFold(log))
      }),
      RUNS,
    )
  })

  it('any order gives the same bytes', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, order) => {
        const log = buildLog(seed)
        expect(serialiseState(foldAll(shuffled(log, order)))).toBe(serialiseState(foldAll(log)))
      }),
      RUNS,
    )
  })

  it('any repetition gives the same bytes, and says that nothing changed', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, order) => {
        const log = buildLog(seed)
        const once = serialiseState(foldAll(log))
        expect(serialiseState(foldAll(shuffled([...log, ...log, ...log.slice(0, 5)], order)))).toBe(once)
        const state = foldAll(log)
        for (const event of shuffled(log, order)) expect(applyEvent(state, event)).toBe(false)
        expect(serialiseState(state)).toBe(once)
      }),
      RUNS,
    )
  })

  it('a change that is reported is a change, and one that is not is none', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, order) => {
        const state = emptyState(EXECUTION as ExecutionId)
        let before = serialiseState(state)
        for (const event of shuffled(buildLog(seed), order)) {
          const changed = applyEvent(state, event)
          const after = serialiseState(state)
          expect(after !== before).toBe(changed)
          before = after
        }
      }),
      { numRuns: 30 },
    )
  })

  it('a state can be stored and read anywhere, in any order', () => {
    fc.assert(
      fc.property(seeds, seeds, fc.double({ min: 0, max: 1, noNaN: true }), (seed, order, where) => {
        const log = buildLog(seed)
        const arrival = shuffled(log, order)
        const cut = Math.floor(where * arrival.length)
        const first = foldAll(arrival.slice(0, cut))
        const text = serialiseState(first)
        const restored = parseState(text)
        expect(serialiseState(restored)).toBe(text)
        expect(restored.bytes).toBe(first.bytes)
        // The overlap is what a rebuild with a margin applies twice.
        foldAll(arrival.slice(Math.max(0, cut - 3)), restored)
        expect(serialiseState(restored)).toBe(serialiseState(foldAll(log)))
        expect(viewState(restored)).toEqual(viewState(foldAll(log)))
      }),
      RUNS,
    )
  })

  it('events nobody ever wrote in this order still give one state', () => {
    const type = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('step.enter', 'command.issued') },
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          'step.exit',
          'step.skipped',
          'step.failed',
          'command.claimed',
          'command.started',
          'command.completed',
          'command.failed',
          'call.done',
          'ctx.updated',
          'playbook.failed',
          'playbook.completed',
        ),
      },
    )
    const event = fc.record({
      id: fc.integer({ min: 1, max: 60 }),
      type,
      step: fc.constantFrom('a', 'a', 'a', 'b'),
      command: fc.constantFrom(undefined, undefined, 'c1', 'c1', 'c2'),
      worker: fc.constantFrom(false, false, true),
      more: fc.constantFrom<JsonObject>(
        {},
        { iterations_expected: 1 },
        { __cursor_loop: true },
        { __cursor_drained: true },
        { pending_callback: true },
        { error: 'x' },
        { values: { k: 1 }, gen: 5 },
      ),
    })
    const toEvent = (one: {
      id: number
      type: string
      step: string
      command: string | undefined
      worker: boolean
      more: JsonObject
    }) =>
      ({
        executionId: EXECUTION,
        eventId: String(one.id),
        eventType: one.type,
        nodeName: one.step,
        createdAt: '2026-11-16T02:22:39.000000+00:00',
        meta: one.command === undefined ? {} : { command_id: one.command },
        result: { status: 'X', context: { ...one.more, at: one.id } },
        ...(one.worker ? { workerId: 'w' } : {}),
      }) as unknown as WorkflowEvent
    const logs = fc
      .uniqueArray(event, { selector: ({ id }) => id, minLength: 4, maxLength: 25 })
      .map((list) => list.map(toEvent))
    fc.assert(
      fc.property(logs, seeds, (log, order) => {
        const sorted = [...log].sort((a, b) => Number(a.eventId) - Number(b.eventId))
        const expected = foldAll(sorted)
        const mixed = foldAll(shuffled([...log, ...log], order))
        expect(serialiseState(mixed)).toBe(serialiseState(expected))
        expect(mixed.bytes).toBe(expected.bytes)
        expect(viewState(mixed)).toEqual(viewState(expected))
      }),
      { numRuns: 1000 },
    )
  })
})
