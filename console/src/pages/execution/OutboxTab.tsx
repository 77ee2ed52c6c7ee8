// Rows of the outbox that the events of this run have, published or not, oldest first.
import { ask } from '../../lib/router'
import { RowPages } from '../outbox/RowPages'

export function OutboxTab({ executionId }: { executionId: string }) {
  return (
    <RowPages
      executionId={executionId}
      // The address names the moment; why it cannot be shown is told above.
      goTo={(eventId) => ask({ at: `event:${eventId}` })}
      empty={<p>No row of the outbox is left: what was published is cleaned up after a while.</p>}
    />
  )
}
