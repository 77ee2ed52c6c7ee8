// The two messages of a command as one outcome.
import type { PublishOutcome } from '../../../bus/publisher.js'

/**
 * A command is done with when both have an answer, the event and what workers are told. A notice that is refused is no reason to
 * hold up the log: the command is told of again while nobody takes it.
 */
export function bothOutcomes(
  settle: (outcome: PublishOutcome) => void,
): Record<'first' | 'second', (o: PublishOutcome) => void> {
  let event: PublishOutcome | undefined
  let notice: PublishOutcome | undefined
  const look = (): void => {
    if (event === undefined || notice === undefined) return
    const isTold = notice.kind === 'stored' || notice.kind === 'rejected'
    settle(event.kind !== 'stored' || isTold ? event : notice)
  }
  return {
    first: (outcome) => {
      event = outcome
      look()
    },
    second: (outcome) => {
      notice = outcome
      look()
    },
  }
}
