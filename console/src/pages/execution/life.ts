// The life of one thing of a run: the events of a step, a command, a loop, a worker, in order. Which one is in the address.
import { ask, query } from '../../lib/router'
import { upTo } from './counts'
import { namesOf, ownersOf } from './lanes'
import type { RunTape } from './tape'

/** Such as `command:7`, `step:fetch`, `worker:w1`. */
export function chosenEntity(): string | undefined {
  return query.value.get('sel') ?? undefined
}

export function choose(entity: string | undefined): void {
  ask({ sel: entity }, { replace: true })
}

/** Positions of its events; undefined: this log knows no such thing. */
export function lifeOf(run: RunTape, entity: string): Uint32Array | undefined {
  const { head, columns } = run.tape
  const [kind, name] = [entity.slice(0, entity.indexOf(':')), entity.slice(entity.indexOf(':') + 1)]
  if (kind === 'step') return eventsOfStep(run, head.steps.indexOf(name))
  const isOwn =
    kind === 'worker' || kind === 'pool'
      ? spansWith(ownersOf(run, kind), namesOf(run, kind).indexOf(name))
      : spansWith(columns['span_key']!, run.tape.keys().indexOf(entity))
  return isOwn === undefined ? undefined : eventsWithin(run, isOwn)
}

function eventsOfStep({ tape, length }: RunTape, step: number): Uint32Array | undefined {
  return step < 0 ? undefined : positionsWhere(length, (index) => tape.columns['step']![index] === step)
}

export function positionsWhere(length: number, isWanted: (index: number) => boolean): Uint32Array {
  const found: number[] = []
  for (let index = 0; index < length; index++) if (isWanted(index)) found.push(index + 1)
  return Uint32Array.from(found)
}

function spansWith(column: ArrayLike<number>, number: number): Uint8Array | undefined {
  return number < 0 ? undefined : Uint8Array.from(column, (value) => Number(value === number))
}

/** With what is inside of it: a span begins after the one that it belongs to. */
function eventsWithin({ tape: { columns }, length }: RunTape, isOwn: Uint8Array): Uint32Array {
  const { span, span_parent: parents } = columns
  for (let own = 0; own < isOwn.length; own++) {
    if (isOwn[parents![own]! - 1] === 1) isOwn[own] = 1
  }
  return positionsWhere(length, (index) => isOwn[span![index]! - 1] === 1)
}

/** The next of ascending positions in one direction, if there is one. */
export function nextOf(positions: Uint32Array, from: number, by: 1 | -1): number | undefined {
  return by === 1 ? positions[upTo(positions, from)] : positions[upTo(positions, from - 1) - 1]
}

/** Finer than a screen. */
const DOTS_MAX = 4_096

/** Where dots are drawn for them: a frame must not cost more for a longer life. */
export function dotsOf(positions: Uint32Array, fractions: Float64Array): number[] {
  const dots: number[] = []
  for (const position of positions) {
    const place = fractions[position]!
    if (dots.length === 0 || place - dots.at(-1)! >= 1 / DOTS_MAX) dots.push(place)
  }
  return dots
}
