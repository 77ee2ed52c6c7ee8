// Gathers a stream into batches: full ones while input is plenty; when it comes slowly, a batch ends after 50 ms
// without a new item, so that a person who types gets an answer at once.

const LINGER_MS = 50

export async function* inBatches<T>(source: AsyncIterable<T>, sizeMax: number): AsyncIterable<T[]> {
  const items = source[Symbol.asyncIterator]()
  const take = (): Promise<IteratorResult<T>> => {
    const taken = items.next()
    // It may fail while a batch is being written; it is told when we come back for it.
    taken.catch(() => undefined)
    return taken
  }
  let next = take()
  let batch: T[] = []
  for (;;) {
    const item = batch.length === 0 ? await next : await soon(next)
    if (item === undefined || item.done === true) {
      if (batch.length > 0) yield batch
      batch = []
      if (item !== undefined) return
      continue
    }
    batch.push(item.value)
    next = take()
    if (batch.length >= sizeMax) {
      yield batch
      batch = []
    }
  }
}

/** Undefined when it takes too long. */
async function soon<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LINGER_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
