// How long to wait before a tool runs again.

import type { PolicyRule } from '../playbook/policy.js'

const DELAY_SECONDS_MAX = 60
const RETRY_AFTER_SECONDS_MAX = 300
/** The part of a delay that jitter may leave out. */
const JITTER = 0.5

export interface RetryFacts {
  readonly delaySeconds: number
  /** Runs made so far. */
  readonly runs: number
  /** What the other side asked for: a minimum. */
  readonly retryAfterSeconds: number | undefined
  /** In [0, 1). */
  readonly random: number
}

type Pace = Pick<PolicyRule, 'backoff' | 'multiplier' | 'maxDelaySeconds' | 'hasJitter'>

export function retryDelayMs(pace: Pace, { delaySeconds, runs, retryAfterSeconds, random }: RetryFacts): number {
  const growth = { none: 1, fixed: 1, linear: runs, exponential: pace.multiplier ** (runs - 1) }[pace.backoff]
  const seconds = Math.min(delaySeconds * growth, pace.maxDelaySeconds ?? DELAY_SECONDS_MAX)
  const shortened = pace.hasJitter ? seconds * (1 - JITTER * random) : seconds
  const asked = Math.min(retryAfterSeconds ?? 0, RETRY_AFTER_SECONDS_MAX)
  return Math.ceil(Math.max(shortened, asked) * 1000)
}
