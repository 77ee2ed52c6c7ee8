// A map that forgets what was used longest ago once it holds too many entries or too much weight.
import { PassingMap } from './passingMap.js'

export interface LruLimits {
  entriesMax: number
  weightMax?: number
}

export class LruMap<K, V> {
  // A Map keeps the order of insertion: the first is the one used longest ago.
  private readonly entries = new PassingMap<K, { value: V; weight: number }>()
  private total = 0

  private readonly limits: Required<LruLimits>

  constructor({ entriesMax, weightMax = Number.POSITIVE_INFINITY }: LruLimits) {
    this.limits = { entriesMax, weightMax }
  }

  get(key: K): V | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.entries.delete(key)
    this.entries.set(key, entry)
    return entry.value
  }

  /** Something heavier than everything may be together is not kept at all. */
  set(key: K, value: V, weight = 1): void {
    this.delete(key)
    if (weight > this.limits.weightMax) return
    this.entries.set(key, { value, weight })
    this.total += weight
    while (this.entries.size > this.limits.entriesMax || this.total > this.limits.weightMax) {
      this.delete(this.entries.keys().next().value as K)
    }
  }

  delete(key: K): void {
    const entry = this.entries.get(key)
    if (entry === undefined) return
    this.entries.delete(key)
    this.total -= entry.weight
  }

  get size(): number {
    return this.entries.size
  }

  get weight(): number {
    return this.total
  }
}
