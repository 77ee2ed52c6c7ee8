// A subscription as GET /api/subscriptions has it with verbose=true.

export const ACTIONS = ['activate', 'pause', 'resume', 'drain', 'deactivate'] as const
export type Action = (typeof ACTIONS)[number]

export const STATES = ['REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED'] as const
export type State = (typeof STATES)[number]

/** Where an action leads. */
export const LEADS_TO: Readonly<Record<Action, State>> = {
  activate: 'ACTIVE',
  pause: 'PAUSED',
  resume: 'ACTIVE',
  drain: 'DRAINING',
  deactivate: 'DEACTIVATED',
}

export interface Subscription {
  subscription_id: string
  path: string
  state: string
  updated_at: string
  /** Of its log: grows with everything that happens to it. */
  version: string
  allowed_actions: string[]
  catalog_version: number
  mode: string
  source: string
  driver: string
  listener: string | null
  reason: string | null
  actor: string | null
  paused_until: string | null
  runtime: string | null
  /** Also of a lease that is over. */
  lease_owner: string | null
  lease_until: string | null
  trouble: string | null
  catalog_id: string
  /** In short. */
  spec: { playbook: string; stream?: string; subject?: string }
}

export interface SubscriptionDetail extends Subscription {
  backlog:
    | { error: string; is_missing: boolean }
    | { backlog: number; pending: number; ack_pending: number; redelivered: number; oldest_age_seconds: number }
}
