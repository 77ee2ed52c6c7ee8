// A map for what comes and goes all the time. V8 links the table of a Map to the one that replaces it: once a table has
// become old it keeps, though dead, all that follow and what they held, until everything is collected. That made garbage of
// a moment's work last for seconds and every small collection long. Here tables hold boxes, which are emptied when an entry goes.

interface Box<V> {
  value: V | undefined
}

export class PassingMap<K, V> {
  private readonly boxes = new Map<K, Box<V>>()

  get size(): number {
    return this.boxes.size
  }

  has(key: K): boolean {
    return this.boxes.has(key)
  }

  get(key: K): V | undefined {
    return this.boxes.get(key)?.value
  }

  /** As in a Map, an entry that is set again keeps its place. */
  set(key: K, value: V): void {
    const box = this.boxes.get(key)
    if (box === undefined) this.boxes.set(key, { value })
    else box.value = value
  }

  delete(key: K): boolean {
    const box = this.boxes.get(key)
    if (box === undefined) return false
    box.value = undefined
    return this.boxes.delete(key)
  }

  /** In the order in which they were set. */
  keys(): IterableIterator<K> {
    return this.boxes.keys()
  }

  *values(): IterableIterator<V> {
    for (const { value } of this.boxes.values()) yield value as V
  }

  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, { value }] of this.boxes) yield [key, value as V]
  }
}
