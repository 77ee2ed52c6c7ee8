// A column of numbers that grows at its end and can be cut there. It lies in blocks: one long array would have to be
// copied into a larger one again and again, and what it was before stays in memory until somebody collects it. A block
// takes as many bytes for each number as the largest of its own needs: most are numbers of a few names.

const BITS = 13
const BLOCK = 1 << BITS
const MASK = BLOCK - 1
/** Most logs are short: their only block grows. */
const FIRST = 512

type Values = Uint8Array | Uint16Array | Uint32Array | Float64Array
type ValuesOf = new (length: number) => Values

/** The largest number that fits, by the bytes of each. */
const MOST = { 1: 0xff, 2: 0xffff, 4: 0xffff_ffff, 8: Number.POSITIVE_INFINITY } as Readonly<Record<number, number>>

export class GrowingColumn {
  length = 0
  private readonly blocks: Values[] = []
  // Of the last block, where every event writes: itself, the largest number that fits, the index where it is full.
  private last!: Values
  private most = 0
  private end = 0

  private constructor(private readonly First: ValuesOf) {
    this.place(0, new First(FIRST))
  }

  /** Of whole numbers from 0 to below 2^32. */
  static ofWhole(): GrowingColumn {
    return new GrowingColumn(Uint8Array)
  }

  static ofFloats(): GrowingColumn {
    return new GrowingColumn(Float64Array)
  }

  push(value: number): void {
    if (this.length === this.end) this.makeRoom()
    if (value > this.most) this.widen(this.blocks.length - 1, value)
    this.last[this.length++ & MASK] = value
  }

  get(index: number): number {
    return this.blocks[index >> BITS]![index & MASK]!
  }

  set(index: number, value: number): void {
    const number = index >> BITS
    if (value > MOST[this.blocks[number]!.BYTES_PER_ELEMENT]!) this.widen(number, value)
    this.blocks[number]![index & MASK] = value
  }

  cut(length: number): void {
    this.length = Math.min(this.length, length)
    this.blocks.length = Math.max(1, Math.ceil(this.length / BLOCK))
    this.place(this.blocks.length - 1, this.blocks.at(-1)!)
  }

  /** How many bytes the widest of them takes, from one index to before another. */
  width(from: number, to: number): number {
    let width = 1
    for (let number = from >> BITS; number << BITS < to; number++) {
      width = Math.max(width, this.blocks[number]!.BYTES_PER_ELEMENT)
    }
    return width
  }

  /** Those from one index to before another. */
  copy(into: Values, from: number, to: number): void {
    for (let index = from; index < to; index = ((index >> BITS) + 1) << BITS) {
      const start = index & MASK
      into.set(this.blocks[index >> BITS]!.subarray(start, start + to - index), index - from)
    }
  }

  get bytes(): number {
    return this.blocks.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  private makeRoom(): void {
    const { last, blocks } = this
    if (last.length === BLOCK) this.place(blocks.length, new this.First(BLOCK))
    else this.replace(blocks.length - 1, last.constructor as ValuesOf, last.length * 2)
  }

  private widen(number: number, value: number): void {
    this.replace(number, value <= MOST[2]! ? Uint16Array : Uint32Array, this.blocks[number]!.length)
  }

  private replace(number: number, Wider: ValuesOf, length: number): void {
    const block = new Wider(length)
    block.set(this.blocks[number]!)
    this.place(number, block)
  }

  private place(number: number, block: Values): void {
    this.blocks[number] = block
    if (number < this.blocks.length - 1) return
    this.last = block
    this.most = MOST[block.BYTES_PER_ELEMENT]!
    this.end = number * BLOCK + block.length
  }
}
