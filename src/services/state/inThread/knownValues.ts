// Values that decisions asked for, as this thread has read them. They never change, and a loop over a long list asks for it
// with every item, so they are remembered for a while.
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonValue } from '../../../domain/json/value.js'
import type { FetchedValues } from '../../../domain/state/orchestrator.js'
import { LruMap } from '../../../runtime/lruMap.js'

/** As JSON text; undefined: it can never be had. */
export type FetchedTexts = readonly (readonly [ref: string, text: string | undefined])[]

/** Of their text; what was read from it takes a few times as much. */
const REMEMBERED = { entriesMax: 1_000, weightMax: 16 * 1_048_576 }

export class KnownValues {
  private readonly known = new LruMap<string, JsonValue>(REMEMBERED)

  /** Those that were just fetched, and those that are still known. */
  with(fetched: FetchedTexts): FetchedValues {
    const given = new Map(fetched.map(([ref, text]) => [ref, text === undefined ? undefined : this.read(ref, text)]))
    return {
      has: (ref) => given.has(ref) || this.known.get(ref) !== undefined,
      get: (ref) => (given.has(ref) ? given.get(ref) : this.known.get(ref)),
    }
  }

  private read(ref: string, text: string): JsonValue {
    const before = this.known.get(ref)
    if (before !== undefined) return before
    const value = parseJson(text)
    this.known.set(ref, value, text.length)
    return value
  }
}
