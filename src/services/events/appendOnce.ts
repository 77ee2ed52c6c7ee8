// Appends for requests with an Idempotency-Key: the same key and execution again is answered with the events of the
// first one. Key and events commit together; a request that stored nothing leaves no key behind.
import { toCpError } from '../../errors.js'
import { findEventRequest, insertEventRequest } from '../../stores/events/eventRequestStore.js'
import type { Appender } from './appender.js'
import type { AppendItem, AppendOutcome } from './appendInTx.js'

/** All items are of one execution. */
export async function appendOnce(
  appender: Appender,
  items: readonly AppendItem[],
  key: string,
): Promise<AppendOutcome[]> {
  const [first] = items
  if (first === undefined) return []
  const { executionId } = first.event
  const attempt = (): Promise<AppendOutcome[]> =>
    appender.appendWith(executionId, async (tx, append) => {
      const stored = await findEventRequest(tx, executionId, key)
      if (stored !== undefined) return stored.map(repetition)
      const outcomes = await append(items)
      if (outcomes.some(({ kind }) => kind === 'stored')) {
        await insertEventRequest(
          tx,
          executionId,
          key,
          outcomes.map((outcome) => ('eventId' in outcome ? outcome.eventId : '0')),
        )
      }
      return outcomes
    })
  try {
    return await attempt()
  } catch (error) {
    // Its twin was faster by a moment; the second look finds what that one stored.
    if (toCpError(error).code !== 'conflict') throw error
    return attempt()
  }
}

function repetition(eventId: string): AppendOutcome {
  return { kind: 'duplicate', eventId, streamVersion: undefined, executionStatus: undefined }
}
