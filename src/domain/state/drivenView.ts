// What is to be seen of a step of a driven execution, in the same form as of any other: its live visit, or the last one.

import { compareIds } from '../ids/ids.js'
import { parseJson } from '../json/parse.js'
import { isJsonObject } from '../json/value.js'
import { commandIdText } from './commandId.js'
import {
  answerOf,
  type Command,
  commandStatus,
  type DrivenStep,
  endingOf,
  isLive,
  lastVisitOf,
  type Visit,
} from './drivenState.js'
import { emptyInfo, readClaim, type StepInfo, type StepState } from './stepView.js'
import { own } from './workflowEvent.js'
import type { PayloadText } from './workflowState.js'

export function viewDrivenStep(executionId: string, name: string, step: DrivenStep): StepInfo {
  const info = emptyInfo(name)
  const number = lastVisitOf(step)
  const visit = step.visits.get(number)
  if (visit?.enter === undefined)
    return step.notTaken === undefined ? info : { ...info, ...skippedAt(step.notTaken.at) }
  info.enteredAt = visit.enter.at
  if (visit.enter.expected !== undefined) info.iterationsExpected = visit.enter.expected
  info.isCursor = visit.enter.cursor !== undefined
  const idOf = (suffix: string): string => commandIdText(executionId, name, { visit: number, suffix })
  viewCommands(info, visit, idOf)
  if (isLive(visit)) info.state = liveState(visit)
  else setExit(info, visit)
  return info
}

function skippedAt(at: StepInfo['enteredAt']): Partial<StepInfo> {
  return at === undefined ? { state: 'skipped' } : { state: 'skipped', enteredAt: at, completedAt: at }
}

function setExit(info: StepInfo, { exit, answered }: Visit): void {
  if (exit === undefined) return
  info.completedAt = exit.at
  info.state = exit.status === 'FAILED' ? 'failed' : exit.status === 'SKIPPED' ? 'skipped' : 'completed'
  if (exit.status === 'COMPLETED') info.completedEventId = exit.id
  const result = exit.result ?? answered
  if (result !== undefined && result !== 'null') info.result = result
  const error = errorMessage(exit.error)
  if (error !== undefined) info.error = error
}

/** An error is a text, or an object with a message. */
export function errorMessage(text: PayloadText | undefined): string | undefined {
  if (text === undefined) return undefined
  const error = parseJson(text)
  const message = isJsonObject(error) ? own(error, 'message') : error
  return typeof message === 'string' ? message : text
}

function viewCommands(info: StepInfo, visit: Visit, idOf: (suffix: string) => string): void {
  const ended: { id: string; command: Command }[] = []
  for (const [suffix, command] of visit.commands) {
    const id = idOf(suffix)
    const status = commandStatus(command)
    info.attempt = Math.max(info.attempt, command.attempt ?? 0)
    if (command.issued !== undefined && info.iterationsExpected !== undefined) info.iterationsDispatched += 1
    if (command.parked !== undefined) {
      info.usesCallback = true
      info.pendingCallback ||= status === 'open'
    }
    const place = command.issued?.cursor
    if (place !== undefined) viewCursor(info, id, command, place, status === 'ok')
    else if (status === 'ok' && info.iterationsExpected !== undefined) ended.push({ id, command })
  }
  ended.sort((a, b) => (a.command.issued?.index ?? 0) - (b.command.issued?.index ?? 0))
  info.iterationCommandIds = ended.map(({ id }) => id)
  info.iterationResults = ended.map(({ command }) => answerOf(command)?.result ?? 'null')
}

function viewCursor(
  info: StepInfo,
  id: string,
  command: Command,
  place: { phase: 'claim' | 'body'; frame: number },
  isCompleted: boolean,
): void {
  info.cursorIssued.set(id, { phase: place.phase, frame: place.frame })
  if (isCompleted) info.cursorCompleted.push(id)
  const frame = info.cursorFrames.get(place.frame) ?? { claimCompleted: false, bodyIssued: 0, bodyCompleted: 0 }
  info.cursorFrames.set(place.frame, frame)
  if (place.phase === 'body') {
    frame.bodyIssued += 1
    if (isCompleted) frame.bodyCompleted += 1
  } else {
    frame.claimCompleted = isCompleted
    readClaim(frame, command.done?.result)
  }
}

function liveState({ commands }: Visit): StepState {
  let newest: Command | undefined
  for (const command of commands.values()) {
    if (command.issued === undefined) continue
    if (newest?.issued === undefined || compareIds(command.issued.id, newest.issued.id) > 0) newest = command
  }
  if (newest === undefined) return 'entered'
  if (newest.started !== undefined || newest.done !== undefined || endingOf(newest) !== undefined)
    return 'command_started'
  return newest.claimed === true ? 'command_claimed' : 'command_issued'
}
