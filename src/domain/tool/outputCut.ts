// Keeps the beginning and the end of an output that may be endless, within a bound, and says how much is missing.

export const OUTPUT_BYTES_MAX = 64 * 1024

export class OutputCut {
  private readonly headMax: number
  private readonly tailMax: number
  private head: Buffer[] = []
  private headBytes = 0
  private tail: Buffer[] = []
  private tailBytes = 0
  private cutBytes = 0

  constructor(bytesMax: number = OUTPUT_BYTES_MAX) {
    this.headMax = bytesMax >> 1
    this.tailMax = bytesMax - this.headMax
  }

  add(chunk: Buffer): void {
    const fits = Math.min(chunk.length, this.headMax - this.headBytes)
    if (fits > 0) {
      this.head.push(chunk.subarray(0, fits))
      this.headBytes += fits
    }
    if (fits < chunk.length) this.addToTail(chunk.subarray(Math.max(0, fits)))
  }

  private addToTail(chunk: Buffer): void {
    this.tail.push(chunk)
    this.tailBytes += chunk.length
    while (this.tailBytes > this.tailMax) {
      const first = this.tail[0] as Buffer
      const surplus = Math.min(first.length, this.tailBytes - this.tailMax)
      if (surplus === first.length) this.tail.shift()
      else this.tail[0] = first.subarray(surplus)
      this.tailBytes -= surplus
      this.cutBytes += surplus
    }
  }

  text(): string {
    const head = Buffer.concat(this.head)
    const tail = Buffer.concat(this.tail)
    if (this.cutBytes === 0) return Buffer.concat([head, tail]).toString('utf8')
    // A cut may fall inside of a character; its halves are left out.
    const before = head.toString('utf8').replace(/\ufffd$/, '')
    const after = tail.toString('utf8').replace(/^\ufffd+/, '')
    return `${before}${cutNote(this.cutBytes)}${after}`
  }
}

/** The same for a text that is there as a whole. */
export function cutText(text: string, bytesMax: number = OUTPUT_BYTES_MAX): string {
  if (text.length * 3 <= bytesMax) return text
  const cut = new OutputCut(bytesMax)
  cut.add(Buffer.from(text))
  return cut.text()
}

function cutNote(bytes: number): string {
  return `\n[… ${bytes} bytes of output left out here …]\n`
}
