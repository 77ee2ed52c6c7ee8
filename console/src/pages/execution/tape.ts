// The log of a run as the screen draws it: columns decoded from the tape of the daemon, and per step the spans of its
// visits, commands, loops, stages and frames. Everything here is answered without asking the daemon.
import {
  END_FLAG,
  FAILED_FLAG,
  LATE_FLAG,
  OUTCOMES,
  SPAN_KINDS,
  type Tape,
} from '../../../../src/domain/tape/decodeTape.js'
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
  /** What it stands for, such as `step:fetch`, `command:7`, `worker:w1`. */
  key: string
  name: string
  spans: readonly number[]
  /** How many rows it opens into; of a row within another one undefined. */
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
  /** Its bars are counted parts of the log, and events are not told apart: all of it is on its way. */
  isCoarse: boolean
  /** Events on the tape, and in the log. */
  length: number
  total: number
  steps: readonly TimelineRow[]
}

export function runTapeOf(tape: Tape): RunTape {
  const { head, columns } = tape
  const spansOf = new Map<number, number[]>()
  columns['span_row']!.forEach((step, span) => {
    inTurn(spansOf, step, span)
  })
  const { span_kind: kinds, span_key: keys } = columns
  const steps = [...spansOf].map(([step, spans]) => ({
    key: `step:${head.steps[step]}`,
    name: step === 0 ? 'without a step' : head.steps[step]!,
    spans,
    inside: new Set(spans.filter((span) => kinds![span] !== STEP).map((span) => keys![span])).size,
  }))
  const marks = marksOf(tape)
  const isCoarse = head.level === 'coarse'
  return { tape, marks, epoch: head.epoch, isCoarse, length: Math.max(0, head.to), total: head.total, steps }
}

function marksOf(tape: Tape): Marks {
  const { columns } = tape
  const { span_issued: issued, span_claimed: claimed, span_started: started, span_ended: ended } = columns
  const begun = Uint32Array.from(claimed!, (at, span) => Math.min(at || UNSEEN, started![span]! || UNSEEN) % UNSEEN)
  // The log has what was passed by as done; nothing was.
  const outcome = Uint8Array.from(columns['span_outcome']!, (one, span) =>
    isSkipped({ tape }, span) ? CANCELLED : one,
  )
  beginWithWork(columns, begun)
  return { issued: issued as Uint32Array, begun, ended: ended as Uint32Array, outcome }
}

/** What has commands is at work once somebody has one of them: until then it waits. Those that the engine does itself nobody has. */
function beginWithWork(columns: Tape['columns'], begun: Uint32Array): void {
  const { span_kind: kinds, span_parent: parents, span_ended: ended } = columns
  if (parents === undefined) return
  const first = new Uint32Array(begun.length)
  // A span begins after the one that it belongs to.
  for (let span = begun.length - 1; span >= 0; span--) {
    if (first[span] !== 0) begun[span] = first[span]! % UNSEEN
    else if (kinds![span] === STEP) continue
    const own = parents[span]! - 1
    if (own < 0) continue
    const begins = begun[span]! || (ended![span] === 0 ? UNSEEN : begun[own]! || UNSEEN)
    first[own] = Math.min(first[own] || UNSEEN, begins)
  }
}

/** Numbers of kinds in `span_kind`. */
export const STEP = SPAN_KINDS.indexOf('step')
export const COMMAND = SPAN_KINDS.indexOf('command')
export const FRAME = SPAN_KINDS.indexOf('frame')
const CANCELLED = OUTCOMES.indexOf('cancelled')

/** The engine passed it by: it ended with the event that it began with. */
export function isSkipped({ tape: { head, columns } }: { tape: Tape }, span: number): boolean {
  return head.types[columns['type']![columns['span_issued']![span]! - 1]!] === 'step.skipped'
}

/** Beyond every position. */
export const UNSEEN = 0xffff_ffff

/** What a step, a worker or a pool opens into: a row for each command, loop, stage and frame, however often it began. */
export function rowsInside(run: RunTape, step: TimelineRow): TimelineRow[] {
  const { span_kind: kinds, span_key: keys } = run.tape.columns
  const byKey = new Map<number, number[]>()
  for (const span of step.spans) {
    if (kinds![span] !== STEP) inTurn(byKey, keys![span]!, span)
  }
  return Array.from(byKey.values(), (spans) => {
    const key = spanKey(run, spans[0]!)
    return { key, name: entityName(run, key), spans, inside: undefined }
  })
}

/** Adds to the list of one of them, which begins with it. */
export function inTurn(lists: Map<number, number[]>, of: number, span: number): void {
  const known = lists.get(of)
  if (known === undefined) lists.set(of, [span])
  else known.push(span)
}

export function spanKey({ tape }: RunTape, span: number): string {
  return tape.keys()[tape.columns['span_key']![span]!]!
}

export function spanName(run: RunTape, span: number): string {
  return entityName(run, spanKey(run, span))
}

/** Commands carry the id of their execution, which the page has already. */
export function entityName({ tape }: RunTape, key: string): string {
  const name = key.replace(`:${tape.head.execution_id}:`, ':').replace(':', ' ')
  return name.endsWith(' ') ? `no ${name.trim()}` : name
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

/** As it is called: what was passed by looks like something cancelled. */
export function standingWord(run: RunTape, spans: readonly number[], kind: StatusKind | undefined): string {
  if (kind === 'cancelled' && spans.every((span) => isSkipped(run, span))) return 'skipped'
  return kind ?? 'not yet'
}

export { END_FLAG, FAILED_FLAG, LATE_FLAG }
