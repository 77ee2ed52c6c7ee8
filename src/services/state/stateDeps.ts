// What live states need of their daemon, and what they tell it.
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import type { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { AdvanceOutput, ResidentThreads } from '../../workers/resident.js'
import type { HandOver } from '../commands/handOver.js'
import type { Appender } from '../events/appender.js'
import type { Ids } from '../ids/ids.js'
import type { Membership } from '../leases/membership.js'
import type { DecisionOutcome } from './decisions.js'
import type { StorePart } from './largeParts.js'
import type { FetchValues } from './neededValues.js'

export interface StateHooks {
  onAdvanced(applied: number, seconds: number): void
  onFailed(error: CpError): void
  onCoalesced(): void
  onEvicted(reason: 'bound' | 'ended' | 'stopped'): void
  onTally(tally: AdvanceOutput['tally']): void
  /** The seconds are those since the round began. */
  onDecision(outcome: DecisionOutcome, seconds: number): void
  /** A decision that was written asks for playbooks to be started. */
  onChildren(): void
  /** Commands were issued that wait for claims, in these pools. */
  onIssued(shard: number, pools: readonly string[]): void
  onTakenOver(lanes: number): void
  onError(error: CpError): void
}

export interface StateDeps {
  databases: Databases
  clock: Clock
  random: () => number
  threads: ResidentThreads
  hooks: StateHooks
  /** Undefined: states can be looked at, but nothing is driven. */
  driving: Driving | undefined
  /** Values that decisions need and the log does not hold. */
  fetch: FetchValues
}

export interface Driving {
  appender: Appender
  ids: Pick<Ids, 'next'>
  membershipOf(db: Db): Membership
  leaseMs: number
  /** Where parts of decisions go that are too large for the log. */
  store: StorePart
  /** Commands for workers that wait in this process; undefined: all of them are claimed later. */
  handOver?: HandOver | undefined
  /** How long an append may wait for what follows from it. */
  patienceMs?: number | undefined
}
