// What bounds a relay, and what it reports while it works. Shared by the relay and its parts.

import type { PublishOutcome } from '../../../bus/publisher.js'
import type { DeathCause } from '../../../domain/outbox/outcome.js'
import type { CpError } from '../../../errors.js'

export interface RelayLimits {
  /** Acknowledgements outstanding. */
  window: number
  /** Rows in memory. */
  bufferMax: number
  page: number
  leaseMs: number
  idleMs: number
  attemptsMax: number
  /** What a dead row does to the later rows of its execution. */
  deadPolicy: 'release' | 'hold'
  ackTimeoutMs: number
}

export interface RelayHooks {
  onPublished(duplicate: boolean, seconds: number): void
  onOutcome(kind: PublishOutcome['kind']): void
  onDead(reason: string, why: DeathCause): void
  /** Marks that changed nothing because the lanes had gone to somebody else. */
  onFenced(count: number): void
  onTakenOver(lanes: number): void
  onPossibleDuplicate(): void
  /** Nothing can be published now; called once until something is published again. */
  onPaused(reason: string): void
  onError(error: CpError): void
}
