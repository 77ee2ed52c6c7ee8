// Promise: of the log of a driven execution, any order and any repetition of the events after the start gives, byte for
// byte, the state of the fold in order; and cutting it anywhere and going through the stored text changes nothing.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyEvent } from '../../src/domain/state/applyEvent.js'
import { parseState, serialiseState } from '../../src/domain/state/serialiseState.js'
import { viewState } from '../../src/domain/state/viewState.js'
import type { WorkflowEvent } from '../../src/domain/state/workflowEvent.js'
import { emptyState, type WorkflowState } from '../../src/domain/state/workflowState.js'
import { randomOf } from '../state/logGenerator.js'
import { randomModel, toDocument } from './model.js'
import { EXECUTION, planFrom, Run } from './run.js'

/** A log as the engine and its workers write it, cut off somewhere. */
function buildLog(seed: number): WorkflowEvent[] {
  const random = randomOf(seed)
  const one = new Run(planFrom(toDocument(randomModel(random))), {
    settings: { nativeNoop: random.chance(0.5) },
  }).start()
  const said: string[] = []
  for (let answers = random.below(40); answers > 0 && one.end === undefined; answers--) {
    const command = random.pick(one.open())
    if (command === undefined) break
    said.push(command)
    one.append({
      eventType: 'command.claimed',
      nodeName: command.split(':')[1] as string,
      meta: { command_id: command, worker_id: 'w', attempt: 1 },
    })
    if (random.chance(0.8)) one.done(command, { n: random.below(10), _context_updates: { 'ctx.x': answers } })
    else one.failed(command)
    if (random.chance(0.3)) one.done(random.pick(said), { n: 99 }, random.chance(0.5) ? { attempt: 2 } : {})
    if (random.chance(0.8)) one.settle()
  }
  return one.log
}

function foldAll(events: readonly WorkflowEvent[], state: WorkflowState = emptyState(EXECUTION)): WorkflowState {
  for (const event of events) applyEvent(state, event)
  return state
}

/** The start stays where it is: it is always the first event. */
function shuffled<T>([first, ...rest]: readonly T[], seed: number): T[] {
  const random = randomOf(seed)
  for (let index = rest.length - 1; index > 0; index--) {
    const other = random.below(index + 1)
    const held = rest[index] as T
    rest[index] = rest[other] as T
    rest[other] = held
  }
  return [first as T, ...rest]
}

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const RUNS = { numRuns: 80 }

describe('laws of driven executions', () => {
  it('any order gives the same bytes', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, order) => {
        const log = buildLog(seed)
        const mixed = foldAll(shuffled(log, order))
        const plain = foldAll(log)
        expect(serialiseState(mixed)).toBe(serialiseState(plain))
        expect(mixed.bytes).toBe(plain.bytes)
        expect(viewState(mixed)).toEqual(viewState(plain))
      }),
      RUNS,
    )
  })

  it('any repetition gives the same bytes, and says that nothing changed', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, order) => {
        const log = buildLog(seed)
        const once = serialiseState(foldAll(log))
        expect(serialiseState(foldAll(shuffled([...log, ...log], order)))).toBe(once)
        const state = foldAll(log)
        for (const event of shuffled(log, order)) expect(applyEvent(state, event)).toBe(false)
        expect(serialiseState(state)).toBe(once)
      }),
      RUNS,
    )
  })

  it('a state can be stored and read anywhere', () => {
    fc.assert(
      fc.property(seeds, seeds, fc.double({ min: 0, max: 1, noNaN: true }), (seed, order, where) => {
        const log = buildLog(seed)
        const arrival = shuffled(log, order)
        const cut = 1 + Math.floor(where * (arrival.length - 1))
        const first = foldAll(arrival.slice(0, cut))
        const text = serialiseState(first)
        const restored = parseState(text)
        expect(serialiseState(restored)).toBe(text)
        expect(restored.bytes).toBe(first.bytes)
        foldAll(arrival.slice(Math.max(1, cut - 3)), restored)
        expect(serialiseState(restored)).toBe(serialiseState(foldAll(log)))
        expect(viewState(restored)).toEqual(viewState(foldAll(log)))
      }),
      RUNS,
    )
  })

  it('a change that is reported is a change, and one that is not is none', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, order) => {
        const [start, ...rest] = shuffled(buildLog(seed), order)
        const state = foldAll([start as WorkflowEvent])
        let before = serialiseState(state)
        for (const event of rest) {
          const changed = applyEvent(state, event)
          const after = serialiseState(state)
          expect(after !== before, `${event.eventType} ${event.nodeName}`).toBe(changed)
          before = after
        }
      }),
      { numRuns: 25 },
    )
  })
})

describe('memory', () => {
  it('does not grow with the number of visits', () => {
    const plan = planFrom(
      'workflow:\n- {step: page, tool: {kind: python, code: ""}, next: {arcs: [{step: page, when: "{{ output.more }}"}]}}\n',
    )
    const one = new Run(plan).start()
    const sizes: number[] = []
    for (let visit = 1; visit <= 60; visit++) {
      one.answer('page', { more: true, text: 'x'.repeat(1000) }, visit)
      sizes.push(one.state.bytes)
    }
    expect(sizes[59]).toBe(sizes[30])
    expect(serialiseState(one.state).length).toBeLessThan(4000)
  })
})
