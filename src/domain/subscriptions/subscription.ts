// The lifecycle of a subscription. Its state is the status of its newest lifecycle event; other events with the same
// id do not count.
//
//   register ──▶ REGISTERED ──activate──▶ ACTIVE ◀──activate, resume── PAUSED
//                                          │  └───────pause──────────────▲
//                                          └──drain──▶ DRAINING ◀──drain── PAUSED
//   any state ──deactivate──▶ DEACTIVATED ──activate──▶ ACTIVE          DRAINING ends with deactivate only
//
// SUBSCRIPTION_TRANSITIONS below is the whole rule. An action that leads to the present state is a repetition and
// writes nothing.

import { CpError } from '../../errors.js'
import { canonicalEventType } from '../events/eventType.js'

export const SUBSCRIPTION_STATES = ['REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED'] as const
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number]

/** As a state is read: somebody else may have written a status that is none of the five. */
export const SHOWN_STATES = [...SUBSCRIPTION_STATES, 'UNKNOWN'] as const
export type ShownState = (typeof SHOWN_STATES)[number]

export interface SubscriptionTransition {
  eventType: string
  status: SubscriptionState
  from: readonly SubscriptionState[]
}

/** A state that is its own target is allowed as a repetition, which changes nothing. */
export const SUBSCRIPTION_TRANSITIONS = {
  activate: {
    eventType: 'subscription.activated',
    status: 'ACTIVE',
    from: ['REGISTERED', 'ACTIVE', 'PAUSED', 'DEACTIVATED'],
  },
  pause: { eventType: 'subscription.paused', status: 'PAUSED', from: ['ACTIVE', 'PAUSED'] },
  resume: { eventType: 'subscription.resumed', status: 'ACTIVE', from: ['ACTIVE', 'PAUSED'] },
  drain: { eventType: 'subscription.draining', status: 'DRAINING', from: ['ACTIVE', 'PAUSED', 'DRAINING'] },
  deactivate: { eventType: 'subscription.deactivated', status: 'DEACTIVATED', from: SUBSCRIPTION_STATES },
} as const satisfies Record<string, SubscriptionTransition>

export type SubscriptionAction = keyof typeof SUBSCRIPTION_TRANSITIONS
export const SUBSCRIPTION_ACTIONS = Object.keys(SUBSCRIPTION_TRANSITIONS) as SubscriptionAction[]

export const SUBSCRIPTION_REGISTERED = { eventType: 'subscription.registered', status: 'REGISTERED' } as const

const STATUS_BY_TYPE: ReadonlyMap<string, SubscriptionState> = new Map([
  [SUBSCRIPTION_REGISTERED.eventType, SUBSCRIPTION_REGISTERED.status],
  ...SUBSCRIPTION_ACTIONS.map((action): [string, SubscriptionState] => [
    SUBSCRIPTION_TRANSITIONS[action].eventType,
    SUBSCRIPTION_TRANSITIONS[action].status,
  ]),
])

export type SubscriptionDecision =
  | { changed: false; status: ShownState }
  | { changed: true; eventType: string; status: SubscriptionState }

const ACTION_SHOWN_MAX = 60

export function parseSubscriptionAction(text: string): SubscriptionAction {
  const action = SUBSCRIPTION_ACTIONS.find((known) => known === text)
  if (action !== undefined) return action
  throw new CpError(
    'refused',
    `unknown action ${JSON.stringify(text.slice(0, ACTION_SHOWN_MAX))}; one of ${SUBSCRIPTION_ACTIONS.join(', ')}`,
    {
      details: { field: 'action', allowed: SUBSCRIPTION_ACTIONS },
    },
  )
}

export function allowedActions(state: ShownState): SubscriptionAction[] {
  return SUBSCRIPTION_ACTIONS.filter((action) => isAllowed(state, action))
}

/** What an action does in a state: nothing, one event, or a refusal that names the way out. */
export function decideSubscription(state: ShownState, action: SubscriptionAction): SubscriptionDecision {
  const transition = SUBSCRIPTION_TRANSITIONS[action]
  if (!isAllowed(state, action)) {
    throw new CpError(
      'illegal_transition',
      `cannot ${action} a subscription that is ${state}; ${action} is allowed from ${transition.from.join(', ')}, ` +
        `and from ${state} one can ${allowedActions(state).join(', ')}`,
      { details: { state, action, allowed_from: transition.from, allowed_actions: allowedActions(state) } },
    )
  }
  if (state === transition.status) return { changed: false, status: state }
  return { changed: true, eventType: transition.eventType, status: transition.status }
}

/** The state an event type leads to; undefined for everything that is not part of the lifecycle. */
export function lifecycleStatusOf(eventType: string): SubscriptionState | undefined {
  return STATUS_BY_TYPE.get(canonicalEventType(eventType))
}

/** The state that a lifecycle event leaves behind: its status, as the NoETL server reads it; without one, that of its type. */
export function stateAfter(eventType: string, status: string | null): ShownState | undefined {
  const byType = lifecycleStatusOf(eventType)
  if (byType === undefined || status === null || status === '') return byType
  return SUBSCRIPTION_STATES.find((known) => known === status) ?? 'UNKNOWN'
}

function isAllowed(state: ShownState, action: SubscriptionAction): boolean {
  // A status that we do not know can only be ended.
  if (state === 'UNKNOWN') return action === 'deactivate'
  return (SUBSCRIPTION_TRANSITIONS[action].from as readonly SubscriptionState[]).includes(state)
}
