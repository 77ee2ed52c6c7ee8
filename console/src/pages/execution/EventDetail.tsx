// One event with all its columns. Of a large one the beginning, until somebody wants all of it.
import { apiPath } from '../../lib/api'
import { ask, query } from '../../lib/router'
import { CopyText } from '../../parts/CopyText'
import { LargeJson, useBegun } from '../../parts/LargeJson'
import { Panel } from '../../parts/Panel'

export function EventDetail({ executionId, eventId }: { executionId: string; eventId: string }) {
  const path = apiPath(`/api/executions/${executionId}/events/${eventId}`, { ids: 'number' })
  const event = useBegun(path)
  return (
    <aside class="detail" aria-label="Event">
      <div class="detail-head">
        <h2>Event</h2>
        <CopyText text={eventId} />
        {query.value.get('event') === eventId && (
          <button type="button" class="quiet" aria-label="Close" onClick={() => ask({ event: undefined })}>
            ✕
          </button>
        )}
      </div>
      <Panel resource={event} lines={8}>
        {(begun) => <LargeJson path={path} name={`event-${eventId}.json`} begun={begun} />}
      </Panel>
    </aside>
  )
}
