// How many spans stand how at a position, without looking at each of them again.
import { OUTCOMES } from '../../../../src/domain/tape/decodeTape.js'
import { kindOf } from '../../parts/Status'
import { COMMAND, isSkipped, type RunTape, STEP, UNSEEN } from './tape'

export const COUNTED = ['waiting', 'running', 'completed', 'failed', 'cancelled'] as const
type CountedKind = (typeof COUNTED)[number]

/** Positions at which spans begin and cease to be of a kind, in order: how many are is then two searches. */
export interface Counted {
  what: string
  changes: Readonly<Record<CountedKind, { begin: Uint32Array; end: Uint32Array }>>
}

/** Commands; of a run without commands, steps. */
export function countedOf(run: RunTape): Counted {
  const { tape, marks } = run
  const { issued, begun, ended, outcome } = marks
  const kinds = tape.columns['span_kind']!
  const counted = kinds.includes(COMMAND) ? COMMAND : STEP
  const changes = Object.fromEntries(COUNTED.map((kind) => [kind, { begin: [], end: [] }])) as unknown as Record<
    CountedKind,
    { begin: number[]; end: number[] }
  >
  for (let span = 0; span < kinds.length; span++) {
    if (kinds[span] !== counted || isSkipped(run, span)) continue
    const [begin, end] = [begun[span] || UNSEEN, ended[span] || UNSEEN]
    changes.waiting.begin.push(issued[span]!)
    changes.waiting.end.push(Math.min(begin, end))
    if (begin < end) {
      changes.running.begin.push(begin)
      changes.running.end.push(end)
    }
    if (end !== UNSEEN) changes[OUTCOMES[outcome[span]!] as CountedKind].begin.push(end)
  }
  const sorted = (positions: number[]): Uint32Array => Uint32Array.from(positions).sort()
  return {
    what: counted === COMMAND ? 'commands' : 'steps',
    changes: Object.fromEntries(
      COUNTED.map((kind) => [kind, { begin: sorted(changes[kind].begin), end: sorted(changes[kind].end) }]),
    ) as Counted['changes'],
  }
}

/** As the daemon has counted them in the state there; undefined where there are none. */
export function countsTold(byStatus: Readonly<Record<string, number>>): Counts | undefined {
  const counts = Object.fromEntries(COUNTED.map((kind) => [kind, 0])) as Record<CountedKind, number>
  for (const [status, number] of Object.entries(byStatus)) {
    const kind = COUNTED.find((one) => one === kindOf(status))
    if (kind !== undefined) counts[kind] += number
  }
  return Object.keys(byStatus).length === 0 ? undefined : counts
}

export type Counts = Readonly<Record<CountedKind, number>>

export function countsAt({ changes }: Counted, position: number): Counts {
  const count = (kind: CountedKind): number => {
    const { begin, end } = changes[kind]
    return upTo(begin, position) - upTo(end, position)
  }
  return Object.fromEntries(COUNTED.map((kind) => [kind, count(kind)])) as Counts
}

/** How many of them are not above this one. */
export function upTo(sorted: ArrayLike<number>, position: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! <= position) low = middle + 1
    else high = middle
  }
  return low
}
