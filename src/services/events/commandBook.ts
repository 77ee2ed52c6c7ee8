// The rows of commands while events that name them are appended: read under the lock of their executions, judged one
// event after the other, written back with the events. Commands of others have no rows and are none of our business.
import type { Tx } from '../../db/db.js'
import {
  type CommandReport,
  type CommandRow,
  isReportType,
  type Judgement,
  judgeReport,
  LEASE_SECONDS,
} from '../../domain/commands/commandRules.js'
import type { EventRecord, WrittenEvent } from '../../domain/events/eventRecord.js'
import { canonicalEventType, isTerminalEventType } from '../../domain/events/eventType.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import {
  attemptOf,
  commandIdOf,
  flagIn,
  isDecided,
  objectAt,
  payloadOf,
  saysError,
} from '../../domain/state/workflowEvent.js'
import { type CommandChange, cancelCommands, changeCommands, findCommands } from '../../stores/commands/commandStore.js'
import type { LockedExecution } from '../../stores/executions/executionStore.js'

/** A command as its claim found or left it. */
export interface ClaimedRow {
  commandId: string
  attempt: number
  leaseToken: number
  leaseSeconds: number
  /** Filled in when the claim is written. */
  leaseUntil: string | undefined
}

export interface CommandBook {
  /** Undefined: the event is about no command of ours. */
  judge(event: EventRecord, execution: LockedExecution): Judgement | undefined
  /** The event that was judged last is stored under this id. */
  note(judgement: Judgement, event: EventRecord): void
  /** As they are by now. */
  rows(): Iterable<CommandRow>
  /** Writes what has changed, and cancels what is open of the executions that have ended. Answers the ends of leases. */
  write(tx: Tx, ended: readonly string[]): Promise<Map<string, string | null>>
}

/** A command's key begins with its execution, so it stands for both. */
export interface CommandName {
  executionId: string
  commandId: string
}

/** The name of our command that the event is about. Our names begin with the execution; those of others need no look. */
export function commandNamed(event: EventRecord): CommandName | undefined {
  const type = canonicalEventType(event.eventType)
  if (!isReportType(type)) return undefined
  // What the engine answers itself it has never issued as a row.
  const isNative = isDecided(event) && type !== 'command.failed' && objectAt(event.meta)['missing'] !== true
  if (isNative) return undefined
  const commandId = commandIdOf(event)
  const { executionId } = event
  return commandId?.startsWith(`${executionId}:`) === true ? { executionId, commandId } : undefined
}

interface Reported {
  event: EventRecord
  leaseSeconds?: number | undefined
}

export async function openCommandBook(tx: Tx, events: readonly Reported[]): Promise<CommandBook> {
  const names = new Map<string, CommandName>()
  for (const { event } of events) {
    const name = commandNamed(event)
    if (name !== undefined) names.set(name.commandId, name)
  }
  return commandBookOf(events, names.size === 0 ? [] : await findCommands(tx, [...names.values()]))
}

/** Of rows that are known. */
export function commandBookOf(events: readonly Reported[], known: readonly CommandRow[]): CommandBook {
  const leases = new Map<EventRecord, number>()
  for (const { event, leaseSeconds } of events) if (leaseSeconds !== undefined) leases.set(event, leaseSeconds)
  const rows = new Map(known.map((row) => [row.key, row]))
  const changes = new Map<string, CommandChange>()

  function change(row: CommandRow, event: EventRecord | undefined): void {
    if (rows.get(row.key) === row) return
    rows.set(row.key, row)
    const before = changes.get(row.key)
    changes.set(row.key, {
      row,
      eventId: event?.eventId ?? before?.eventId,
      error: event === undefined ? before?.error : (errorOf(row, event) ?? before?.error),
    })
  }

  return {
    judge: (event, execution) => {
      const name = rows.size === 0 ? undefined : commandNamed(event)
      const row = name === undefined ? undefined : rows.get(name.commandId)
      if (row === undefined) return undefined
      const { status } = execution.summary
      return judgeReport(row, reportOf(event, leases.get(event)), isTerminalStatus(status) ? status : undefined)
    },
    note: (judgement, event) => {
      if (judgement.kind === 'taken') change(judgement.row, event)
      // A sign of life: the lease begins again although nothing else is new.
      else if (judgement.kind !== 'unclaimable' && judgement.row !== undefined) change({ ...judgement.row }, undefined)
    },
    rows: () => rows.values(),
    write: async (tx, ended) => {
      const [leases] = await Promise.all([
        changes.size === 0 ? new Map<string, string | null>() : changeCommands(tx, [...changes.values()]),
        ended.length === 0 ? undefined : cancelCommands(tx, ended),
      ])
      return leases
    },
  }
}

function reportOf(event: EventRecord, leaseSeconds = LEASE_SECONDS): CommandReport {
  return {
    type: canonicalEventType(event.eventType) as CommandReport['type'],
    attempt: attemptOf(event),
    workerId: event.workerId,
    leaseSeconds,
    isParking: flagIn(event, 'pending_callback'),
    isError: saysError(objectAt(event.result)) || saysError(payloadOf(event)),
    isDecided: isDecided(event),
  }
}

function errorOf({ status }: CommandRow, event: EventRecord): string | undefined {
  if (status !== 'FAILED') return undefined
  const said = payloadOf(event)['error'] ?? objectAt(event.result)['error']
  const message = isJsonObject(said) ? said['message'] : said
  return event.error ?? (typeof message === 'string' ? message : undefined)
}

/** The attempt is part of the log even if the worker did not say it: folds tell attempts apart by it. */
export function withAttempt<E extends EventRecord>(event: E, judgement: Judgement): E {
  if (judgement.kind !== 'taken' || isDecided(event)) return event
  const { row, reclaimedFrom } = judgement
  const more: JsonObject = { attempt: row.attempt }
  if (reclaimedFrom !== undefined) {
    Object.assign(more, { reclaimed: true, reclaimed_from_worker: reclaimedFrom, reclaimed_reason: 'lease_expired' })
  }
  return {
    ...event,
    meta: { ...objectAt(event.meta), ...more },
    ...(event.written === undefined ? {} : { written: withMeta(event.written, more) }),
  }
}

/** Of a name that stands twice in a JSON text the database takes the last one. */
function withMeta(written: WrittenEvent, more: JsonObject): WrittenEvent {
  const { meta = '{}' } = written.parts
  const members = [meta.slice(1, -1), writeJson(more).slice(1, -1)].filter((text) => text !== '')
  return { ...written, parts: { ...written.parts, meta: `{${members.join(',')}}` } }
}

/** Driven executions that these events end. */
export function endedBy(events: readonly EventRecord[], executions: ReadonlyMap<string, LockedExecution>): string[] {
  return events
    .filter((event) => executions.get(event.executionId)?.engine !== undefined && isTerminalEventType(event.eventType))
    .map(({ executionId }) => executionId)
}
