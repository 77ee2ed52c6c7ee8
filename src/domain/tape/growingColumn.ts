// A column of whole numbers that grows at its end and can be cut there.

const FIRST = 1_024

export class GrowingColumn {
  private values = new Uint32Array(FIRST)
  length = 0

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Uint32Array(this.values.length * 2)
      larger.set(this.values)
      this.values = larger
    }
    this.values[this.length++] = value
  }

  get(index: number): number {
    return this.values[index]!
  }

  set(index: number, value: number): void {
    this.values[index] = value
  }

  cut(length: number): void {
    this.length = Math.min(this.length, length)
  }

  /** A look at it, good until it changes. */
  slice(from: number, to: number): Uint32Array {
    return this.values.subarray(from, to)
  }

  get bytes(): number {
    return this.values.byteLength
  }
}
