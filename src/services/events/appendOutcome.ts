// What is offered to the event log, and what became of it.
import type { ClaimRefusal, IgnoredReason } from '../../domain/commands/commandRules.js'
import type { EventRecord, OwnedEvent } from '../../domain/events/eventRecord.js'
import type { EventSecrets } from '../../domain/secrets/eventSecrets.js'
import type { ClaimedRow } from './commandBook.js'

export interface AppendItem {
  event: EventRecord
  /** The id came from outside, so the event may be there already. */
  idGiven: boolean
  /** Own events get an outbox row; projected ones came from the stream and must not echo. */
  publish: boolean
  /** Projected events may arrive before the start of their execution. */
  createExecution: boolean
  /** An import restores what was, whoever's it is called there. */
  restores?: boolean | undefined
  /** The log of a subscription is not for everybody: refuse to write into it. */
  onlyExecutions?: boolean | undefined
  /** Catalog path of a start event, for the read model. */
  path?: string | undefined
  /** W3C trace context as JSON text. */
  trace?: string | undefined
  /** Of a claim: how long it lasts. */
  leaseSeconds?: number | undefined
}

export type AppendOutcome =
  | {
      kind: 'stored'
      eventId: string
      streamVersion: string
      executionStatus: string
      isHidden?: true
      /** The event claims this command. */
      claim?: ClaimedRow
    }
  | { kind: 'duplicate'; eventId: string; streamVersion: string | undefined; executionStatus: string | undefined }
  /** The same id with other content. */
  | { kind: 'conflict'; eventId: string }
  /** The command is claimed: by this worker (`own`) or by another. */
  | { kind: 'claimed'; eventId: string; own: boolean; workerId: string | undefined; claim?: ClaimedRow }
  /** A claim of one of our commands that is not to be had. */
  | Unclaimable
  /** An answer that comes too late, or from somebody who does not hold the command. Not stored. */
  | { kind: 'ignored'; eventId: string; reason: IgnoredReason }
  | { kind: 'unknownExecution'; executionId: string }
  /** Well formed, but not for this execution. */
  | { kind: 'refused'; eventId: string; reason: string }

export interface Unclaimable {
  kind: 'unclaimable'
  eventId: string
  code: ClaimRefusal
  workerId: string | undefined
  /** 0: never. */
  retryAfterSeconds: number
}

export interface AppendContext {
  subjectOf(event: OwnedEvent): string
  /** An id greater than the one given, whichever clock or layout that one came from. */
  mintAbove(floor: bigint): string
  /** Every way into the log hides secrets first and has them sealed when the event is written. */
  secrets: EventSecrets
}
