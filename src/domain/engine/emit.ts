// The events of the engine, in the form that readers of the log know (step.enter, command.issued, …). Every one of
// them is written here and read back by domain/state/applyDriven.ts.

import type { JsonObject, JsonValue } from '../json/value.js'
import { jsonWeight } from '../json/weight.js'
import type { EmittedEvent, LargePart } from '../state/orchestrator.js'
import type { Writes } from './assign.js'
import { hasWrites } from './assign.js'
import type { ArrivalOnBoard, Board, LiveVisit } from './board.js'

/** Readers of the NoETL server look for small contexts inside of the result. */
const COPIED_BYTES_MAX = 4_096

export function emit(board: Board, event: EmittedEvent): void {
  board.events.push(event)
}

/** With its context in both columns, if it is small. */
function doubled(event: EmittedEvent & { status: string; context: JsonObject }): EmittedEvent {
  if (jsonWeight(event.context) > COPIED_BYTES_MAX) return event
  return { ...event, result: { status: event.status, context: event.context } }
}

export function emitEnter(board: Board, live: LiveVisit, context: JsonObject, large?: LargePart): void {
  const { step, number, arrivals, isFinal } = live
  const meta: JsonObject = { visit: number, from: namesOf(board, arrivals) }
  if (arrivals.length > 0) meta['consumed'] = consumedOf(board, arrivals)
  if (isFinal) meta['final'] = true
  const event = doubled({
    eventType: 'step.enter',
    nodeName: step.name,
    nodeType: step.tool.kind,
    status: 'ENTERED',
    context: { visit: number, ...context },
    meta,
  })
  emit(board, large === undefined ? event : { ...event, large })
}

export function emitSkip(board: Board, live: LiveVisit, reason: 'guard' | 'admit', routed: JsonValue[]): void {
  const { step, number, arrivals } = live
  const from = namesOf(board, arrivals)
  const meta: JsonObject = { visit: number, routed }
  if (arrivals.length > 0) meta['consumed'] = consumedOf(board, arrivals)
  emit(
    board,
    doubled({
      eventType: 'step.skipped',
      nodeName: step.name,
      nodeType: step.tool.kind,
      status: 'SKIPPED',
      context: { reason, from, visit: number },
      meta,
    }),
  )
}

/** Nothing leads to the step any more. For readers; the step can still be entered by another arc. */
export function emitNotTaken(board: Board, target: number, from: string): void {
  const { name, tool } = board.stepAt(target)
  emit(
    board,
    doubled({
      eventType: 'step.skipped',
      nodeName: name,
      nodeType: tool.kind,
      status: 'SKIPPED',
      context: { reason: 'not_taken', from: [from] },
    }),
  )
}

export function emitWrites(board: Board, live: LiveVisit, writes: Writes, endId: string | undefined): void {
  if (!hasWrites(writes)) return
  const { ctx, vars } = writes
  const context: JsonObject = { step: live.step.name, gen: endId ?? null, visit: live.number, values: ctx }
  if (Object.keys(vars).length > 0) context['vars'] = vars
  emit(board, doubled({ eventType: 'ctx.updated', status: 'CONTEXT', context }))
}

function namesOf(board: Board, arrivals: readonly ArrivalOnBoard[]): string[] {
  return [...new Set(arrivals.map(({ source }) => board.stepAt(source).name))]
}

function consumedOf(board: Board, arrivals: readonly ArrivalOnBoard[]): JsonObject[] {
  return arrivals.map(({ source, visit, arc }) => ({ step: board.stepAt(source).name, visit, arc }))
}

// --- commands that the engine itself ends -------------------------------------------------------------------------------

export interface CommandName {
  readonly id: string
  readonly step: string
  readonly kind: string
  readonly attempt: number
}

/** As a worker would report it. */
export function emitCompleted(board: Board, { id, step, kind, attempt }: CommandName, data: JsonValue): void {
  const meta = { command_id: id, attempt }
  const about = { nodeName: step, nodeType: kind, meta }
  const envelope = { status: 'success', data, duration_ms: 0 }
  const done = { command_id: id, call_index: 0, result: { status: 'success', context: envelope } }
  emit(board, { ...about, eventType: 'call.done', status: 'COMPLETED', result: { status: 'COMPLETED', context: done } })
  const context = { command_id: id, status: 'success' }
  emit(board, { ...about, eventType: 'command.completed', status: 'success', result: { status: 'success', context } })
}

export function emitFailed(board: Board, { id, step, kind, attempt }: CommandName, error: JsonObject): void {
  const meta = { command_id: id, attempt }
  const context = { command_id: id, error }
  emit(board, {
    ...doubled({ eventType: 'command.failed', nodeName: step, nodeType: kind, status: 'FAILED', context, meta }),
    error: String(error['message']),
  })
}

/** A command was completed, but its data never came. */
export function emitMissingData(board: Board, { id, step, kind, attempt }: CommandName): void {
  const context = { command_id: id, call_index: 0, result: null }
  const meta = { command_id: id, attempt, missing: true }
  emit(board, doubled({ eventType: 'call.done', nodeName: step, nodeType: kind, status: 'COMPLETED', context, meta }))
}
