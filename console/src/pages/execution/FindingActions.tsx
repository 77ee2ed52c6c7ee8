// What the API can do about a finding, as buttons. The words of the server decide which there are; none is made up here.
import { Act, type ActProps } from '../../parts/Act'
import { adoptOrder, cancelOrder, ENDINGS, finalizeOrder, rerunOrder } from '../executions/orders'
import type { Finding } from './WhyTab'

type Shown = Pick<ActProps<unknown>, 'name' | 'consequence' | 'needsReason' | 'order' | 'isPublic' | 'choice'>

function actionsOf(executionId: string, { target }: Finding): Readonly<Record<string, Shown>> {
  const rows = { ids: [target.id], execution_id: executionId }
  const row = [target.id, '--execution', executionId]
  const steered = (action: 'resume' | 'activate'): Shown['order'] => {
    return (reason) => ({
      cli: ['subscription', action, target.id, ...(reason === '' ? [] : ['--reason', reason])],
      path: `/api/subscriptions/${target.id}/${action}`,
      body: reason === '' ? {} : { reason },
    })
  }
  return {
    'outbox.redrive': {
      name: 'Requeue',
      consequence: `Brings the dead row ${target.id} back: it is published again from the start of its attempts.`,
      order: (note) => ({
        cli: ['outbox', 'dead', 'redrive', ...row],
        path: '/api/internal/outbox/redrive',
        body: { ...rows, ...(note === '' ? {} : { note }) },
      }),
    },
    'outbox.retry': {
      name: 'Retry now',
      consequence: `Publishes the row ${target.id} now instead of waiting for its next attempt.`,
      order: (note) => ({
        cli: ['outbox', 'retry', ...row],
        path: '/api/internal/outbox/retry',
        body: { ...rows, ...(note === '' ? {} : { note }) },
      }),
    },
    'subscription.resume': {
      name: 'Resume the subscription',
      consequence: 'Deliveries begin again at once.',
      isPublic: true,
      order: steered('resume'),
    },
    'subscription.activate': {
      name: 'Activate the subscription',
      consequence: 'Deliveries begin at once.',
      isPublic: true,
      order: steered('activate'),
    },
    'command.requeue': {
      name: 'Requeue the command',
      consequence: 'Another worker may claim it, in a higher attempt. The tool may then have run twice.',
      order: (note) => ({
        cli: ['command', 'requeue', target.id],
        path: `/api/commands/${target.id}/requeue`,
        body: note === '' ? {} : { note },
      }),
    },
    'command.fail': {
      name: 'Fail the command',
      consequence: `Appends command.failed of ${target.id} to the log.`,
      needsReason: true,
      order: (reason) => ({ path: '/api/events', body: failed(executionId, target, reason) }),
    },
    'execution.cancel': {
      name: 'Cancel the execution',
      consequence: 'Ends this execution. There is no way back.',
      isPublic: true,
      order: (reason) => cancelOrder(executionId, reason),
    },
    'execution.adopt': {
      name: 'Let the engine drive it',
      consequence: 'From now on the engine decides what happens next, by the playbook. There is no way back.',
      isPublic: true,
      order: (reason) => adoptOrder(executionId, reason),
    },
    'execution.finalize': {
      name: 'Finalize',
      consequence: 'Writes the end of this execution into the log as it stands now. There is no way back.',
      isPublic: true,
      choice: ENDINGS,
      order: (reason, status) => finalizeOrder(executionId, reason, status),
    },
    'execution.rerun': {
      name: 'Run again',
      consequence: 'Starts a new execution with the same workload; this one stays as it is.',
      isPublic: true,
      order: (reason) => rerunOrder(executionId, reason),
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

interface FindingActionsProps {
  finding: Finding
  executionId: string
  onDone: (name: string, answer: unknown) => void
}

export function FindingActions(props: FindingActionsProps) {
  const known = actionsOf(props.executionId, props.finding)
  return (
    <>
      {props.finding.actions.map((action) => {
        const shown = known[action]
        return shown === undefined ? null : (
          <Act key={action} {...shown} onDone={(answer) => props.onDone(shown.name, answer)} />
        )
      })}
    </>
  )
}
