// The order in which events reach the fold, and how often. Lists are sorted by event id, ties in input
// order. In `cp` every id gets through once, so that neither the order nor the repetition of deliveries
// can change a state.

import { CpError } from '../../errors.js'
import { canonicalJson } from '../json/canonical.js'
import { compareCodePoints } from '../json/codePoints.js'
import type { JsonObject } from '../json/value.js'
import { compareIntegers, type Integer, integerOf } from './coerce.js'
import type { FoldWarnings } from './warnings.js'

/** null when the event carries no usable id. */
export function eventIdOf(event: JsonObject): Integer | null {
  return integerOf(event['event_id']) ?? null
}

export function inIdOrder(events: readonly JsonObject[]): readonly JsonObject[] {
  if (isInIdOrder(events)) return events
  const keyed = events.map((event) => ({ event, id: eventIdOf(event) ?? 0 }))
  return keyed.sort((left, right) => compareIntegers(left.id, right.id)).map((entry) => entry.event)
}

function isInIdOrder(events: readonly JsonObject[]): boolean {
  let previous: Integer = Number.NEGATIVE_INFINITY
  for (let index = 0; index < events.length; index++) {
    const id = eventIdOf(events[index]!) ?? 0
    if (id < previous) return false
    previous = id
  }
  return true
}

// It holds one event back: if the next one has the same id but another content, which of the two counts
// must not depend on which came first.
export class UniqueIntake {
  private held: JsonObject | null = null
  private heldId: Integer = 0
  private isConflict = false
  private duplicates = 0

  constructor(
    private readonly apply: (event: JsonObject, id: Integer) => void,
    private readonly warnings: FoldWarnings,
    private readonly seededUpTo: Integer | null,
  ) {}

  add(event: JsonObject): void {
    const id = eventIdOf(event)
    if (id === null) {
      this.warnings.add('missing_event_id', null, null)
    } else if (this.seededUpTo !== null && id <= this.seededUpTo) {
      this.duplicates++
      this.warnings.add('below_seed', null, id)
    } else if (this.held !== null && id === this.heldId) {
      this.addAgain(event, this.held)
    } else if (this.held !== null && id < this.heldId) {
      throw new CpError('internal', `event ${id} was added after event ${this.heldId}; add events in id order`, {
        details: { event_id: String(id) },
      })
    } else {
      this.release()
      this.held = event
      this.heldId = id
    }
  }

  /** Lets the last event through and says how many were left out as already counted. */
  end(): number {
    this.release()
    return this.duplicates
  }

  private release(): void {
    if (this.held !== null) this.apply(this.held, this.heldId)
    this.held = null
    this.isConflict = false
  }

  private addAgain(event: JsonObject, held: JsonObject): void {
    this.duplicates++
    if (event === held) return
    const order = compareCodePoints(contentOf(event), contentOf(held))
    if (order === 0) return
    if (!this.isConflict) this.warnings.add('conflicting_duplicate', null, this.heldId)
    this.isConflict = true
    if (order < 0) this.held = event
  }
}

const FOLDED_FIELDS = [
  ...['event_type', 'status', 'node_name', 'meta', 'result', 'payload_ref', 'stage_id', 'frame_id'],
  ...['command_id', 'worker_id', 'aggregate_type', 'aggregate_id'],
]

/** Only what the fold reads: copies may differ in when they were stored. */
function contentOf(event: JsonObject): string {
  return canonicalJson(FOLDED_FIELDS.map((field) => event[field] ?? null))
}
