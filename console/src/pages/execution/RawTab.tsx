// The event at the handle, or the state after it, as the daemon writes it: byte for byte, and as a file.
import { apiPath, fetchOwn } from '../../lib/api'
import { PREFIX } from '../../lib/prefix'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { Panel } from '../../parts/Panel'

const HEAD_BYTES = 256 * 1_024
/** As many as a replay over HTTP folds. */
const EVENTS_MAX = 100_000

interface Head {
  text: string
  isCut: boolean
  /** Not all events are in this state. */
  isPartial: boolean
}

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
        <a class="button" href={PREFIX + path} download={`${what}-${eventId}.json`}>
          Download
        </a>
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

/** No more of a large document is fetched than is shown. */
async function readHead(path: string, signal: AbortSignal): Promise<Head> {
  const response = await fetchOwn('GET', path, { signal })
  const isPartial = response.headers.get('x-noetl-truncated') === 'true'
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let left = HEAD_BYTES
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), isCut: false, isPartial }
    text += decoder.decode(value.subarray(0, left), { stream: true })
    left -= value.length
    if (left < 0) {
      await reader.cancel()
      return { text, isCut: true, isPartial }
    }
  }
}
