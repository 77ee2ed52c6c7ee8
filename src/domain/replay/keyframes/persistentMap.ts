// The entities of one map of a state, in order of first mention, shared between the states of many positions of one log.
// They lie in buckets; a bucket and an entity are copied when they are first changed after a frame was taken, so a frame
// is a list of bucket references and costs what changed since the one before. Which place an entity has follows from the
// log alone, so all positions share one index of keys.
import type { JsonObject } from '../../json/value.js'

const BUCKET_BITS = 8
const BUCKET = 1 << BUCKET_BITS
const MASK = BUCKET - 1

/** The place of each key, for all positions of a log. */
export class KeyIndex {
  readonly keys: string[] = []
  private readonly places = new Map<string, number>()

  placeOf(key: string): number | undefined {
    return this.places.get(key)
  }

  /** The place of a key that is mentioned for the first time at this position. */
  place(key: string, place: number): void {
    if (place === this.keys.length) {
      this.keys.push(key)
      this.places.set(key, place)
    } else if (this.keys[place] !== key) {
      throw new Error(`entity ${key} has another place than before; the log is not the one that was folded`)
    }
  }

  /** Forgets the keys from this place on: what was mentioned after a position that changed. */
  cut(size: number): void {
    for (const key of this.keys.splice(size)) this.places.delete(key)
  }
}

export interface MapFrame<T> {
  readonly buckets: readonly (readonly T[])[]
  readonly size: number
}

export interface Change<T> {
  key: string
  /** Undefined: it was not there. */
  before: T | undefined
  after: T
}

export class PersistentMap<T extends JsonObject> {
  private buckets: T[][]
  private ownBuckets = new Set<number>()
  private own = new Set<number>()
  private base: MapFrame<T>
  private count: number

  constructor(
    private readonly index: KeyIndex,
    base: MapFrame<T> | undefined,
  ) {
    this.base = base ?? { buckets: [], size: 0 }
    this.buckets = this.base.buckets.slice() as T[][]
    this.count = this.base.size
  }

  get size(): number {
    return this.count
  }

  /** The entity, to be changed: the fold asks for no other reason. */
  get(key: string): T | undefined {
    const place = this.index.placeOf(key)
    if (place === undefined || place >= this.count) return undefined
    if (this.own.has(place)) return this.at(place)
    const copy = copyOf(this.at(place))
    this.put(place, copy)
    return copy
  }

  set(key: string, entity: T): void {
    this.index.place(key, this.count)
    this.put(this.count, entity)
    this.count++
  }

  /** The entity, to be looked at. */
  peek(key: string): T | undefined {
    const place = this.index.placeOf(key)
    return place === undefined || place >= this.count ? undefined : this.at(place)
  }

  *[Symbol.iterator](): Generator<[string, T]> {
    for (let place = 0; place < this.count; place++) yield [this.index.keys[place]!, this.at(place)]
  }

  slice(from: number, count: number): [string, T][] {
    const found: [string, T][] = []
    for (let place = from; place < Math.min(this.count, from + count); place++) {
      found.push([this.index.keys[place]!, this.at(place)])
    }
    return found
  }

  /** What was changed since the last frame. */
  changes(): Change<T>[] {
    return Array.from(this.own, (place) => ({
      key: this.index.keys[place]!,
      before: place < this.base.size ? this.base.buckets[place >> BUCKET_BITS]![place & MASK] : undefined,
      after: this.at(place),
    }))
  }

  /** What is not the very same at another position: the key, what it is here, and what it is there. Shared buckets are not looked into. */
  differing(other: PersistentMap<T>): [key: string, here: T | undefined, there: T | undefined][] {
    const found: [string, T | undefined, T | undefined][] = []
    for (let number = 0; number < Math.max(this.buckets.length, other.buckets.length); number++) {
      if (this.buckets[number] === other.buckets[number]) continue
      const first = number << BUCKET_BITS
      for (let place = first; place < Math.min(first + BUCKET, Math.max(this.count, other.count)); place++) {
        const here = place < this.count ? this.at(place) : undefined
        const there = place < other.count ? other.at(place) : undefined
        if (here !== there) found.push([this.index.keys[place]!, here, there])
      }
    }
    return found
  }

  /** Fixes the state as it is now; what is changed from here on is copied first. Answers about how many bytes that costs. */
  seal(): { frame: MapFrame<T>; bytes: number } {
    const bytes = this.own.size * ENTITY_BYTES + this.ownBuckets.size * BUCKET * 8 + this.buckets.length * 8
    this.base = { buckets: this.buckets.slice(), size: this.count }
    this.own = new Set()
    this.ownBuckets = new Set()
    return { frame: this.base, bytes }
  }

  private at(place: number): T {
    return this.buckets[place >> BUCKET_BITS]![place & MASK]!
  }

  private put(place: number, entity: T): void {
    const number = place >> BUCKET_BITS
    if (!this.ownBuckets.has(number)) {
      this.buckets[number] = this.buckets[number]?.slice() ?? []
      this.ownBuckets.add(number)
    }
    this.buckets[number]![place & MASK] = entity
    this.own.add(place)
  }
}

/** Of a state with a quarter of a million entities, measured. */
const ENTITY_BYTES = 330

/** What the fold changes in place goes with it. */
function copyOf<T extends JsonObject>(entity: T): T {
  const copy: JsonObject = { ...entity }
  if (Array.isArray(copy['payload_refs'])) copy['payload_refs'] = copy['payload_refs'].slice()
  const { attributes } = copy
  if (typeof attributes === 'object' && attributes !== null && !Array.isArray(attributes)) {
    copy['attributes'] = { ...(attributes as JsonObject) }
  }
  return copy as T
}
