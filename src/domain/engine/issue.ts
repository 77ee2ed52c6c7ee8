// The command.issued event and the row beside it.

import type { JsonObject } from '../json/value.js'
import type { ToolPlan } from '../playbook/plan.js'
import { commandIdText } from '../state/commandId.js'
import type { Board, LiveVisit } from './board.js'
import { type CommandName, emit, emitCompleted, emitFailed } from './emit.js'
import type { Locals } from './engineContext.js'
import { StepFailure } from './engineError.js'
import { poolOf } from './pool.js'
import { type Rendered, renderCommand } from './renderCommand.js'
import { COMMAND_ATTEMPTS_MAX } from './settings.js'

/** Which of the commands of its visit. */
export interface CommandSlot {
  /** Empty for a step without a loop. */
  readonly suffix: string
  readonly meta: JsonObject
  readonly index?: number
}

export const ONLY_COMMAND: CommandSlot = { suffix: '', meta: {} }

/**
 * One body of a loop. A template that cannot be rendered fails this body alone: it is issued for the log, and failed.
 * Answers whether it can succeed.
 */
export function issueBody(
  board: Board,
  live: LiveVisit,
  tool: ToolPlan,
  slot: CommandSlot,
  locals: Locals,
  variables: JsonObject,
): boolean {
  try {
    emitCommand(board, live, tool, slot, renderCommand(board, live, tool, locals, variables))
    return true
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    const name = emitIssued(board, live, tool, slot, {
      config: { kind: tool.kind },
      args: variables,
      renderContext: {},
      deferred: [],
      deferredKeys: [],
      references: [],
      stepNames: [],
      keychain: undefined,
      handling: { type: 'refused' },
      timeoutMs: undefined,
    })
    emitFailed(board, name, error.error)
    return false
  }
}

/** With its end, if the engine runs it itself. */
export function emitCommand(
  board: Board,
  live: LiveVisit,
  tool: ToolPlan,
  slot: CommandSlot,
  rendered: Rendered,
): void {
  const name = emitIssued(board, live, tool, slot, rendered)
  if (rendered.handling.type === 'native') emitCompleted(board, name, rendered.handling.data)
}

function emitIssued(board: Board, live: LiveVisit, tool: ToolPlan, slot: CommandSlot, rendered: Rendered): CommandName {
  const { step, number } = live
  const id = commandIdText(board.executionId, step.name, { visit: number, suffix: slot.suffix })
  const pool = poolOf(board.input)
  const handling = rendered.handling.type
  if (handling === 'worker' || handling === 'playbook') {
    const { timeoutMs } = rendered
    const { priority } = board.input.startMeta
    board.commands.push({
      event: board.events.length,
      key: id,
      step: step.name,
      kind: tool.kind,
      pool,
      maxAttempts: COMMAND_ATTEMPTS_MAX,
      waitsFor: handling,
      ...(timeoutMs === undefined ? {} : { deadlineMs: board.input.nowMs + timeoutMs }),
      ...(slot.index === undefined ? {} : { index: slot.index }),
      ...(typeof priority === 'number' ? { priority } : {}),
    })
  }
  emit(board, {
    eventType: 'command.issued',
    nodeName: step.name,
    nodeType: tool.kind,
    status: 'PENDING',
    context: contextOf(rendered),
    meta: metaOf(board, live, tool, { id, pool, slot, rendered }),
  })
  return { id, step: step.name, kind: tool.kind, attempt: 1 }
}

function contextOf({ config, args, renderContext, keychain }: Rendered): JsonObject {
  const context: JsonObject = { tool_config: config, args, render_context: renderContext }
  if (keychain !== undefined) context['keychain'] = [...keychain]
  return context
}

function metaOf(
  board: Board,
  { step, number }: LiveVisit,
  tool: ToolPlan,
  { id, pool, slot, rendered }: { id: string; pool: string; slot: CommandSlot; rendered: Rendered },
): JsonObject {
  const meta: JsonObject = {
    command_id: id,
    step: step.name,
    tool_kind: tool.kind,
    visit: number,
    attempt: 1,
    max_attempts: COMMAND_ATTEMPTS_MAX,
    execution_id: board.executionId,
    catalog_id: board.input.state.catalog?.value ?? null,
    actionable: rendered.handling.type === 'worker',
    execution_pool: pool,
    ...slot.meta,
  }
  if (rendered.timeoutMs !== undefined) {
    meta['timeout_seconds'] = rendered.timeoutMs / 1000
    meta['timeout_ms'] = rendered.timeoutMs
  }
  if (rendered.references.length > 0) meta['references'] = [...rendered.references]
  if (rendered.stepNames.length > 0) meta['step_names'] = [...rendered.stepNames]
  if (rendered.deferred.length > 0) meta['deferred'] = [...rendered.deferred]
  if (rendered.deferredKeys.length > 0) meta['deferred_keys'] = [...rendered.deferredKeys]
  const { trace } = board.input.startMeta
  if (trace !== undefined) meta['trace'] = trace
  return meta
}
