// Thousands of rows, statement by statement.
import type { NumberedEvent } from '../../stores/events/eventStore.js'

const SLICE_ROWS = 1_000
const SLICE_CHARACTERS = 2_000_000

/** One statement for all, unless making its text would hold up everybody else. */
export async function inSlices<T>(
  list: readonly T[],
  rowOf: (item: T) => NumberedEvent,
  insert: (slice: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < list.length; ) {
    let end = start
    let characters = 0
    for (; end < list.length && end - start < SLICE_ROWS && characters < SLICE_CHARACTERS; end++) {
      const { context, result, meta } = rowOf(list[end]!).parts
      characters += (context?.length ?? 0) + (result?.length ?? 0) + (meta?.length ?? 0)
    }
    await insert(start === 0 && end === list.length ? list : list.slice(start, end))
    start = end
  }
}
