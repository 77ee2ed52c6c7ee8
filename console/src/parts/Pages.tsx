// The way through a list that is read page by page; where it stands is in the address.
import { ask } from '../lib/router'

export function Pages({ cursor, next }: { cursor: string | undefined; next: string | undefined }) {
  return (
    <nav class="pages" aria-label="Pages">
      {cursor !== undefined && (
        <button type="button" onClick={() => ask({ cursor: undefined })}>
          From the start
        </button>
      )}
      {next !== undefined && (
        <button type="button" onClick={() => ask({ cursor: next })}>
          More
        </button>
      )}
    </nav>
  )
}
