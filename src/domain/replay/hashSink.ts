// SHA-256 of a text that is handed over in pieces, so that the canonical text of a large state never
// exists as a whole. Canonical text is ASCII, which is what makes the cheap byte encoding correct.

import { createHash } from 'node:crypto'

// Large enough that the calls do not matter, small enough to stay in the processor's cache.
const CHUNK_CHARACTERS = 1 << 16

export class HashSink {
  private readonly hash = createHash('sha256')
  private pending = ''

  write(text: string): void {
    this.pending += text
    if (this.pending.length >= CHUNK_CHARACTERS) this.flush()
  }

  digest(): string {
    this.flush()
    return this.hash.digest('hex')
  }

  private flush(): void {
    this.hash.update(this.pending, 'latin1')
    this.pending = ''
  }
}
