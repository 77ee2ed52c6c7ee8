// What to do with a row after an attempt to publish it. Faults of the broker cost nothing; a refusal of the
// row itself costs an attempt and a growing pause; what can never succeed is dead at once.

import { delayMs } from '../backoff.js'
import { counted } from '../counted.js'

export type AttemptOutcome =
  | { kind: 'stored' }
  | { kind: 'unknown'; reason: string }
  | { kind: 'unavailable'; reason: string }
  | { kind: 'rejected'; reason: string; permanent: boolean; why?: 'subject' | 'too_large' }

/** Why a row is dead, as a metric counts it. */
export type DeathCause = 'attempts' | 'subject' | 'too_large' | 'rejected'

export type Settlement =
  | { action: 'published' }
  /** At once, with the same message id. */
  | { action: 'again' }
  /** Not this row's fault: pause the relay, keep the row at the front. */
  | { action: 'pause'; reason: string }
  | { action: 'fail'; waitMs: number; reason: string }
  | { action: 'die'; reason: string; why: DeathCause }

export interface AttemptFacts {
  /** Attempts recorded in the row before this one. */
  attempts: number
  attemptsMax: number
  /** How often in a row nothing came back for it while others were answered. */
  silentTries: number
  silentTriesMax: number
}

export function settleAttempt(outcome: AttemptOutcome, facts: AttemptFacts, random: number): Settlement {
  switch (outcome.kind) {
    case 'stored':
      return { action: 'published' }
    case 'unavailable':
      return { action: 'pause', reason: outcome.reason }
    case 'unknown':
      // A row that never gets an answer while its neighbours do is refused in silence.
      return facts.silentTries < facts.silentTriesMax ? { action: 'again' } : refused(outcome.reason, facts, random)
    case 'rejected':
      return outcome.permanent
        ? { action: 'die', reason: outcome.reason, why: outcome.why ?? 'rejected' }
        : refused(outcome.reason, facts, random)
  }
}

function refused(reason: string, facts: AttemptFacts, random: number): Settlement {
  const attempts = facts.attempts + 1
  if (attempts >= facts.attemptsMax)
    return { action: 'die', reason: `gave up after ${counted(attempts, 'attempt')}: ${reason}`, why: 'attempts' }
  return { action: 'fail', waitMs: delayMs(attempts, random), reason }
}
