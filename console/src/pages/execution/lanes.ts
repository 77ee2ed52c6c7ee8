// The rows of the timeline: steps, or who had the commands: workers or pools.
import { query } from '../../lib/router'
import { COMMAND, entityName, FRAME, inTurn, type RunTape, type TimelineRow } from './tape'

export const LANES = { step: 'by step', worker: 'by worker', pool: 'by pool' } as const
export type Lanes = keyof typeof LANES

export function chosenLanes(): Lanes {
  const asked = query.value.get('lanes')
  return asked === 'worker' || asked === 'pool' ? asked : 'step'
}

export function lanesOf(run: RunTape, lanes: Lanes): readonly TimelineRow[] {
  if (lanes === 'step' || run.isCoarse) return run.steps
  const names = namesOf(run, lanes)
  const spansOf = new Map<number, number[]>()
  ownersOf(run, lanes).forEach((owner, span) => {
    if (owner >= 0) inTurn(spansOf, owner, span)
  })
  const keys = run.tape.columns['span_key']!
  return Array.from(spansOf, ([owner, spans]) => {
    const key = `${lanes}:${names[owner]}`
    const name = names[owner] || entityName(run, key)
    return { key, name, spans, inside: new Set(spans.map((span) => keys[span])).size }
  })
}

/** Numbers are those of `ownersOf`. */
export function namesOf({ tape: { head } }: RunTape, lanes: 'worker' | 'pool'): readonly string[] {
  return lanes === 'worker' ? head.workers : head.pools
}

/** By span the number of who had it, 0 for nobody; below 0: nobody ever has such a thing. */
export function ownersOf(run: RunTape, lanes: 'worker' | 'pool'): Int32Array {
  const { span_kind: kinds, span_pool: pools } = run.tape.columns
  const owners = lanes === 'worker' ? workersOf(run) : pools!
  return Int32Array.from(owners, (owner, span) => (kinds![span] === COMMAND || kinds![span] === FRAME ? owner : -1))
}

/** The worker that was heard of last; who issued it is not at work on it. */
function workersOf({ tape: { columns }, marks, length }: RunTape): Uint32Array {
  const { span, worker } = columns
  const owners = new Uint32Array(marks.issued.length)
  for (let index = 0; index < length; index++) {
    const own = span![index]! - 1
    if (own >= 0 && worker![index] !== 0 && marks.issued[own]! <= index) owners[own] = worker![index]!
  }
  return owners
}
