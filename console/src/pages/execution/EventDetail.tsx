// One event with all its columns.
import { apiPath } from '../../lib/api'
import { getJson } from '../../lib/losslessJson'
import { ask, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { JsonView } from '../../parts/JsonView'
import { Panel } from '../../parts/Panel'

export function EventDetail({ executionId, eventId }: { executionId: string; eventId: string }) {
  const path = apiPath(`/api/executions/${executionId}/events/${eventId}`, { ids: 'number' })
  const event = useResource(path, (signal) => getJson(path, signal))
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
        {(value) => <JsonView value={value} open={3} />}
      </Panel>
    </aside>
  )
}
