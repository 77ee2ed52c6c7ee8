// One cursor over two runs: where the second stands when the first stands at a position. By step it is where the same thing
// happened, in whatever order the runs came to it; by offset it is as much time after the start.
import { type RunTape, spanName } from '../execution/tape'

export type Alignment = 'step' | 'offset'

/** What happens in a run: the step, command or iteration it happens to, and how often it has happened before. */
export interface Happenings {
  run: RunTape
  /** In order of positions. */
  names: readonly string[]
  positions: ReadonlyMap<string, number>
}

export function happeningsOf(run: RunTape): Happenings {
  const { head, columns } = run.tape
  const { span: spans, type: types, step: steps } = columns
  const spanNames = new Map<number, string>([[0, '']])
  const times = new Map<string, number>()
  const names: string[] = []
  const positions = new Map<string, number>()
  for (let index = 0; index < run.length; index++) {
    const span = spans![index]!
    if (!spanNames.has(span)) spanNames.set(span, spanName(run, span - 1))
    const what = `${head.types[types![index]!]} ${head.steps[steps![index]!] ?? ''} ${spanNames.get(span)}`
    const before = times.get(what) ?? 0
    times.set(what, before + 1)
    names.push(`${before} ${what}`)
    positions.set(names[index]!, index + 1)
  }
  return { run, names, positions }
}

export function counterpart(a: Happenings, b: Happenings, position: number, by: Alignment): number {
  if (position >= a.run.length) return b.run.length
  return by === 'step' ? sameStep(a, b, position) : sameOffset(a.run, b.run, position)
}

/** What only the first run has is passed over, back to the last that both have. */
function sameStep(a: Happenings, b: Happenings, position: number): number {
  for (let at = position; at >= 1; at--) {
    const found = b.positions.get(a.names[at - 1]!)
    if (found !== undefined) return found
  }
  return 0
}

function sameOffset(a: RunTape, b: RunTape, position: number): number {
  if (position < 1) return 0
  const [ofA, ofB] = [a.tape.columns['time']!, b.tape.columns['time']!]
  const offset = ofA[position - 1]! - ofA[0]!
  let found = 0
  while (found < b.length && ofB[found]! - ofB[0]! <= offset) found++
  return found
}
