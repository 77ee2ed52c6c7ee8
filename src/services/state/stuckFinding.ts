// What is told about an execution that waits: a sentence for people, and what it is about for programs.

export type Reason =
  | 'ended'
  | 'paused subscription'
  | 'no driver'
  | 'dead outbox row'
  | 'outbox backoff'
  | 'outbox'
  | 'parked callback'
  | 'unclaimed command'
  | 'expired command'
  | 'running command'
  | 'missing worker pool'
  | 'paused pool'
  | 'failed step'
  | 'child playbook'
  | 'waiting step'
  | 'not driven'
  | 'entered step'
  | 'open transaction'
  | 'nothing known'

/** What a finding is about, so that nobody has to read its sentence for an id. */
export interface FindingTarget {
  kind: 'execution' | 'outbox' | 'subscription' | 'step' | 'command' | 'pool' | 'lane' | 'backend'
  id: string
  /** Of a command that can be failed: its event names the step, too. */
  step?: string
}

/** What can be done about it through the API. */
export type FindingAction =
  | 'outbox.redrive'
  | 'outbox.retry'
  | 'subscription.resume'
  | 'subscription.activate'
  | 'command.requeue'
  | 'command.fail'
  | 'execution.finalize'
  | 'execution.cancel'
  | 'execution.adopt'
  | 'execution.rerun'

export interface StuckFinding {
  reason: Reason
  what: string
  seconds?: number
  next: string
  target: FindingTarget
  actions: FindingAction[]
}

export function span(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, seconds).toFixed(0)} s`
  if (seconds < 7_200) return `${(seconds / 60).toFixed(0)} m`
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(0)} h` : `${(seconds / 86_400).toFixed(0)} d`
}
