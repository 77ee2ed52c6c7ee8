// What the API can do about a finding, as buttons. The words of the server decide which there are; none is made up here.
import { send } from '../../lib/api'
import { Act, type ActProps } from '../../parts/Act'
import type { Finding } from './WhyTab'

type Shown = Pick<ActProps, 'name' | 'consequence' | 'needsReason' | 'act' | 'isPublic'>

function actionsOf(executionId: string, { target }: Finding): Readonly<Record<string, Shown>> {
  const execution = `/api/executions/${executionId}`
  const body = (reason: string) => (reason === '' ? {} : { reason })
  return {
    'outbox.redrive': {
      name: 'Requeue',
      consequence: `Brings the dead row ${target.id} back: it is published again from the start of its attempts.`,
      act: () => send('POST', '/api/internal/outbox/redrive', { ids: [target.id], execution_id: executionId }),
    },
    'outbox.retry': {
      name: 'Retry now',
      consequence: `Publishes the row ${target.id} now instead of waiting for its next attempt.`,
      act: () => send('POST', '/api/internal/outbox/retry', { ids: [target.id], execution_id: executionId }),
    },
    'subscription.resume': {
      name: 'Resume the subscription',
      consequence: 'Deliveries begin again at once.',
      isPublic: true,
      act: (reason) => send('POST', `/api/subscriptions/${target.id}/resume`, body(reason)),
    },
    'subscription.activate': {
      name: 'Activate the subscription',
      consequence: 'Deliveries begin at once.',
      isPublic: true,
      act: (reason) => send('POST', `/api/subscriptions/${target.id}/activate`, body(reason)),
    },
    'command.requeue': {
      name: 'Requeue the command',
      consequence: 'Another worker may claim it, in a higher attempt.',
      isPublic: true,
      act: () => send('POST', `/api/commands/${target.id}/requeue`, {}),
    },
    'command.fail': {
      name: 'Fail the command',
      consequence: `Appends command.failed of ${target.id} to the log.`,
      needsReason: true,
      act: (reason) => send('POST', '/api/events', failed(executionId, target, reason)),
    },
    'execution.cancel': {
      name: 'Cancel the execution',
      consequence: 'Ends this execution. There is no way back.',
      isPublic: true,
      act: (reason) => send('POST', `${execution}/cancel`, body(reason)),
    },
    'execution.adopt': {
      name: 'Let the engine drive it',
      consequence: 'From now on the engine decides what happens next, by the playbook. There is no way back.',
      isPublic: true,
      act: (reason) => send('POST', `${execution}/adopt`, body(reason)),
    },
    'execution.finalize': {
      name: 'Finalize',
      consequence: 'Writes the end of this execution into the log as it stands now.',
      isPublic: true,
      act: (reason) => send('POST', `${execution}/finalize`, body(reason)),
    },
    'execution.rerun': {
      name: 'Run again',
      consequence: 'Starts a new execution with the same workload; this one stays as it is.',
      isPublic: true,
      act: () => send('POST', `${execution}/rerun`, {}),
    },
  }
}

/** What its worker would have reported. The record of acts takes the reason from `note`. */
function failed(executionId: string, { id, step }: Finding['target'], reason: string) {
  return {
    execution_id: executionId,
    step,
    event_type: 'command.failed',
    status: 'FAILED',
    error: reason,
    payload: { command_id: id, error: { kind: 'operator', message: reason } },
    meta: { command_id: id, emitter: 'console' },
    note: reason,
  }
}

export function FindingActions(props: { finding: Finding; executionId: string; onDone: () => void }) {
  const known = actionsOf(props.executionId, props.finding)
  return (
    <>
      {props.finding.actions.map((action) => {
        const shown = known[action]
        return shown === undefined ? null : <Act key={action} {...shown} onDone={props.onDone} />
      })}
    </>
  )
}
