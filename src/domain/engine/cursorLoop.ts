// A step with a loop over rows that are claimed frame by frame. A claim asks for the rows of one frame; each row is worked
// on by a body. The loop ends with a claim that finds nothing while no body was under way, because bodies may make new rows.
//
//   claim f0 ──rows──▶ bodies of f0 ──all ended──▶ claim f1 ──rows──▶ … ──▶ claim fn ──no rows──▶ end

import { compareIds } from '../ids/ids.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { isJsonObject } from '../json/value.js'
import type { CursorLoop } from '../playbook/plan.js'
import type { Command, VisitEnter } from '../state/drivenState.js'
import { commandStatus } from '../state/drivenState.js'
import type { Board, LiveVisit } from './board.js'
import { emitEnter } from './emit.js'
import { enterContext, itemLocals, type Locals } from './engineContext.js'
import { errorObject, messageOf } from './engineError.js'
import { commandEnd, type Finish, laterId } from './finish.js'
import { issueBody } from './issue.js'
import { bodyVariables } from './listLoop.js'
import { renderCount } from './render.js'

type CursorFacts = NonNullable<VisitEnter['cursor']>

export function enterCursor(board: Board, live: LiveVisit, loop: CursorLoop): void {
  const context = enterContext(board, live.arrivals)
  const count = (key: 'maxRows' | 'rowConcurrency' | 'maxAttempts'): number =>
    renderCount(loop.frame[key], context, `${loop.pointer}/spec/frame`)
  const cursor: CursorFacts = {
    maxRows: count('maxRows'),
    rowConcurrency: count('rowConcurrency'),
    maxAttempts: count('maxAttempts'),
  }
  emitEnter(board, live, {
    __cursor_loop: true,
    iterator_var: loop.iterator,
    mode: 'cursor',
    max_in_flight: renderCount(loop.maxInFlight, context, `${loop.pointer}/spec/max_in_flight`),
    max_rows: cursor.maxRows,
    row_concurrency: cursor.rowConcurrency,
    max_attempts: cursor.maxAttempts,
  })
  issueClaim(board, live, loop, cursor, { frame: 0, open: 0 })
}

interface Frame {
  readonly number: number
  readonly claim: Command
  /** Undefined until the claim has ended. */
  rows: JsonValue[] | undefined
  /** What the bodies get, one each. */
  items: JsonValue[]
  /** By row: its runs in order. */
  readonly bodies: Map<number, Command[]>
}

/** Everything about the visit, put together from its commands. */
interface Survey {
  readonly frames: readonly Frame[]
  readonly openBodies: number
  readonly claimError: JsonObject | undefined
  readonly isDrained: boolean
}

function survey(board: Board, live: LiveVisit, loop: CursorLoop): Survey {
  const frames: Frame[] = []
  const bodies: Command[] = []
  for (const command of live.visit.commands.values()) {
    const place = command.issued?.cursor
    if (place?.phase === 'claim') {
      frames.push({ number: place.frame, claim: command, rows: undefined, items: [], bodies: new Map() })
    } else if (place !== undefined) bodies.push(command)
  }
  frames.sort((a, b) => a.number - b.number)
  for (const command of bodies) {
    const place = command.issued?.cursor
    const runs = place && frames[place.frame]?.bodies
    if (place !== undefined && runs !== undefined) runs.set(place.row, [...(runs.get(place.row) ?? []), command])
  }
  let claimError: JsonObject | undefined
  for (const frame of frames) {
    const end = commandEnd(frame.claim, board.input.settings)
    if (end === undefined) continue
    if (end.error !== undefined) claimError ??= errorObject(end.error, 'it failed without a reason')
    const { reference } = end.answer
    const data = reference === undefined ? end.answer.data : (board.fetched(reference.ref) ?? null)
    frame.rows = end.error === undefined ? rowsIn(data) : []
    frame.items = loop.frame.process === 'row' ? frame.rows : frame.rows.length === 0 ? [] : [frame.rows]
    for (const runs of frame.bodies.values()) runs.sort((a, b) => runOf(a) - runOf(b))
  }
  const newest = bodies.reduce((id: string | undefined, { issued }) => laterId(id, issued?.id ?? '0'), undefined)
  return {
    frames,
    openBodies: bodies.filter((body) => commandStatus(body) === 'open').length,
    claimError,
    isDrained: frames.some((frame) => frame.rows?.length === 0 && isUndisturbed(frame.claim, newest)),
  }
}

function rowsIn(data: JsonValue): JsonValue[] {
  if (Array.isArray(data)) return data
  const rows = isJsonObject(data) ? data['rows'] : undefined
  return Array.isArray(rows) ? rows : []
}

function runOf({ issued }: Command): number {
  return issued?.cursor?.run ?? 1
}

/** No body was under way from its issue to its end. */
function isUndisturbed({ issued }: Command, newestBody: string | undefined): boolean {
  if (issued?.cursor?.open !== 0) return false
  return newestBody === undefined || compareIds(newestBody, issued.id) < 0
}

interface Due {
  readonly row: number
  readonly run: number
}

/** Rows that may be issued now: new ones, and those that failed and may be tried again. */
function dueRows(frame: Frame, { rowConcurrency, maxAttempts }: CursorFacts): Due[] {
  const due: Due[] = []
  let open = 0
  for (let row = 0; row < frame.items.length; row++) {
    const runs = frame.bodies.get(row) ?? []
    const last = runs.at(-1)
    const status = last === undefined ? undefined : commandStatus(last)
    if (status === 'open') open += 1
    else if (status === undefined || (status === 'failed' && runs.length < maxAttempts))
      due.push({ row, run: runs.length + 1 })
  }
  return due.slice(0, Math.max(0, rowConcurrency - open))
}

function isComplete(frame: Frame, facts: CursorFacts): boolean {
  if (frame.rows === undefined) return false
  const all = { ...facts, rowConcurrency: Number.POSITIVE_INFINITY }
  const isOpen = [...frame.bodies.values()].some((runs) => commandStatus(runs.at(-1) as Command) === 'open')
  return !isOpen && dueRows(frame, all).length === 0
}

export type CursorStep =
  | { readonly type: 'bodies'; readonly key: string; issue(): void }
  | { readonly type: 'claim'; readonly key: string; issue(): void }

/** What the loop can do next, with the end of the key of that decision. */
export function nextInCursor(board: Board, live: LiveVisit, loop: CursorLoop): CursorStep | undefined {
  if (!board.mayIssue(live)) return undefined
  const { maxInFlight = 1, cursor } = live.visit.enter as VisitEnter
  if (cursor === undefined) return undefined
  const seen = survey(board, live, loop)
  if (seen.claimError !== undefined) return undefined
  for (const frame of seen.frames) {
    const due = dueRows(frame, cursor)
    const [first] = due
    if (first === undefined) continue
    const run = first.run === 1 ? '' : `.${first.run}`
    return {
      type: 'bodies',
      key: `f${frame.number}r${first.row}${run}`,
      issue: () => {
        for (const one of due) issueRow(board, live, loop, frame, one)
      },
    }
  }
  const unfinished = seen.frames.filter((frame) => !isComplete(frame, cursor)).length
  if (seen.isDrained || unfinished >= maxInFlight || !mayClaim(seen)) return undefined
  const frame = seen.frames.length
  return {
    type: 'claim',
    key: `f${frame}`,
    issue: () => issueClaim(board, live, loop, cursor, { frame, open: seen.openBodies }),
  }
}

/** After a claim without rows another one makes sense only when a body has ended since. */
function mayClaim({ frames, openBodies }: Survey): boolean {
  const last = frames.at(-1)
  if (last?.rows === undefined || last.rows.length > 0) return true
  const issued = last.claim.issued
  let since = issued?.cursor?.open ?? 0
  for (const { bodies } of frames) {
    for (const runs of bodies.values()) {
      for (const body of runs) if (compareIds(body.issued?.id ?? '0', issued?.id ?? '0') > 0) since += 1
    }
  }
  return since > openBodies
}

function issueClaim(
  board: Board,
  live: LiveVisit,
  loop: CursorLoop,
  { maxRows }: CursorFacts,
  { frame, open }: { frame: number; open: number },
): void {
  const locals: Locals = new Map([['__frame_max_rows', () => maxRows]])
  const slot = { suffix: `c${frame}`, meta: { cursor: { phase: 'claim', step: live.step.name, frame, open } } }
  issueBody(board, live, loop.claim, slot, locals, { __frame_max_rows: maxRows })
}

function issueRow(board: Board, live: LiveVisit, loop: CursorLoop, frame: Frame, { row, run }: Due): void {
  const item = frame.items[row] as JsonValue
  const total = frame.items.length
  const place = { frame: frame.number, row }
  const locals = new Map(itemLocals(loop.iterator, item, row, total))
  const variables = bodyVariables(loop.iterator, item, row, total)
  const iter: JsonObject = { ...(variables['iter'] as JsonObject), ...place }
  locals.set('iter', () => iter)
  const slot = {
    suffix: run === 1 ? `b${frame.number}.${row}` : `b${frame.number}.${row}r${run}`,
    meta: { cursor: { phase: 'body', step: live.step.name, ...place, run } },
  }
  issueBody(board, live, live.step.tool, slot, locals, { ...variables, iter })
}

export function finishCursor(board: Board, live: LiveVisit, loop: CursorLoop): Finish | undefined {
  const { visit, step } = live
  if (visit.tally.open.size > 0 || visit.commands.size === 0) return undefined
  const seen = survey(board, live, loop)
  const isOver = seen.isDrained || seen.claimError !== undefined || !board.mayIssue(live)
  if (!isOver || (board.mayIssue(live) && nextInCursor(board, live, loop) !== undefined)) return undefined
  let endId: string | undefined
  for (const command of visit.commands.values()) {
    const end = commandEnd(command, board.input.settings)
    if (end !== undefined) endId = laterId(endId, end.id)
  }
  const errors = failedBodies(board, seen)
  const failed = errors.reduce((sum, { rows }) => sum + rows, 0)
  const frames = seen.frames.filter(({ rows }) => rows !== undefined && rows.length > 0).length
  const rows = seen.frames.reduce((sum, frame) => sum + (frame.rows?.length ?? 0), 0)
  const first = errors[0]?.error
  const isFailure = first !== undefined && loop.failureMode === 'fail_fast'
  const error =
    seen.claimError ??
    (isFailure
      ? { ...first, message: `${failed} of ${rows} rows of step "${step.name}" failed: ${messageOf(first)}` }
      : null)
  return {
    endId,
    error,
    answer: { data: { frames, rows, failed }, reference: undefined },
    answerId: undefined,
    updates: [],
    attempt: 1,
    context: { __cursor_drained: true, frames, rows },
  }
}

/** With how many rows each was working on: one, or those of its frame. */
function failedBodies(board: Board, { frames }: Survey): { error: JsonObject; rows: number }[] {
  const errors: { error: JsonObject; rows: number }[] = []
  for (const { bodies, items, rows } of frames) {
    const each = (rows?.length ?? 0) / Math.max(1, items.length)
    for (const runs of bodies.values()) {
      const end = commandEnd(runs.at(-1) as Command, board.input.settings)
      if (end?.error === undefined) continue
      errors.push({ error: errorObject(end.error, 'it failed without a reason'), rows: each })
    }
  }
  return errors
}
