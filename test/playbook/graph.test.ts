// The facts about the graph are those of their definitions, whatever the graph.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GraphArc, readGraph } from '../../src/domain/playbook/graph.js'

const STEPS_MAX = 9

const graphs = fc.integer({ min: 1, max: STEPS_MAX }).chain((size) => {
  const step = fc.nat({ max: size - 1 })
  return fc.record({
    size: fc.constant(size),
    arcs: fc.array(fc.record({ from: step, to: step }), { maxLength: 2 * size }),
    roots: fc.array(step, { minLength: 1, maxLength: 2 }),
  })
})

/** The definition: a walk that goes into each step once, in the order of the arcs. */
function naiveBackArcs(size: number, arcs: readonly GraphArc[], roots: readonly number[]): boolean[] {
  const back = arcs.map(() => false)
  const seen = new Set<number>()
  const visit = (step: number, above: readonly number[]): void => {
    seen.add(step)
    for (const [index, { from, to }] of arcs.entries()) {
      if (from !== step) continue
      if (to === step || above.includes(to)) back[index] = true
      else if (!seen.has(to)) visit(to, [...above, step])
    }
  }
  for (const root of [...roots, ...Array.from({ length: size }, (_, index) => index)]) {
    if (!seen.has(root)) visit(root, [])
  }
  return back
}

/** Whether some path of one or more of these arcs leads from one to the other. */
function leads(arcs: readonly GraphArc[], from: number, to: number): boolean {
  let reached = new Set(arcs.filter((arc) => arc.from === from).map((arc) => arc.to))
  for (let count = -1; count < reached.size; ) {
    count = reached.size
    reached = new Set([...reached, ...arcs.filter((arc) => reached.has(arc.from)).map((arc) => arc.to)])
  }
  return reached.has(to)
}

function naiveInLoop(arcs: readonly GraphArc[], back: readonly boolean[], header: number, step: number): boolean {
  const sources = arcs.filter(({ to }, index) => back[index] && to === header).map(({ from }) => from)
  if (sources.length === 0) return false
  if (step === header) return true
  const without = arcs.filter(({ from, to }) => from !== header && to !== header)
  return sources.some((source) => source !== header && (source === step || leads(without, step, source)))
}

const ALL = Array.from({ length: STEPS_MAX }, (_, index) => index)

describe('the graph of a playbook', () => {
  it('has the back arcs, loops, reachability and waiting of their definitions', () => {
    fc.assert(
      fc.property(graphs, ({ size, arcs, roots }) => {
        const { graph, isBack } = readGraph(size, arcs, roots)
        const back = naiveBackArcs(size, arcs, roots)
        expect(isBack).toEqual(back)
        const steps = ALL.slice(0, size)
        const pairs = steps.flatMap((one) => steps.map((other) => [one, other] as const))
        const passable = steps.map((step) =>
          arcs.filter(({ to }, index) => !(back[index] && naiveInLoop(arcs, back, to, step))),
        )
        const found = pairs.map(([one, other]) => [
          graph.isInLoop(one, other),
          graph.reaches(one, other),
          graph.holdsBack(other, one),
        ])
        const defined = pairs.map(([one, other]) => [
          naiveInLoop(arcs, back, one, other),
          leads(arcs, one, other),
          other !== one && leads(passable[one] as GraphArc[], other, one),
        ])
        expect(found).toEqual(defined)
      }),
      { numRuns: 500 },
    )
  })

  it('may be one long chain', () => {
    const size = 5_000
    const arcs = Array.from({ length: size - 1 }, (_, from) => ({ from, to: from + 1 }))
    const { graph } = readGraph(size, [...arcs, { from: size - 1, to: 0 }], [0])
    expect(graph.holdsBack(0, size - 1)).toBe(true)
    expect(graph.holdsBack(size - 1, 0)).toBe(false)
    expect(graph.reaches(size - 1, 0)).toBe(true)
  })
})
