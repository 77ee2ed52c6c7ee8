// Promise: whatever the playbook, the engine makes the same visits in the same order and the same ctx as the simple
// interpreter, for the same order of answers; it ends exactly once and never stands still; answers that come twice, late or
// contradict themselves change nothing; nor does a restart between any two events.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { type Random, randomOf } from '../state/logGenerator.js'
import { Interpreter } from './interpreter.js'
import { type Model, randomModel, toDocument } from './model.js'
import { planFrom, Run } from './run.js'

interface Disturbance {
  /** Answers that were given before, again or otherwise. */
  noise: number
  /** Several answers before the engine is asked. */
  batches: number
  restarts: number
}

const CALM: Disturbance = { noise: 0, batches: 0, restarts: 0 }

function visitsOf(one: Run): string[] {
  return one.log.flatMap(({ eventType, nodeName, meta }) => {
    const { visit } = meta as JsonObject
    if (visit === undefined) return []
    if (eventType === 'step.enter') return [`enter ${nodeName}#${visit}`]
    return eventType === 'step.skipped' ? [`skip ${nodeName}#${visit}`] : []
  })
}

/** The interpreter's name of a command: `s3#2:1`. */
function shortName(command: string): string {
  const [, step, visit, item] = command.split(':')
  return `${step}#${visit}${item === undefined ? '' : `:${item.slice(1)}`}`
}

function walk(model: Model, random: Random, disturbance: Disturbance): { one: Run; twin: Interpreter } {
  const one = new Run(planFrom(toDocument(model))).start()
  const twin = new Interpreter(model)
  twin.start()
  const said: string[] = []
  for (let answers = 0; answers < 400 && one.end === undefined; answers++) {
    const open = one.open()
    expect(open.map(shortName).sort(), 'the same commands are under way').toEqual([...twin.open].sort())
    if (open.length === 0) throw new Error(`it stands still:\n${toDocument(model)}`)
    const command = random.pick(open)
    const n = random.below(10)
    const ok = answers > 60 || random.chance(0.85)
    if (ok) one.done(command, { n })
    else one.failed(command, 'broken')
    twin.answer(shortName(command), ok, n)
    said.push(command)
    while (random.chance(disturbance.noise)) {
      const again = random.pick(said)
      if (random.chance(0.5)) one.done(again, { n: random.below(10) })
      else one.failed(again, 'late')
    }
    if (random.chance(disturbance.restarts)) one.restart(random.pick(['text', 'log'] as const))
    if (one.open().length > 0 && random.chance(disturbance.batches)) continue
    one.settle()
    twin.settle()
    if (random.chance(disturbance.restarts)) one.restart(random.pick(['text', 'log'] as const))
  }
  return { one, twin }
}

function check(seed: number, disturbance: Disturbance): void {
  const random = randomOf(seed)
  const model = randomModel(random)
  const { one, twin } = walk(model, random, disturbance)
  expect(visitsOf(one)).toEqual(twin.visits)
  expect(one.status).toBe(twin.ended)
  expect(one.ctx['trace']).toBe(twin.trace)
  expect(one.ctx['last']).toBe(twin.last)
  for (const [step, count] of twin.counts) expect(one.ctx[`k_s${step}`]).toBe(count)
  if (twin.ended === 'FAILED') expect(one.end?.context).toMatchObject({ failed_steps: twin.failedSteps })
  expect(one.open()).toEqual([])
  expect(one.state.driven?.taken.size).toBe(0)
}

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 })

describe('random playbooks', () => {
  it('do what the simple interpreter does', () => {
    fc.assert(
      fc.property(seeds, (seed) => check(seed, CALM)),
      { numRuns: 60 },
    )
  })

  it('do so whatever workers repeat or say too late', () => {
    fc.assert(
      fc.property(seeds, (seed) => check(seed, { noise: 0.4, batches: 0.3, restarts: 0 })),
      { numRuns: 60 },
    )
  })

  it('do so with a restart between any two events', () => {
    fc.assert(
      fc.property(seeds, (seed) => check(seed, { noise: 0.2, batches: 0.3, restarts: 0.7 })),
      { numRuns: 60 },
    )
  })

  it('are of every kind', () => {
    const models = Array.from({ length: 400 }, (_, seed) => randomModel(randomOf(seed)))
    const having = (has: (model: Model) => boolean) => models.filter(has).length
    expect(
      having(({ steps }) => steps.some(({ arcs }, index) => arcs.some(({ target }) => target <= index))),
    ).toBeGreaterThan(100)
    expect(
      having(({ steps }) => steps.some(({ arcs, mode }) => mode === 'inclusive' && arcs.length > 1)),
    ).toBeGreaterThan(100)
    const ends = models.slice(0, 100).map((model, seed) => walk(model, randomOf(seed), CALM).one)
    expect(ends.filter(({ status }) => status === 'FAILED').length).toBeGreaterThan(15)
    expect(ends.filter(({ status }) => status === 'COMPLETED').length).toBeGreaterThan(30)
    expect(ends.filter((one) => visitsOf(one).some((visit) => visit.endsWith('#2'))).length).toBeGreaterThan(8)
  })
})
