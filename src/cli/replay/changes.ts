// Differences between two states as JSON and as a table.
import { canonicalJson } from '../../domain/json/canonical.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import type { Difference } from '../../domain/replay/diff.js'
import { type Block, type Cell, type ToneCell, toned } from '../output.js'

const VALUE_MAX = 60

/** For a moment that is younger than a write that has not ended. */
export const MAY_CHANGE =
  'may change: that time is not over, or a transaction from before it is still writing; ask again later'

export function differenceJson(difference: Difference): JsonObject {
  return { ...difference }
}

export function differenceTable(differences: readonly JsonObject[], title: string): Block {
  return {
    kind: 'table',
    title,
    columns: ['place', 'change', 'from', 'to'],
    isProse: true,
    rows: differences.map(differenceRow),
    empty: 'nothing changed',
  }
}

function differenceRow(difference: JsonObject): (Cell | ToneCell)[] {
  const kind = String(difference['kind'])
  const tone = kind === 'added' ? 'good' : kind === 'removed' ? 'bad' : 'warn'
  return [
    String(difference['pointer']),
    toned(kind, tone),
    shortValue(difference['from']),
    shortValue(difference['to']),
  ]
}

export function shortValue(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  const text = canonicalJson(value)
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text
}
