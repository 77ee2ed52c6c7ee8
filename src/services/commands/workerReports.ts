// What workers say about the commands they hold, as events of their executions.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { AppendItem, AppendOutcome } from '../events/appendInTx.js'
import type { HandOutDeps, HeldCommand } from './handOut.js'

export interface WorkerReport {
  type: 'command.started' | 'call.done' | 'call.error' | 'command.completed' | 'command.failed'
  status: string
  /** `{command_id}` is added. */
  payload?: JsonObject
  error?: string
  /** Milliseconds; for people. */
  durationMs?: number
}

export type ReportOutcome = { kind: 'stored'; eventId: string } | { kind: 'ignored'; reason: string }

export type ReportedCommand = Pick<HeldCommand, 'executionId' | 'commandId' | 'step' | 'kind' | 'workerId' | 'attempt'>

export interface ReportDeps extends Pick<HandOutDeps, 'appender' | 'ids' | 'clock'> {
  onIgnored?: (reason: string) => void
}

/** In one transaction. */
export async function report(
  deps: ReportDeps,
  command: ReportedCommand,
  reports: readonly WorkerReport[],
): Promise<ReportOutcome[]> {
  const outcomes = await deps.appender.append(reports.map((one) => reportItem(deps, command, one)))
  return outcomes.map((outcome) => reportOutcome(outcome, deps.onIgnored))
}

function reportItem(
  deps: Pick<ReportDeps, 'ids' | 'clock'>,
  command: ReportedCommand,
  { type, status, payload, error, durationMs }: WorkerReport,
): AppendItem {
  const { executionId, commandId, step, kind, workerId, attempt } = command
  const event: EventRecord = {
    executionId: executionId as ExecutionId,
    eventId: deps.ids.next() as EventId,
    eventType: type,
    nodeId: step,
    nodeName: step,
    nodeType: kind,
    status,
    workerId,
    duration: durationMs === undefined ? undefined : durationMs / 1000,
    result: { status, context: { command_id: commandId, ...payload } },
    meta: { command_id: commandId, worker_id: workerId, attempt, actionable: true, informative: true },
    error,
    createdAt: wireTimeFromMillis(deps.clock.now()),
    createdAtGiven: false,
  }
  return { event, idGiven: false, publish: true, createExecution: false }
}

function reportOutcome(outcome: AppendOutcome, onIgnored?: (reason: string) => void): ReportOutcome {
  if (outcome.kind === 'stored') return { kind: 'stored', eventId: outcome.eventId }
  if (outcome.kind === 'refused') throw new CpError('refused', outcome.reason)
  const reason = outcome.kind === 'ignored' ? outcome.reason : outcome.kind
  onIgnored?.(reason)
  return { kind: 'ignored', reason }
}
