// Where the canonical texts of a state and of its rows go. The row of an entity is the text of the entity
// with parts left out, so an entity is written in four pieces of which the second and fourth make the row.

import { createHash } from 'node:crypto'

export interface TextSink {
  write(text: string): void
}

export interface EntitySink {
  /** The row begins with `{` whatever the first character of `kept` is. */
  entity(omitted: string, kept: string, omittedToo: string, keptToo: string): void
}

// Large enough that the calls do not matter, small enough to stay in the processor's cache.
const CHUNK_CHARACTERS = 1 << 16
const BRACE = 0x7b
const COMMA = 0x2c

/** SHA-256 of ASCII text that never exists as a whole. */
export class HashSink implements TextSink {
  private readonly hash = createHash('sha256')
  private buffer = Buffer.allocUnsafe(2 * CHUNK_CHARACTERS)
  private pending = ''
  /** Rows that take their bytes out of ours, as pairs of start and end in the pending text. */
  private readonly cuts: number[] = []
  private rows: RowSink | null = null

  /** `kept` gets a copy of every byte that is hashed. */
  constructor(
    private readonly kept: Buffer[] | null = null,
    private readonly onChunk?: () => void,
  ) {}

  /** Until the next call, every entity written here hands its row to these rows. */
  shareWith(rows: RowSink | null): void {
    this.flush()
    this.rows = rows
  }

  write(text: string): void {
    this.pending += text
    if (this.pending.length >= CHUNK_CHARACTERS) this.flush()
  }

  entity(omitted: string, kept: string, omittedToo: string, keptToo: string): void {
    if (this.rows !== null) {
      const first = this.pending.length + omitted.length
      const second = first + kept.length + omittedToo.length
      this.cuts.push(first, first + kept.length, second, second + keptToo.length)
    }
    this.write(omitted + kept + omittedToo + keptToo)
  }

  digest(): string {
    this.flush()
    return this.hash.digest('hex')
  }

  flush(): void {
    const { pending, cuts, rows } = this
    if (pending === '') return
    if (rows !== null) {
      this.take(rows.cutRows(pending, cuts))
      cuts.length = 0
    } else {
      if (this.buffer.length < pending.length) this.buffer = Buffer.allocUnsafe(pending.length)
      this.take(this.buffer.subarray(0, this.buffer.write(pending, 'latin1')))
    }
    this.pending = ''
  }

  private take(bytes: Buffer): void {
    this.hash.update(bytes)
    if (this.kept !== null) this.kept.push(Buffer.from(bytes))
    this.onChunk?.()
  }
}

/** SHA-256 of the rows of one surface, wrapped as `{"name":[row,row]}`. */
export class RowSink implements EntitySink {
  private readonly hash = createHash('sha256')
  private buffer = Buffer.allocUnsafe(6 * CHUNK_CHARACTERS)
  private position = 0
  private hasRows = false

  constructor(wrap: string) {
    this.append(`{"${wrap}":[`)
  }

  row(text: string): void {
    this.separate()
    this.append(text)
  }

  entity(_omitted: string, kept: string, _omittedToo: string, keptToo: string): void {
    this.row(`{${kept.slice(1)}${keptToo}`)
  }

  /**
   * Rows as parts of a longer text: four numbers each, the bounds of its two parts. Returns the bytes of
   * the text. They stand behind the rows in the same buffer, where copying is cheapest.
   */
  cutRows(text: string, cuts: readonly number[]): Buffer {
    // The rows cannot become longer than the text they are cut from.
    this.reserve(2 * text.length)
    const { buffer } = this
    const base = buffer.length - text.length
    buffer.write(text, base, 'latin1')
    let at = this.position
    for (let index = 0; index < cuts.length; index += 4) {
      if (this.hasRows) buffer[at++] = COMMA
      this.hasRows = true
      const [first, firstEnd, second, secondEnd] = [cuts[index]!, cuts[index + 1]!, cuts[index + 2]!, cuts[index + 3]!]
      buffer.copyWithin(at, base + first, base + firstEnd)
      buffer[at] = BRACE
      at += firstEnd - first
      if (secondEnd > second) buffer.copyWithin(at, base + second, base + secondEnd)
      at += secondEnd - second
    }
    this.position = at
    return buffer.subarray(base)
  }

  digest(): string {
    this.append(']}')
    this.flush()
    return this.hash.digest('hex')
  }

  private separate(): void {
    this.reserve(1)
    if (this.hasRows) this.buffer[this.position++] = COMMA
    this.hasRows = true
  }

  private append(text: string): void {
    this.reserve(text.length)
    this.position += this.buffer.write(text, this.position, 'latin1')
  }

  private reserve(count: number): void {
    if (this.position + count <= this.buffer.length) return
    this.flush()
    if (count > this.buffer.length) this.buffer = Buffer.allocUnsafe(count)
  }

  private flush(): void {
    this.hash.update(this.buffer.subarray(0, this.position))
    this.position = 0
  }
}
