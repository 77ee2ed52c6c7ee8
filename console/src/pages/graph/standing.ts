// How the steps of a playbook stand in a run when so many events have happened, worked out from its tape.
import { counted } from '../../lib/counted'
import { lasted, whole } from '../../lib/time'
import { upTo } from '../execution/counts'
import { COMMAND, kindAt, kindOfRow, momentAt, type RunTape, standingWord, type TimelineRow } from '../execution/tape'
import type { StepStanding } from './Graph'

/** By step the positions at which somebody took one of its commands, in order. */
export type Claims = ReadonlyMap<string, readonly number[]>

export function claimsOf({ tape: { head, columns }, length }: RunTape): Claims {
  const claims = new Map<string, number[]>()
  for (let index = 0; index < length; index++) {
    if (!/^command[._]claimed$/.test(head.types[columns['type']![index]!]!)) continue
    const step = head.steps[columns['step']![index]!]!
    const known = claims.get(step)
    if (known === undefined) claims.set(step, [index + 1])
    else known.push(index + 1)
  }
  return claims
}

export function standingOf(
  run: RunTape,
  row: TimelineRow | undefined,
  position: number,
  claims: readonly number[] = [],
): StepStanding {
  const kind = row === undefined ? undefined : kindOfRow(run, row, position)
  if (row === undefined || kind === undefined) return { kind: undefined, detail: '' }
  if (standingWord(run, row.spans, kind) === 'skipped') return { kind, detail: 'skipped' }
  const { commands, begun, done, end } = countsOf(run, row, position)
  const attempts = upTo(claims, position)
  const from = momentAt(run, run.marks.issued[row.spans[0]!]!)!.at
  const detail = [
    ...(commands < 2 ? [] : [`${whole(done)} of ${whole(commands)}`]),
    ...(attempts > begun ? [counted(attempts, 'attempt')] : []),
    lasted(Math.max(0, momentAt(run, end)!.at - from)),
  ]
  return { kind, detail: detail.join(' · ') }
}

/** `commands` are all that the log knows, so that a loop tells how much of it is done; `end` is where its last bar ends so far. */
function countsOf(run: RunTape, { spans }: TimelineRow, position: number) {
  const kinds = run.tape.columns['span_kind']!
  const { begun: begins, ended } = run.marks
  let [commands, begun, done, end] = [0, 0, 0, 0]
  for (const span of spans) {
    if (kinds[span] === COMMAND) commands++
    const kind = kindAt(run, span, position)
    if (kind === undefined) continue
    const last = ended[span]!
    end = Math.max(end, last !== 0 && last <= position ? last : position)
    if (kinds[span] !== COMMAND) continue
    if (begins[span] !== 0 && begins[span]! <= position) begun++
    if (kind === 'completed') done++
  }
  return { commands, begun, done, end }
}
