// Executions and the logs of subscriptions are stored alike and share their ids; the start event tells them apart. An
// error for the wrong kind says what the id is and which command shows it.
import { CpError } from '../../errors.js'
import { canonicalEventType } from '../events/eventType.js'

export function isSubscriptionLog(startEventType: string | null | undefined): boolean {
  return startEventType != null && canonicalEventType(startEventType) === 'subscription.registered'
}

/** For readers: there is no execution of that id. */
export function subscriptionInstead(id: string): CpError {
  return new CpError('not_found', `${whatItIs(id)}; see "noetl-cp subscription show ${id}"`)
}

/** For those who would change it. */
export function subscriptionUntouched(id: string): CpError {
  return new CpError(
    'refused',
    `${whatItIs(id)}: nothing was changed; its log is written by the control plane alone, see "noetl-cp subscription show ${id}"`,
  )
}

function whatItIs(id: string): string {
  return `${id} is a subscription, not an execution`
}
