// Facts about the graph of a playbook, found once.
//
// A back arc leads to a step that is still open in a depth-first walk in document order: it closes a loop. The loop of its
// target h is h and every step that reaches the source of a back arc into h without passing h. A step waits for another that
// can still reach it, except round a loop both are in: such a path uses a back arc into a loop that contains the waiting step.

import type { PlanGraph } from './plan.js'

export interface GraphArc {
  readonly from: number
  readonly to: number
}

export interface GraphFacts {
  readonly graph: PlanGraph
  /** By index of the arc. */
  readonly isBack: readonly boolean[]
}

/** `roots`: where the walk begins; steps that none of them reaches follow in their order. */
export function readGraph(stepCount: number, arcs: readonly GraphArc[], roots: readonly number[]): GraphFacts {
  const leaving = groupBy(stepCount, arcs, ({ from }) => from)
  const entering = groupBy(stepCount, arcs, ({ to }) => to)
  const isBack = findBackArcs(stepCount, arcs, leaving, roots)
  const loops = findLoops(stepCount, arcs, entering, isBack)
  const reach = new BitMatrix(stepCount)
  const waits = new BitMatrix(stepCount)
  for (let step = 0; step < stepCount; step++) {
    walk(
      leaving,
      step,
      (arc) => arcs[arc]!.to,
      reach.row(step),
      () => true,
    )
    const mayPass = (arc: number): boolean => !(isBack[arc] && loops.has(arcs[arc]!.to, step))
    walk(entering, step, (arc) => arcs[arc]!.from, waits.row(step), mayPass)
  }
  const graph: PlanGraph = {
    reaches: (from, to) => reach.has(from, to),
    holdsBack: (other, target) => other !== target && waits.has(target, other),
    isInLoop: (header, step) => loops.has(header, step),
  }
  return { graph, isBack }
}

class BitMatrix {
  private readonly words: Uint32Array
  private readonly width: number

  constructor(size: number) {
    this.width = Math.ceil(size / 32)
    this.words = new Uint32Array(this.width * size)
  }

  row(index: number): Uint32Array {
    return this.words.subarray(index * this.width, (index + 1) * this.width)
  }

  has(row: number, column: number): boolean {
    return hasBit(this.row(row), column)
  }
}

function hasBit(bits: Uint32Array, index: number): boolean {
  return ((bits[index >>> 5]! >>> (index & 31)) & 1) === 1
}

function setBit(bits: Uint32Array, index: number): void {
  bits[index >>> 5]! |= 1 << (index & 31)
}

function groupBy(size: number, arcs: readonly GraphArc[], key: (arc: GraphArc) => number): number[][] {
  const groups = Array.from({ length: size }, (): number[] => [])
  for (const [index, arc] of arcs.entries()) groups[key(arc)]!.push(index)
  return groups
}

/** Marks every step that one or more arcs lead to. */
function walk(
  arcsOf: readonly (readonly number[])[],
  start: number,
  far: (arc: number) => number,
  found: Uint32Array,
  mayPass: (arc: number) => boolean,
): void {
  const open = [start]
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    for (const arc of arcsOf[step]!) {
      const next = far(arc)
      if (hasBit(found, next) || !mayPass(arc)) continue
      setBit(found, next)
      open.push(next)
    }
  }
}

/** Own stack: a playbook may be one long chain. */
function findBackArcs(
  stepCount: number,
  arcs: readonly GraphArc[],
  leaving: readonly (readonly number[])[],
  roots: readonly number[],
): boolean[] {
  const isBack = new Array<boolean>(arcs.length).fill(false)
  const state = new Array<'new' | 'open' | 'done'>(stepCount).fill('new')
  for (const root of [...roots, ...Array.from({ length: stepCount }, (_, index) => index)]) {
    if (state[root] !== 'new') continue
    state[root] = 'open'
    const path = [{ step: root, next: 0 }]
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const arc = leaving[top.step]![top.next++]
      if (arc === undefined) {
        state[top.step] = 'done'
        path.pop()
        continue
      }
      const { to } = arcs[arc]!
      if (state[to] === 'open') isBack[arc] = true
      if (state[to] !== 'new') continue
      state[to] = 'open'
      path.push({ step: to, next: 0 })
    }
  }
  return isBack
}

/** By header, the steps of its loop; a step that is no header has an empty row. */
function findLoops(
  stepCount: number,
  arcs: readonly GraphArc[],
  entering: readonly (readonly number[])[],
  isBack: readonly boolean[],
): BitMatrix {
  const loops = new BitMatrix(stepCount)
  for (const [index, { from, to }] of arcs.entries()) {
    if (!isBack[index]) continue
    const loop = loops.row(to)
    setBit(loop, to)
    if (hasBit(loop, from)) continue
    setBit(loop, from)
    walk(
      entering,
      from,
      (arc) => arcs[arc]!.from,
      loop,
      () => true,
    )
  }
  return loops
}
