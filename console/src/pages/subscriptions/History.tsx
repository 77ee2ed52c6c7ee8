// What happened to a subscription, newest first: who changed it, and why.
import { apiPath, get } from '../../lib/api'
import { query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { Ago, Until } from '../../parts/Time'

interface HistoryItem {
  event_id: string
  event_type: string
  state: string | null
  at: string
  reason: string | null
  actor: string | null
  until: string | null
}

const PAGE = 100

/** `version`: of the subscription, as often as that changed. */
export function History({ id, version }: { id: string; version: string }) {
  const before = query.value.get('cursor') ?? undefined
  const path = apiPath(`/api/subscriptions/${encodeURIComponent(id)}/history`, { order: 'newest', before, limit: PAGE })
  const history = useResource(path, (signal) => get<{ events: HistoryItem[] }>(path, signal), {
    version,
  })
  const events = history.data?.events ?? []
  return (
    <>
      <Panel
        resource={history}
        isEmpty={(data) => data.events.length === 0}
        empty={
          <p>{before === undefined ? 'The log has nothing of it yet.' : 'The log has nothing of it before that.'}</p>
        }
      >
        {(data) => <Items items={data.events} />}
      </Panel>
      <Pages cursor={before} next={events.length < PAGE ? undefined : events.at(-1)!.event_id} />
    </>
  )
}

function Items({ items }: { items: readonly HistoryItem[] }) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>When</th>
            <th>State</th>
            <th>Event</th>
            <th>By</th>
            <th>Reason</th>
            <th>Ends</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.event_id}>
              <td>
                <Ago at={item.at} />
              </td>
              <td>{item.state === null ? <span class="muted">–</span> : <Status status={item.state} />}</td>
              <td title={item.event_id}>{item.event_type}</td>
              <td class="ellipsis step" title={item.actor ?? undefined}>
                {item.actor}
              </td>
              <td class="ellipsis main" title={item.reason ?? undefined}>
                {item.reason}
              </td>
              <td>{item.until !== null && <Until at={item.until} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
