// The smallest parts of what a fold remembers.

import type { WireTime } from '../events/wireTime.js'

/** Canonical JSON text of a value. */
export type PayloadText = string

/** An event that told something, and when it was written. */
export interface Fact {
  id: string
  at: WireTime
}
