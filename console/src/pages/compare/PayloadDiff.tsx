// What the two events under the cursor carry, and where that differs. The id of a run in its own payload is no difference.
import { apiPath, get } from '../../lib/api'
import { differencesOf } from '../../lib/difference'
import { getJson, isBranch, isNumber, type Json } from '../../lib/losslessJson'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { Differences } from '../../parts/Differences'
import { Panel } from '../../parts/Panel'
import { OWN_ID } from './ownId'

interface Place {
  executionId: string
  position: number
}

const PAYLOAD = ['event_type', 'node_name', 'status', 'context', 'result', 'error']

export function PayloadDiff({ a, b }: { a: Place; b: Place }) {
  const key = useRested(JSON.stringify([a, b]))
  const [left, right] = JSON.parse(key) as [Place, Place]
  const both = useResource(key, (signal) => Promise.all([payloadAt(left, signal), payloadAt(right, signal)]))
  return (
    <section class="section" aria-label="Payload">
      <h2>What both events carry</h2>
      <Panel resource={both}>
        {([ofA, ofB]) => (
          <Differences
            list={differencesOf(ofA, ofB, '')}
            sides={['In A', 'In B']}
            equal="Both events carry the same."
          />
        )}
      </Panel>
    </section>
  )
}

async function payloadAt({ executionId, position }: Place, signal: AbortSignal): Promise<Json | undefined> {
  if (position < 1) return undefined
  const base = `/api/executions/${executionId}/events`
  const { events } = await get<{ events: { event_id: string }[] }>(apiPath(base, { from: position, limit: 1 }), signal)
  const [found] = events
  if (found === undefined) return undefined
  const event = await getJson(apiPath(`${base}/${found.event_id}`, { ids: 'number' }), signal)
  if (!isBranch(event) || Array.isArray(event)) return undefined
  const payload = PAYLOAD.flatMap((name) => (event[name] == null ? [] : [[name, event[name]] as const]))
  return withoutOwnId(Object.fromEntries(payload), executionId)
}

function withoutOwnId(value: Json, id: string): Json {
  if (typeof value === 'string') return value.replaceAll(id, OWN_ID)
  if (!isBranch(value)) return isNumber(value) && value.value === id ? OWN_ID : value
  if (Array.isArray(value)) return value.map((one) => withoutOwnId(one, id))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutOwnId(one, id)]))
}
