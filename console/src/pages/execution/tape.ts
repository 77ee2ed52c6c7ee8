// The log of a run as the screen draws it: columns decoded from the tape of the daemon, and per step the spans of its
// visits, commands, loops, stages and frames. Everything here is answered without asking the daemon.
import { FAILED_FLAG, LATE_FLAG, OUTCOMES, type Tape } from '../../../../src/domain/tape/decodeTape.js'
import type { StatusKind } from '../../parts/Status'

export interface Moment {
  type: string
  step: string | null
  /** Milliseconds since 1970. */
  at: number
  isFailure: boolean
  /** It was stored after events with higher ids. */
  isLate: boolean
}

/** Spans are numbers of the tape, in the order in which they begin. */
export interface TimelineRow {
  name: string
  spans: readonly number[]
  /** Of a step: how many rows it opens into; of a row within a step undefined. */
  inside: number | undefined
}

/** Where spans begin and end, by number, as positions; 0 is not yet. */
export interface Marks {
  issued: Uint32Array
  /** Somebody has it: whether the start is told beside it or not. */
  begun: Uint32Array
  ended: Uint32Array
  /** A number of OUTCOMES. */
  outcome: Uint8Array
}

export interface RunTape {
  tape: Tape
  marks: Marks
  epoch: string
  /** Events on the tape, and in the log. */
  length: number
  total: number
  steps: readonly TimelineRow[]
}

export function runTapeOf(tape: Tape): RunTape {
  const { head, columns } = tape
  const spansOf = new Map<number, number[]>()
  columns['span_row']!.forEach((step, span) => {
    const known = spansOf.get(step)
    if (known === undefined) spansOf.set(step, [span])
    else known.push(span)
  })
  const { span_kind: kinds, span_key: keys } = columns
  const steps = [...spansOf].map(([step, spans]) => ({
    name: step === 0 ? 'without a step' : head.steps[step]!,
    spans,
    inside: new Set(spans.filter((span) => kinds![span] !== 0).map((span) => keys![span])).size,
  }))
  const marks = marksOf(tape)
  return { tape, marks, epoch: head.epoch, length: Math.max(0, head.to), total: head.total, steps }
}

function marksOf({ columns }: Tape): Marks {
  const { span_issued: issued, span_claimed: claimed, span_started: started } = columns
  const begun = Uint32Array.from(claimed!, (at, span) => Math.min(at || UNSEEN, started![span]! || UNSEEN) % UNSEEN)
  const { span_ended: ended, span_outcome: outcome } = columns
  return { issued: issued as Uint32Array, begun, ended: ended as Uint32Array, outcome: outcome as Uint8Array }
}

/** Beyond every position. */
export const UNSEEN = 0xffff_ffff

/** What a step opens into: a row for each command, loop, stage and frame, however often it began. */
export function rowsInside(run: RunTape, step: TimelineRow): TimelineRow[] {
  const { span_kind: kinds, span_key: keys } = run.tape.columns
  const byKey = new Map<number, number[]>()
  for (const span of step.spans) {
    if (kinds![span] === 0) continue
    const known = byKey.get(keys![span]!)
    if (known === undefined) byKey.set(keys![span]!, [span])
    else known.push(span)
  }
  return Array.from(byKey.values(), (spans) => ({ name: spanName(run, spans[0]!), spans, inside: undefined }))
}

/** Commands carry the id of their execution, which the page has already. */
export function spanName({ tape }: RunTape, span: number): string {
  const key = tape.keys()[tape.columns['span_key']![span]!]!
  return key.replace(`:${tape.head.execution_id}:`, ':').replace(':', ' ')
}

export function momentAt({ tape: { head, columns }, length }: RunTape, position: number): Moment | undefined {
  if (position < 1 || position > length) return undefined
  const index = position - 1
  const step = columns['step']![index]!
  return {
    type: head.types[columns['type']![index]!]!,
    step: step === 0 ? null : head.steps[step]!,
    at: head.base_ms + columns['time']![index]!,
    isFailure: hasFlag(columns['flags']![index]!, FAILED_FLAG),
    isLate: hasFlag(columns['flags']![index]!, LATE_FLAG),
  }
}

export function hasFlag(flags: number, flag: number): boolean {
  return (flags & flag) !== 0
}

/** The next position in one direction whose event is wanted, if there is one. */
export function seek({ length }: RunTape, from: number, by: 1 | -1, isWanted: (index: number) => boolean) {
  for (let at = from + by; at >= 1 && at <= length; at += by) if (isWanted(at - 1)) return at
  return undefined
}

/** How a span looks when so many events have happened: three comparisons. Undefined: it has not begun. */
export function kindAt({ marks }: RunTape, span: number, position: number): StatusKind | undefined {
  const { issued, begun, ended, outcome } = marks
  const end = ended[span]!
  if (end !== 0 && end <= position) return OUTCOMES[outcome[span]!] as StatusKind
  const begin = begun[span]!
  if (begin !== 0 && begin <= position) return 'running'
  return issued[span]! <= position ? 'waiting' : undefined
}

/** At work, or as the last one of it ended. */
export function kindOfRow(run: RunTape, row: TimelineRow, position: number): StatusKind | undefined {
  let last: StatusKind | undefined
  for (const span of row.spans) {
    const kind = kindAt(run, span, position)
    if (kind === undefined) break
    if (kind === 'running') return kind
    last = last === 'failed' && kind === 'completed' ? last : kind
  }
  return last
}

export { FAILED_FLAG, LATE_FLAG }
