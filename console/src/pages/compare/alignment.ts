// Two runs beside each other, step by step: how each step ended and how long it took, whichever run had it.

import type { StatusKind } from '../../parts/Status'
import {
  COMMAND,
  isSkipped,
  kindAt,
  kindOfRow,
  momentAt,
  type RunTape,
  spanName,
  type TimelineRow,
} from '../execution/tape'

export interface StepOutcome {
  kind: StatusKind | undefined
  /** From its first event to its last; undefined while it has not ended. */
  lastedMs: number | undefined
  commands: number
  failed: number
  /** How each command or iteration ended, by its name. */
  inside: ReadonlyMap<string, StatusKind | undefined>
}

export interface AlignedStep {
  name: string
  a: StepOutcome | undefined
  b: StepOutcome | undefined
  isDifferent: boolean
}

/** In the order of the first run; what only the second has comes after. */
export function align(a: RunTape, b: RunTape): AlignedStep[] {
  const [left, right] = [outcomesOf(a), outcomesOf(b)]
  // Of an overview it is not known what is inside of a step, nor whether a step was passed by.
  const isWhole = !a.isCoarse && !b.isCoarse
  const wayOf = (step: StepOutcome | undefined) => (isWhole || step?.kind !== 'cancelled' ? step?.kind : 'completed')
  return [...new Set([...left.keys(), ...right.keys()])].map((name) => {
    const [ofA, ofB] = [left.get(name), right.get(name)]
    const isDifferent = wayOf(ofA) !== wayOf(ofB) || (isWhole && !isSameInside(ofA, ofB))
    return { name, a: ofA, b: ofB, isDifferent }
  })
}

/** The position at which a step has ended; of one that has not, of its last event. */
export function endOf(run: RunTape, name: string): number | undefined {
  const row = run.steps.find((step) => step.name === name)
  if (row === undefined) return undefined
  const { span_issued: issued, span_ended: ended } = run.tape.columns
  return row.spans.reduce((most, span) => Math.max(most, issued![span]!, ended![span]!), 0)
}

function isSameInside(a: StepOutcome | undefined, b: StepOutcome | undefined): boolean {
  if (a?.inside.size !== b?.inside.size) return false
  return [...(a?.inside ?? [])].every(([name, kind]) => b?.inside.has(name) === true && b.inside.get(name) === kind)
}

function outcomesOf(run: RunTape): Map<string, StepOutcome> {
  return new Map(run.steps.map((row) => [row.name, outcomeOf(run, row)]))
}

function outcomeOf(run: RunTape, row: TimelineRow): StepOutcome {
  const { span_issued: issued, span_ended: ended, span_kind: kinds } = run.tape.columns
  const begin = row.spans.reduce((least, span) => Math.min(least, issued![span]!), Number.POSITIVE_INFINITY)
  const hasEnded = row.spans.every((span) => ended![span] !== 0)
  const [from, to] = [momentAt(run, begin)?.at, momentAt(run, endOf(run, row.name)!)?.at]
  const commands = row.spans.filter((span) => kinds![span] === COMMAND)
  const inside = new Map(commands.map((span) => [spanName(run, span), kindAt(run, span, run.length)]))
  return {
    kind: row.spans.every((span) => isSkipped(run, span)) ? 'cancelled' : kindOfRow(run, row, run.length),
    lastedMs: hasEnded && from !== undefined && to !== undefined ? Math.max(0, to - from) : undefined,
    commands: commands.length,
    failed: [...inside.values()].filter((kind) => kind === 'failed').length,
    inside,
  }
}
