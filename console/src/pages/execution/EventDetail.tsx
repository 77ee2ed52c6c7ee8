// One event with all its columns. Of a large one the beginning, until somebody wants all of it.
import { useState } from 'preact/hooks'
import { apiPath } from '../../lib/api'
import { getJson, parseJson } from '../../lib/losslessJson'
import { readHead } from '../../lib/readHead'
import { ask, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Download } from '../../parts/Download'
import { JsonView } from '../../parts/JsonView'
import { Panel } from '../../parts/Panel'

export function EventDetail({ executionId, eventId }: { executionId: string; eventId: string }) {
  const path = apiPath(`/api/executions/${executionId}/events/${eventId}`, { ids: 'number' })
  const head = useResource(path, async (signal) => {
    const { text, isCut } = await readHead(path, signal)
    return isCut ? { text } : { value: parseJson(text) }
  })
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
      <Panel resource={head} lines={8}>
        {({ text, value }) =>
          value === undefined ? (
            <Large key={eventId} path={path} name={`event-${eventId}.json`} text={text!} />
          ) : (
            <JsonView value={value} open={3} />
          )
        }
      </Panel>
    </aside>
  )
}

function Large({ path, name, text }: { path: string; name: string; text: string }) {
  const [isWanted, setWanted] = useState(false)
  const event = useResource(isWanted ? path : null, (signal) => getJson(path, signal))
  if (isWanted) {
    return (
      <Panel resource={event} lines={8}>
        {(value) => <JsonView value={value} open={3} />}
      </Panel>
    )
  }
  return (
    <>
      <div class="filters">
        <span>The first 256 KB of it.</span>
        <Download path={path} name={name} />
        <button type="button" onClick={() => setWanted(true)}>
          Show all of it as a tree
        </button>
      </div>
      <pre class="raw">{text}</pre>
    </>
  )
}
