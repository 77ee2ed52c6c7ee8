// What a driven execution waits for, for people who ask why it is stuck: commands and who has them, steps that were reached
// and may not be entered yet with those that still can lead to them, failures that end it.

import { wireTimeFromMillis } from '../events/wireTime.js'
import { commandIdText } from '../state/commandId.js'
import { type Command, millisOf } from '../state/drivenState.js'
import type { OpenWork } from '../state/openWork.js'
import { Board, type BoardInput, type LiveVisit } from './board.js'
import { messageOf } from './engineError.js'
import { situationOf } from './situation.js'

const COMMANDS_MAX = 200

export function waitingIn(input: BoardInput): OpenWork[] {
  const board = new Board(input, 0)
  const found: OpenWork[] = []
  for (const { step, error } of board.failures) found.push({ kind: 'failed', step, error: messageOf(error) })
  for (const live of board.live.values()) {
    for (const suffix of live.visit.tally.open) {
      if (found.length >= COMMANDS_MAX) break
      found.push(openCommand(board, live, suffix, live.visit.commands.get(suffix) as Command))
    }
    if (live.visit.commands.size === 0) found.push({ kind: 'entered', step: live.step.name })
  }
  if (board.isStopped) return found
  const situation = situationOf(board)
  for (const target of new Set(board.arrivals.map((arrival) => arrival.target))) {
    const blockers = situation.blockersOf(target).map((index) => board.stepAt(index).name)
    found.push({ kind: 'waiting', step: board.stepAt(target).name, blockers: [...new Set(blockers)] })
  }
  return found
}

function openCommand(board: Board, live: LiveVisit, suffix: string, command: Command): OpenWork {
  const { issued, parked, started, claimed } = command
  const commandId = commandIdText(board.executionId, live.step.name, { visit: live.number, suffix })
  const kind =
    parked !== undefined
      ? 'parked'
      : issued?.child !== undefined
        ? 'child'
        : started !== undefined
          ? 'started'
          : claimed === true
            ? 'claimed'
            : 'unclaimed'
  const work: OpenWork = { kind, step: live.step.name, commandId }
  const eventId = parked?.id ?? started ?? issued?.id
  if (eventId !== undefined) work.eventId = eventId
  if (issued?.child !== undefined) work.child = issued.child
  if (issued?.timeoutMs !== undefined) work.deadline = wireTimeFromMillis(millisOf(issued.at) + issued.timeoutMs)
  return work
}
