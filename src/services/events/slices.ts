// Writes many rows with several statements, each of at most 1,000 rows and about 2 million characters.
import type { NumberedEvent } from '../../stores/events/eventStore.js'

const SLICE_ROWS = 1_000
const SLICE_CHARACTERS = 2_000_000

/** One for all, unless making the text of its statement would hold up everybody else. */
export function slicesOf<T>(list: readonly T[], rowOf: (item: T) => NumberedEvent): (readonly T[])[] {
  const slices: (readonly T[])[] = []
  for (let start = 0; start < list.length; ) {
    let end = start
    let characters = 0
    for (; end < list.length && end - start < SLICE_ROWS && characters < SLICE_CHARACTERS; end++) {
      const { context, result, meta } = rowOf(list[end]!).parts
      characters += (context?.length ?? 0) + (result?.length ?? 0) + (meta?.length ?? 0)
    }
    slices.push(start === 0 && end === list.length ? list : list.slice(start, end))
    start = end
  }
  return slices
}

/** The first is sent at once, each further one when the one before was answered. */
export async function oneByOne<T>(slices: readonly T[], send: (slice: T) => Promise<void>): Promise<void> {
  for (const slice of slices) await send(slice)
}
