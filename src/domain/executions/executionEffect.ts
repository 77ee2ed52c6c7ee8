// What one event does to the read model of its execution. Events may arrive late or twice, so an effect
// never says "set the status" but carries what decides between two of them: a terminal status beats a
// running one, and of two terminal ones the higher event id wins. This must give the same status as replay
// in profile `cp`.

import type { EventRecord } from '../events/eventRecord.js'
import { isRunningEventType, isStartEventType, namesNode, terminalStatusOf } from '../events/eventType.js'
import type { WireTime } from '../events/wireTime.js'
import { compareIds, type EventId } from '../ids/ids.js'
import { isJsonObject, type JsonValue } from '../json/value.js'
import type { ExecutionStatus } from './executionStatus.js'

export interface ExecutionEffect {
  /** RUNNING counts only while the status is unknown. */
  status?: ExecutionStatus
  terminal: boolean
  /** The event brings the execution into being. */
  starts: boolean
  /** Set by step events and command completions that name a node, and by nothing else. */
  lastNodeName?: string
  error?: string
}

export function executionEffect(
  event: Pick<EventRecord, 'eventType' | 'nodeName' | 'error' | 'result'>,
): ExecutionEffect {
  const terminalStatus = terminalStatusOf(event.eventType)
  const effect: ExecutionEffect = {
    terminal: terminalStatus !== undefined,
    starts: isStartEventType(event.eventType),
  }
  if (terminalStatus !== undefined) effect.status = terminalStatus
  else if (isRunningEventType(event.eventType)) effect.status = 'RUNNING'
  if (event.nodeName && namesNode(event.eventType)) effect.lastNodeName = event.nodeName
  const error = terminalStatus === 'FAILED' ? errorText(event) : undefined
  if (error !== undefined) effect.error = error
  return effect
}

/** The row of the read model, with the ids that make it independent of the order of arrival. */
export interface ExecutionSummary {
  status: ExecutionStatus | 'UNKNOWN'
  /** The terminal event that decided the status. */
  terminalEventId?: EventId
  lastEventId?: EventId
  lastEventType?: string
  lastNodeName?: string
  lastNodeEventId?: EventId
  startTime?: WireTime
  startEventId?: EventId
  /** It tells a subscription from an execution, whatever comes later. */
  startEventType?: string
  endTime?: WireTime
  error?: string
}

export const UNKNOWN_EXECUTION: ExecutionSummary = { status: 'UNKNOWN' }

/** Any order and any repetition of the same events gives the same summary. */
export function evolveExecution(summary: ExecutionSummary, event: EventRecord): ExecutionSummary {
  const effect = executionEffect(event)
  const next = { ...summary }
  if (isAfter(event.eventId, summary.lastEventId)) {
    next.lastEventId = event.eventId
    next.lastEventType = event.eventType
  }
  if (effect.lastNodeName !== undefined && isAfter(event.eventId, summary.lastNodeEventId)) {
    next.lastNodeName = effect.lastNodeName
    next.lastNodeEventId = event.eventId
  }
  if (effect.starts && (summary.startEventId === undefined || compareIds(event.eventId, summary.startEventId) < 0)) {
    next.startEventId = event.eventId
    next.startEventType = event.eventType
    next.startTime = event.createdAt
  }
  if (effect.terminal && isAfter(event.eventId, summary.terminalEventId)) {
    next.terminalEventId = event.eventId
    next.status = effect.status as ExecutionStatus
    next.endTime = event.createdAt
    if (effect.error === undefined) delete next.error
    else next.error = effect.error
  } else if (effect.status === 'RUNNING' && summary.status === 'UNKNOWN') {
    next.status = 'RUNNING'
  }
  return next
}

function isAfter(id: EventId, other: EventId | undefined): boolean {
  return other === undefined || compareIds(id, other) > 0
}

/** Failures put their text in a column, in the result, or inside the result's context. */
export function errorText(event: Pick<EventRecord, 'error' | 'result'>): string | undefined {
  if (event.error !== undefined && event.error !== '') return event.error
  if (!isJsonObject(event.result)) return undefined
  const context = event.result['context']
  return asText(event.result['error']) ?? (isJsonObject(context) ? asText(context['error']) : undefined)
}

function asText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  if (isJsonObject(value)) return asText(value['message'])
  return undefined
}
