// SHA-256 of canonical text that is written in pieces, so that the text of a large state never exists as
// a whole. Pieces stay together until the next rest, so that parts of them can be copied.

import { createHash } from 'node:crypto'
import { CanonicalWriter } from '../json/canonicalWriter.js'

// Large enough that the calls do not matter, small enough to stay in the processor's cache.
const CHUNK_BYTES = 1 << 16

export class HashSink extends CanonicalWriter {
  private readonly hash = createHash('sha256')

  constructor() {
    super(2 * CHUNK_BYTES)
  }

  override rest(): void {
    if (this.position >= CHUNK_BYTES) this.flush()
  }

  digest(): string {
    this.flush()
    return this.hash.digest('hex')
  }

  private flush(): void {
    this.hash.update(this.written())
    this.reset()
  }
}
