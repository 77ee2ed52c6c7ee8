// The newest span of each entity of a kind. Which place an entity has is known elsewhere: to keep every id of a log a
// second time would cost as much as its columns.
import { GrowingColumn } from './growingColumn.js'

export class NewestSpans {
  private spans = GrowingColumn.ofWhole()
  // Neighbouring events mostly speak of the same entity.
  private lastId: string | undefined
  private lastPlace = 0

  constructor(private readonly index: { placeOf(id: string): number | undefined }) {}

  /** Its number, from 1; 0 is none yet. */
  of(id: string): number {
    const place = this.find(id)
    return place < this.spans.length ? this.spans.get(place) : 0
  }

  set(id: string, span: number): void {
    const place = this.find(id)
    while (this.spans.length <= place) this.spans.push(0)
    this.spans.set(place, span)
  }

  clear(): void {
    this.spans = GrowingColumn.ofWhole()
    this.lastId = undefined
  }

  get bytes(): number {
    return this.spans.bytes
  }

  private find(id: string): number {
    if (id === this.lastId) return this.lastPlace
    const place = this.index.placeOf(id)
    if (place === undefined) throw new Error(`${id} has no place; the state must read an event before the tape does`)
    this.lastId = id
    this.lastPlace = place
    return place
  }
}
