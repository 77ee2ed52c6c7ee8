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
  const leaving = new Neighbours(stepCount, arcs, 'from', 'to')
  const entering = new Neighbours(stepCount, arcs, 'to', 'from')
  const isBack = findBackArcs(stepCount, arcs, leaving, roots)
  const loops = new BitMatrix(stepCount)
  for (const [index, { from, to }] of arcs.entries()) {
    if (!isBack[index]) continue
    const loop = loops.row(to)
    setBit(loop, to)
    if (hasBit(loop, from)) continue
    setBit(loop, from)
    entering.walk(from, loop)
  }
  const reach = new BitMatrix(stepCount)
  const waits = new BitMatrix(stepCount)
  for (let step = 0; step < stepCount; step++) {
    leaving.walk(step, reach.row(step))
    entering.walk(step, waits.row(step), (at, arc) => isBack[arc]! && loops.has(at, step))
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
    return ((this.words[row * this.width + (column >>> 5)]! >>> (column & 31)) & 1) === 1
  }
}

function hasBit(bits: Uint32Array, index: number): boolean {
  return ((bits[index >>> 5]! >>> (index & 31)) & 1) === 1
}

function setBit(bits: Uint32Array, index: number): void {
  bits[index >>> 5]! |= 1 << (index & 31)
}

/** The arcs at one end of each step, in flat arrays: the walks below are done once per step. */
class Neighbours {
  private readonly begins: Int32Array
  private readonly arcs: Int32Array
  private readonly far: Int32Array
  private readonly open: Int32Array

  constructor(size: number, arcs: readonly GraphArc[], near: keyof GraphArc, far: keyof GraphArc) {
    this.begins = new Int32Array(size + 1)
    this.arcs = new Int32Array(arcs.length)
    this.far = new Int32Array(arcs.length)
    this.open = new Int32Array(size + 1)
    for (const arc of arcs) this.begins[arc[near] + 1]!++
    for (let step = 0; step < size; step++) this.begins[step + 1]! += this.begins[step]!
    const next = this.begins.slice()
    for (const [index, arc] of arcs.entries()) {
      const place = next[arc[near]]!++
      this.arcs[place] = index
      this.far[place] = arc[far]
    }
  }

  /** The nth arc of a step, in the order of the document. */
  arcOf(step: number, nth: number): number | undefined {
    const place = this.begins[step]! + nth
    return place < this.begins[step + 1]! ? this.arcs[place] : undefined
  }

  /** Marks every step that one or more arcs lead to; those already marked are taken as walked. */
  walk(start: number, found: Uint32Array, isClosed?: (at: number, arc: number) => boolean): void {
    const { begins, arcs, far, open } = this
    let count = 1
    open[0] = start
    while (count > 0) {
      const step = open[--count]!
      for (let place = begins[step]!; place < begins[step + 1]!; place++) {
        const next = far[place]!
        if (hasBit(found, next) || isClosed?.(step, arcs[place]!) === true) continue
        setBit(found, next)
        open[count++] = next
      }
    }
  }
}

/** Own stack: a playbook may be one long chain. */
function findBackArcs(
  stepCount: number,
  arcs: readonly GraphArc[],
  leaving: Neighbours,
  roots: readonly number[],
): boolean[] {
  const isBack = new Array<boolean>(arcs.length).fill(false)
  const state = new Array<'new' | 'open' | 'done'>(stepCount).fill('new')
  for (const root of [...roots, ...Array.from({ length: stepCount }, (_, index) => index)]) {
    if (state[root] !== 'new') continue
    state[root] = 'open'
    const path = [{ step: root, next: 0 }]
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const arc = leaving.arcOf(top.step, top.next++)
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
