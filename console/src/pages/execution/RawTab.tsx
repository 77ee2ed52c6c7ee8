// The event at the handle, or the state after it, as the daemon writes it: byte for byte, and as a file.
import { apiPath } from '../../lib/api'
import { readHead } from '../../lib/readHead'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { Download } from '../../parts/Download'
import { Panel } from '../../parts/Panel'

/** As many as a replay over HTTP folds. */
const EVENTS_MAX = 100_000

export function RawTab({ executionId, eventId: atHandle }: { executionId: string; eventId: string }) {
  const eventId = useRested(atHandle)
  const what = query.value.get('raw') === 'state' ? 'state' : 'event'
  const path =
    what === 'event'
      ? apiPath(`/api/executions/${executionId}/events/${eventId}`, { ids: 'number' })
      : apiPath('/api/replay/state', {
          execution_id: executionId,
          profile: 'cp',
          as_of_event_id: eventId,
          limit: EVENTS_MAX,
          ids: 'number',
        })
  const head = useResource(path, (signal) => readHead(path, signal))
  const choice = (name: 'event' | 'state') => (
    <button
      type="button"
      class="chip"
      aria-pressed={what === name}
      onClick={() => ask({ raw: name === 'event' ? undefined : name }, { replace: true })}
    >
      {name}
    </button>
  )
  return (
    <section aria-label="Raw">
      <div class="filters">
        {choice('event')}
        {choice('state')}
        <Download path={path} name={`${what}-${eventId}.json`} />
      </div>
      <Panel resource={head} lines={8}>
        {({ text, isCut, isPartial }) => (
          <>
            {isPartial && (
              <p class="notice partial">
                Only the first {whole(EVENTS_MAX)} events are in this state; noetl-cp replay has all of them.
              </p>
            )}
            {isCut && <p class="notice partial">The first 256 KB are shown; the download has all of it.</p>}
            <pre class="raw">{text}</pre>
          </>
        )}
      </Panel>
    </section>
  )
}
