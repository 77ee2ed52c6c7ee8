// The exact state at the cursor, folded by the daemon from the log up to that event, with the checksum that proves it.
import { apiPath } from '../../lib/api'
import { getJson, isBranch, type Json } from '../../lib/losslessJson'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { JsonTree } from '../../parts/JsonTree'
import { Panel } from '../../parts/Panel'
import { useRested } from './useRested'

const EVENTS_MAX = 100_000

export function MomentTab({ executionId, eventId }: { executionId: string; eventId: string | undefined }) {
  const rested = useRested(eventId)
  const path = apiPath('/api/replay/state', {
    execution_id: executionId,
    as_of_event_id: rested,
    limit: EVENTS_MAX,
    ids: 'number',
  })
  const state = useResource(rested === undefined ? null : path, (signal) => getJson(path, signal))
  if (eventId === undefined) return <div class="empty">Nothing has happened yet: the state is empty.</div>
  const checksum = rested === eventId ? fieldOf(state.data, 'checksum') : undefined
  return (
    <>
      <p class="proof">
        <span class={checksum === undefined ? 'chip-sum waiting' : 'chip-sum completed'}>
          {checksum === undefined ? 'folding…' : `checksum ${checksum.slice(0, 8)}`}
        </span>
        {checksum !== undefined && <CopyText text={`noetl-cp replay ${executionId} --as-of-event ${eventId}`} />}
      </p>
      <Panel resource={state} lines={10}>
        {(value) => <JsonTree value={surfacesFirst(value)} open={2} />}
      </Panel>
    </>
  )
}

const SURFACES = [
  'execution',
  'commands',
  'loops',
  'stages',
  'frames',
  'business_objects',
  'event_count',
  'last_event_type',
]

/** What the run holds before what is known about the answer, which is folded away. */
function surfacesFirst(value: Json): Json {
  if (!isBranch(value) || Array.isArray(value)) return value
  const first = SURFACES.filter((name) => name in value).map((name) => [name, value[name]!] as const)
  const rest = Object.entries(value).filter(([name]) => !SURFACES.includes(name))
  return { ...Object.fromEntries(first), 'about this answer': [Object.fromEntries(rest)] }
}

function fieldOf(value: Json | undefined, name: string): string | undefined {
  if (value === undefined || !isBranch(value) || Array.isArray(value)) return undefined
  const found = value[name]
  return typeof found === 'string' ? found : undefined
}
