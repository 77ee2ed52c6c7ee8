// Which arcs of a playbook a run has taken, and when, as far as its log tells: a target began after the source had ended,
// and of targets that exclude each other the first one.
import { upTo } from '../execution/counts'
import { isSkipped, type RunTape, STEP, type TimelineRow } from '../execution/tape'
import type { GraphArc, PlaybookGraph } from './playbook'

/** By arc the position at which it was first taken. */
export function arcsTaken(
  run: RunTape,
  rows: ReadonlyMap<string, TimelineRow>,
  { steps, arcs }: PlaybookGraph,
): Map<GraphArc, number> {
  const { span_issued: issued, span_ended: ended, span_kind: kinds } = run.tape.columns
  const begins = new Map<string, number[]>()
  for (const [name, { spans }] of rows) {
    const entered = spans.filter((span) => !isSkipped(run, span))
    begins.set(
      name,
      entered.map((span) => issued![span]!),
    )
  }
  const taken = new Map<GraphArc, number>()
  for (const { name, isExclusive } of steps) {
    const leaving = arcs.filter(({ from }) => from === name)
    const spans = rows.get(name)?.spans ?? []
    const visits = spans.filter((span) => kinds![span] === STEP)
    for (const span of visits.length > 0 ? visits : spans) {
      const end = ended![span]!
      if (end === 0 || isSkipped(run, span)) continue
      const next = leaving.map((arc) => ({ arc, begin: firstFrom(begins.get(arc.to) ?? [], end) }))
      const first = Math.min(...next.map(({ begin }) => begin))
      for (const { arc, begin } of next) {
        if (begin === Number.POSITIVE_INFINITY || (isExclusive && begin !== first)) continue
        taken.set(arc, Math.min(begin, taken.get(arc) ?? begin))
      }
    }
  }
  return taken
}

/** Positions grow. */
function firstFrom(positions: readonly number[], least: number): number {
  return positions[upTo(positions, least - 1)] ?? Number.POSITIVE_INFINITY
}
