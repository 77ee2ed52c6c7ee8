// What time alone decides: commands past their time, answers whose data never came, the time of the whole execution.

import { commandIdText } from '../state/commandId.js'
import { answerOf, type Command, millisOf } from '../state/drivenState.js'
import type { Board, LiveVisit } from './board.js'
import { type CommandName, emitFailed, emitMissingData } from './emit.js'
import { engineError } from './engineError.js'
import { MISSING_DATA_MS } from './settings.js'

export interface Deadline {
  readonly atMs: number
  readonly key: string
  /** What to do when it has passed. */
  emit(board: Board): void
}

/** The nearest one among the commands that are under way. */
export function nearestDeadline(board: Board): Deadline | undefined {
  let nearest: Deadline | undefined
  for (const live of board.live.values()) {
    for (const suffix of live.visit.tally.open) {
      const deadline = deadlineOf(board, live, suffix, live.visit.commands.get(suffix) as Command)
      if (deadline !== undefined && (nearest === undefined || deadline.atMs < nearest.atMs)) nearest = deadline
    }
  }
  return nearest
}

function deadlineOf(board: Board, live: LiveVisit, suffix: string, command: Command): Deadline | undefined {
  const { issued, outcome } = command
  const id = commandIdText(board.executionId, live.step.name, { visit: live.number, suffix })
  const attempt = command.attempt ?? 1
  const name: CommandName = { id, step: live.step.name, kind: live.step.tool.kind, attempt }
  if (outcome?.completed === true && answerOf(command) === undefined) {
    const ended = { ...name, attempt: outcome.attempt || attempt }
    return {
      atMs: bounded(millisOf(outcome.at), board.input.nowMs) + MISSING_DATA_MS,
      key: `${id}:nodata:${ended.attempt}`,
      emit: (on) => emitMissingData(on, ended),
    }
  }
  if (issued?.timeoutMs === undefined) return undefined
  const message = `it took longer than ${issued.timeoutMs / 1000} s`
  return {
    atMs: millisOf(issued.at) + issued.timeoutMs,
    key: `${id}:timeout:${attempt}`,
    emit: (on) => emitFailed(on, name, engineError('timeout', message)),
  }
}

/** The time is the worker's, and its clock may be ahead: an event from the future is one of long ago. */
function bounded(atMs: number, nowMs: number): number {
  return atMs > nowMs ? nowMs - MISSING_DATA_MS : atMs
}

/** When the execution as a whole is given up. */
export function executionDeadline(board: Board): number | undefined {
  const { startMeta, state } = board.input
  const asked = startMeta['timeout_seconds']
  const timeoutMs = typeof asked === 'number' && asked > 0 ? asked * 1000 : board.plan.timeoutMs
  if (timeoutMs === undefined || state.started === undefined) return undefined
  return millisOf(state.started.at) + timeoutMs
}
