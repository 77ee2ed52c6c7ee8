// The ids of a log's events, in order: which place an id has, and which id a place.

const FIRST = 1_024

export class GrowingIds {
  private values = new BigInt64Array(FIRST)
  length = 0

  push(id: bigint): void {
    if (this.length === this.values.length) {
      const larger = new BigInt64Array(this.values.length * 2)
      larger.set(this.values)
      this.values = larger
    }
    this.values[this.length++] = id
  }

  /** Of a place, from 1. */
  at(place: number): bigint {
    return this.values[place - 1]!
  }

  /** How many ids are not above this one. */
  upTo(id: bigint): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.values[middle]! <= id) low = middle + 1
      else high = middle
    }
    return low
  }

  has(id: bigint): boolean {
    const place = this.upTo(id)
    return place > 0 && this.at(place) === id
  }

  cut(length: number): void {
    this.length = Math.min(this.length, length)
  }
}
