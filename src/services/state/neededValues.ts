// Values that a decision needs and the log does not hold: results that are too large for an event. They are fetched while
// the thread goes on with other executions; then the same question is asked again.
import { CpError } from '../../errors.js'

/** As JSON text; undefined says that it can never be had. Anything that may pass (a store that is away) is thrown. */
export type FetchValues = (
  executionId: string,
  refs: readonly string[],
) => Promise<readonly (readonly [ref: string, text: string | undefined])[]>

export interface NeededValues {
  readonly fetched: readonly (readonly [ref: string, text: string | undefined])[]
  fetch(refs: readonly string[]): Promise<void>
}

const ROUNDS_MAX = 10

export function createNeededValues(executionId: string, fetch: FetchValues): NeededValues {
  const known = new Map<string, string | undefined>()
  let rounds = 0
  return {
    get fetched() {
      return [...known]
    },
    fetch: async (refs) => {
      rounds += 1
      if (rounds > ROUNDS_MAX) {
        throw new CpError(
          'overloaded',
          `a decision for execution ${executionId} needs more than ${ROUNDS_MAX} rounds of values`,
        )
      }
      for (const [ref, text] of await fetch(executionId, refs)) known.set(ref, text)
      // What nobody answered for would be asked for again without end.
      for (const ref of refs) if (!known.has(ref)) known.set(ref, undefined)
    },
  }
}
