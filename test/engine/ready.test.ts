// Promise: the rule of readiness alone. On graphs that are built of sequences, forks and loops, the same steps are entered
// equally often whatever the order in which they end. On graphs of any form nothing ever stands still.

import { describe, expect, it } from 'vitest'
import { consumedBy, isReady, nextReady, type Situation } from '../../src/domain/engine/ready.js'
import { type Random, randomOf } from '../state/logGenerator.js'
import { backArcsOf, holdsBack } from './interpreter.js'
import type { Model, ModelArc, ModelStep } from './model.js'
import { planFrom } from './run.js'

interface Graph extends Model {
  /** How often each back arc is taken before the walk goes on. */
  rounds: Map<ModelArc, number>
}

function stepOf(index: number): ModelStep {
  return {
    name: `s${index}`,
    kind: 'work',
    loop: undefined,
    mode: 'inclusive',
    arcs: [],
    isGuarded: false,
    onError: false,
    sets: false,
  }
}

function arcTo(target: number): ModelArc {
  return { target, guard: 'always', bound: 0, sets: false }
}

/** Sequences, forks that join again, loops that leave at their head or at their end; all put into each other. */
function structuredGraph(random: Random): Graph {
  const steps: ModelStep[] = []
  const rounds = new Map<ModelArc, number>()
  const add = (): number => steps.push(stepOf(steps.length)) - 1
  const connect = (from: number, to: number): ModelArc => {
    const arc = arcTo(to)
    ;(steps[from] as ModelStep).arcs.push(arc)
    return arc
  }
  const build = (depth: number): { first: number; last: number } => {
    const kind = depth === 0 ? 'step' : random.pick(['step', 'sequence', 'fork', 'loop', 'while'])
    if (kind === 'sequence') {
      const a = build(depth - 1)
      const b = build(depth - 1)
      connect(a.last, b.first)
      return { first: a.first, last: b.last }
    }
    if (kind === 'fork') {
      const first = add()
      const branches = Array.from({ length: 2 + random.below(2) }, () => build(depth - 1))
      const last = add()
      for (const branch of branches) {
        connect(first, branch.first)
        connect(branch.last, last)
      }
      return { first, last }
    }
    if (kind === 'loop' || kind === 'while') {
      const head = add()
      const body = build(depth - 1)
      connect(head, body.first)
      rounds.set(connect(body.last, head), 1 + random.below(2))
      if (kind === 'while') return { first: head, last: head }
      const last = add()
      connect(body.last, last)
      return { first: head, last }
    }
    const only = add()
    return { first: only, last: only }
  }
  build(3)
  return { steps, finalStep: undefined, bestEffort: false, rounds }
}

function anyGraph(random: Random): Graph {
  const count = 2 + random.below(9)
  const steps = Array.from({ length: count }, (_, index) => stepOf(index))
  for (const step of steps) {
    for (let arc = random.below(4); arc > 0; arc--) step.arcs.push(arcTo(random.below(count)))
  }
  return { steps, finalStep: undefined, bestEffort: false, rounds: new Map() }
}

/** Which arcs leave a step at a visit: the same in every schedule. */
type Choose = (step: number, visit: number) => readonly number[]

interface Walk {
  entered: number[]
  /** Times when nothing was live and nothing was ready. */
  standstills: number
}

type Holds = (other: number, target: number) => boolean

function holdsOf(graph: Graph): Holds {
  const back = backArcsOf(graph)
  const known = new Map<number, boolean>()
  return (other, target) => {
    const key = other * 1000 + target
    const answer = known.get(key) ?? holdsBack(graph, back, other, target)
    known.set(key, answer)
    return answer
  }
}

function walk(graph: Graph, choose: Choose, holds: Holds, random: Random, limit: number): Walk {
  const entered = graph.steps.map(() => 0)
  const live = new Set<number>()
  let arrivals: { source: number; arc: number; target: number }[] = []
  let standstills = 0
  let visits = 0
  const situation = (): Situation => ({
    isLive: (step) => live.has(step),
    liveSteps: () => live.keys(),
    arrivals,
    holdsBack: holds,
  })
  const enter = (step: number): void => {
    const consumed = consumedBy(arrivals, step)
    arrivals = arrivals.filter((arrival) => !consumed.includes(arrival))
    live.add(step)
    entered[step] = (entered[step] ?? 0) + 1
    visits += 1
  }
  enter(0)
  while (visits < limit) {
    for (let next = nextReady(situation(), []); next !== undefined; next = nextReady(situation(), [])) {
      if (live.size === 0 && !isReady(situation(), next)) standstills += 1
      enter(next)
      if (visits >= limit) break
    }
    const [...ending] = live
    if (ending.length === 0) break
    const step = random.pick(ending)
    live.delete(step)
    for (const arc of choose(step, entered[step] ?? 0)) {
      const { target } = (graph.steps[step] as ModelStep).arcs[arc] as ModelArc
      arrivals.push({ source: step, arc, target })
    }
  }
  expect(visits < limit ? arrivals : []).toEqual([])
  return { entered, standstills }
}

describe('the rule of readiness', () => {
  it('enters the same steps under every schedule of a structured graph', () => {
    let graphs = 0
    for (let seed = 0; seed < 881; seed++) {
      const graph = structuredGraph(randomOf(seed))
      const choose: Choose = (step, visit) => {
        const { arcs } = graph.steps[step] as ModelStep
        const backs = arcs.flatMap((arc, index) => (graph.rounds.has(arc) ? [{ arc, index }] : []))
        const forward = arcs.flatMap((arc, index) => (graph.rounds.has(arc) ? [] : [index]))
        for (const { arc, index } of backs) {
          const rounds = graph.rounds.get(arc) as number
          if (visit % (rounds + 1) !== 0) return [index]
        }
        return loopHeadChoice(graph, step, visit, forward)
      }
      const holds = holdsOf(graph)
      const schedules = Array.from({ length: 12 }, (_, index) =>
        walk(graph, choose, holds, randomOf(seed * 100 + index), 4000),
      )
      for (const { entered, standstills } of schedules) {
        expect(entered, `graph ${seed}`).toEqual(schedules[0]?.entered)
        expect(standstills, `graph ${seed}`).toBe(0)
      }
      graphs += 1
    }
    expect(graphs).toBe(881)
  })

  it('never stands still, whatever the graph', () => {
    for (let seed = 0; seed < 3000; seed++) {
      const graph = anyGraph(randomOf(seed))
      const choose: Choose = (step, visit) => {
        const decided = randomOf(seed * 7919 + step * 101 + visit)
        return (graph.steps[step] as ModelStep).arcs.flatMap((_, index) => (decided.chance(0.5) ? [index] : []))
      }
      expect(walk(graph, choose, holdsOf(graph), randomOf(seed + 1), 300).standstills, `graph ${seed}`).toBe(0)
    }
  })

  it('is the one that the plan has prepared', () => {
    for (let seed = 0; seed < 150; seed++) {
      const graph = anyGraph(randomOf(seed))
      const lines = graph.steps.map(({ name, arcs }) => {
        const next =
          arcs.length === 0 ? '' : `, next: {arcs: [${arcs.map(({ target }) => `{step: s${target}}`).join(', ')}]}`
        return `- {step: ${name}, tool: {kind: noop}${next}}`
      })
      const plan = planFrom(`executor: {spec: {entry_step: s0}}\nworkflow:\n${lines.join('\n')}\n`)
      const back = backArcsOf(graph)
      const reachable = reachableFrom(graph)
      for (const other of reachable) {
        for (const target of reachable) {
          expect(plan.graph.holdsBack(other, target), `graph ${seed}: ${other} → ${target}`).toBe(
            holdsBack(graph, back, other, target),
          )
        }
      }
    }
  })
})

/** A `while` leaves its head forwards either into the body or out of it, by the number of its visit. */
function loopHeadChoice(graph: Graph, step: number, visit: number, forward: readonly number[]): readonly number[] {
  const into = graph.steps.flatMap(({ arcs }) => arcs.filter((arc) => graph.rounds.has(arc) && arc.target === step))
  const [arc] = into
  if (arc === undefined || forward.length < 2) return forward
  const rounds = graph.rounds.get(arc) as number
  return visit % (rounds + 1) === 0 ? forward.slice(1) : forward.slice(0, 1)
}

function reachableFrom(graph: Graph): number[] {
  const seen = new Set([0])
  for (const index of seen) for (const { target } of graph.steps[index]?.arcs ?? []) seen.add(target)
  return [...seen]
}
