// A column of numbers that grows at its end and can be cut there. It takes as many bytes for each as the largest of them
// needs: most columns of a tape are numbers of a few names.

const FIRST = 1_024

type Values = Uint8Array | Uint16Array | Uint32Array | Float64Array

const WIDER = [
  { most: 0xff, Values: Uint8Array },
  { most: 0xffff, Values: Uint16Array },
  { most: 0xffff_ffff, Values: Uint32Array },
] as const

export class GrowingColumn {
  length = 0

  private constructor(
    private values: Values,
    private most: number,
  ) {}

  /** Of whole numbers from 0 to below 2^32. */
  static ofWhole(): GrowingColumn {
    return new GrowingColumn(new Uint8Array(FIRST), WIDER[0].most)
  }

  static ofFloats(): GrowingColumn {
    return new GrowingColumn(new Float64Array(FIRST), Number.POSITIVE_INFINITY)
  }

  push(value: number): void {
    if (value > this.most) this.widen(value)
    if (this.length === this.values.length) {
      const larger = new (this.values.constructor as new (length: number) => Values)(this.values.length * 2)
      larger.set(this.values)
      this.values = larger
    }
    this.values[this.length++] = value
  }

  get(index: number): number {
    return this.values[index]!
  }

  set(index: number, value: number): void {
    if (value > this.most) this.widen(value)
    this.values[index] = value
  }

  cut(length: number): void {
    this.length = Math.min(this.length, length)
  }

  /** A look at it, good until it changes. */
  slice(from: number, to: number): Values {
    return this.values.subarray(from, to)
  }

  get bytes(): number {
    return this.values.byteLength
  }

  private widen(value: number): void {
    const width = WIDER.find(({ most }) => value <= most) ?? WIDER[2]
    const wider = new width.Values(this.values.length)
    wider.set(this.values.subarray(0, this.length))
    this.values = wider
    this.most = width.most
  }
}
