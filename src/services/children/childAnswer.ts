// The answer to a command that has started a playbook, as a worker would give it. Row and events are written together, so
// that it is given once whoever gives it, and never to a command that has ended.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { type ChildRow, endCommand, lockCommand, noteDone } from '../../stores/children/childStore.js'
import { type LockedExecution, lockExecutions } from '../../stores/executions/executionStore.js'
import type { Appender } from '../events/appender.js'
import type { AppendItem } from '../events/appendInTx.js'
import type { Ids } from '../ids/ids.js'
import type { ChildData } from './childResult.js'

export interface AnswerDeps {
  appender: Appender
  ids: Pick<Ids, 'next'>
  clock: Clock
}

export type ChildAnswer = ChildData | { error: JsonObject }

const OPEN: ReadonlySet<string> = new Set(['PENDING', 'CLAIMED', 'RUNNING', 'PARKED'])

/** False: nobody waits for it any more. */
export function answerCommand(deps: AnswerDeps, row: ChildRow, answer: ChildAnswer): Promise<boolean> {
  const parentId = row.parent_execution_id
  return deps.appender.appendWith(parentId, async (tx, append) => {
    const parent = (await lockExecutions(tx, [parentId])).get(parentId)
    const command = await lockCommand(tx, row)
    if (!(await noteDone(tx, row))) return false
    if (parent === undefined || isTerminalStatus(parent.summary.status)) return false
    if (command === undefined || !OPEN.has(command.status)) return false
    const written = await append(eventsOf(deps, parent, row, command, answer))
    const last = written.at(-1)
    if (last?.kind !== 'stored') throw new CpError('internal', `the answer to ${command.command_key} was not stored`)
    const error = 'error' in answer ? String(answer.error['message']) : undefined
    await endCommand(tx, row, { status: error === undefined ? 'COMPLETED' : 'FAILED', eventId: last.eventId, error })
    return true
  })
}

function eventsOf(
  deps: AnswerDeps,
  parent: LockedExecution,
  row: ChildRow,
  { command_key: key, step_name: step }: { command_key: string; step_name: string },
  answer: ChildAnswer,
): AppendItem[] {
  const createdAt = wireTimeFromMillis(deps.clock.now())
  const item = (event: Pick<EventRecord, 'eventType' | 'status' | 'result' | 'error' | 'context'>): AppendItem => ({
    idGiven: false,
    publish: true,
    createExecution: false,
    event: {
      ...event,
      executionId: parent.executionId as ExecutionId,
      eventId: deps.ids.next() as EventId,
      nodeId: step,
      nodeName: step,
      nodeType: 'playbook',
      meta: {
        command_id: key,
        attempt: 1,
        child_execution_id: row.child_execution_id,
        emitter: 'control_plane',
        idempotency_key: `child:${row.child_execution_id}`,
      },
      tenantId: parent.tenantId,
      organizationId: parent.organizationId,
      createdAt,
      createdAtGiven: false,
    },
  })
  if ('error' in answer) {
    const context = { command_id: key, error: answer.error }
    const error = String(answer.error['message'])
    return [
      item({ eventType: 'command.failed', status: 'FAILED', context, result: { status: 'FAILED', context }, error }),
    ]
  }
  const { data, reference } = answer
  const envelope = { status: 'success', data: reference === undefined ? data : { _ref: reference['ref'] ?? null } }
  const result: JsonObject = { status: 'success', context: envelope }
  if (reference !== undefined) result['reference'] = reference
  const done = { command_id: key, call_index: 0, result }
  const completed = { command_id: key, status: 'success' }
  return [
    item({ eventType: 'call.done', status: 'COMPLETED', result: { status: 'COMPLETED', context: done } }),
    item({ eventType: 'command.completed', status: 'success', result: { status: 'success', context: completed } }),
  ]
}
