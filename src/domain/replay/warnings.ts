// What a lenient fold noticed but did not fail on. Warnings are counted per kind and field, with the
// first event ids, so that somebody can look; they stay outside the hashed state. The collector is
// bounded: a log full of mistakes costs no more memory than a log with one.

import type { Integer } from './coerce.js'

export type WarningKind =
  | 'unreadable_value' // a counter, version, total or attempt that is not an integer; the former value stays
  | 'missing_event_id' // an event without a usable id: left out, because it has no place in the order
  | 'conflicting_duplicate' // two events with one id and different content: one of them counts
  | 'below_seed' // an event that the seed state already covers: left out

export interface FoldWarning {
  kind: WarningKind
  field: string | null
  count: number
  /** Decimal texts, lowest ids first. */
  firstEventIds: string[]
}

export interface UnknownType {
  eventType: string
  count: number
  firstEventId: string | null
}

const FIRST_IDS_MAX = 5
const UNKNOWN_TYPES_MAX = 100

export class FoldWarnings {
  private readonly byKey = new Map<string, FoldWarning>()
  private readonly types = new Map<string, UnknownType>()
  unknownCount = 0

  add(kind: WarningKind, field: string | null, eventId: Integer | null): void {
    const key = `${kind}/${field ?? ''}`
    let warning = this.byKey.get(key)
    if (warning === undefined) {
      warning = { kind, field, count: 0, firstEventIds: [] }
      this.byKey.set(key, warning)
    }
    warning.count++
    if (eventId !== null && warning.firstEventIds.length < FIRST_IDS_MAX) warning.firstEventIds.push(String(eventId))
  }

  addUnknownType(eventType: string, eventId: Integer | null): void {
    this.unknownCount++
    const known = this.types.get(eventType)
    if (known !== undefined) {
      known.count++
    } else if (this.types.size < UNKNOWN_TYPES_MAX) {
      this.types.set(eventType, { eventType, count: 1, firstEventId: eventId === null ? null : String(eventId) })
    }
  }

  list(): FoldWarning[] {
    return Array.from(this.byKey.values())
  }

  unknownTypes(): UnknownType[] {
    return Array.from(this.types.values())
  }
}
