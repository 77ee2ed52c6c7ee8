// Rows of the outbox that the events of this run have, published or not, oldest first.
import { RowPages } from '../outbox/RowPages'

interface OutboxTabProps {
  executionId: string
  /** Moves the handle to an event. */
  goTo: (eventId: string) => void
}

export function OutboxTab({ executionId, goTo }: OutboxTabProps) {
  return (
    <RowPages
      executionId={executionId}
      goTo={goTo}
      empty={<p>No row of the outbox is left: what was published is cleaned up after a while.</p>}
    />
  )
}
