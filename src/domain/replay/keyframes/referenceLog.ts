// Every payload reference of a log, in order: those of a position are the beginning of it. They are listed with the id of
// their event in the state; here the ids lie apart, because an object for each would be as large as all that it names.
import { integerValue, type JsonObject, type JsonValue } from '../../json/value.js'
import { GrowingIds } from '../../tape/growingIds.js'

export class ReferenceLog {
  private readonly ids = new GrowingIds()
  private readonly references: JsonValue[] = []

  get length(): number {
    return this.references.length
  }

  push({ event_id: id, reference }: JsonObject): void {
    this.ids.push(BigInt(id as number | bigint))
    this.references.push(reference!)
  }

  /** As the state lists it; null: there is none. */
  at(index: number): JsonObject | null {
    if (index < 0) return null
    return { event_id: integerValue(this.ids.at(index + 1)), reference: this.references[index]! }
  }

  /** Those before `from` are left out: their places are empty. */
  first(count: number, from = 0): JsonObject[] {
    const listed: JsonObject[] = new Array(Math.min(from, count))
    for (let index = from; index < count; index++) listed.push(this.at(index)!)
    return listed
  }

  cut(length: number): void {
    this.ids.cut(length)
    this.references.length = length
  }
}
