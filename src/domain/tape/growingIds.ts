// The ids of a log's events, in order: which place an id has, and which id a place. They lie in blocks, as columns do.

const BITS = 10
const BLOCK = 1 << BITS
const MASK = BLOCK - 1

export class GrowingIds {
  length = 0
  private readonly blocks: BigInt64Array[] = []

  push(id: bigint): void {
    if (this.length === this.blocks.length * BLOCK) this.blocks.push(new BigInt64Array(BLOCK))
    this.blocks[this.length >> BITS]![this.length & MASK] = id
    this.length++
  }

  /** Of a place, from 1. */
  at(place: number): bigint {
    return this.blocks[(place - 1) >> BITS]![(place - 1) & MASK]!
  }

  get bytes(): number {
    return this.blocks.length * BLOCK * 8
  }

  /** How many ids are not above this one. */
  upTo(id: bigint): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.at(middle + 1) <= id) low = middle + 1
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
    this.blocks.length = Math.ceil(this.length / BLOCK)
  }
}
