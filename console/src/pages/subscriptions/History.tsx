// What happened to a subscription, newest first: who changed it, and why.
import { get } from '../../lib/api'
import { useResource } from '../../lib/useResource'
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

/** `changedAt`: when that was last. */
export function History({ id, changedAt }: { id: string; changedAt: string }) {
  const path = `/api/subscriptions/${encodeURIComponent(id)}/history`
  const history = useResource(path, (signal) => get<{ events: HistoryItem[] }>(path, signal), { version: changedAt })
  return (
    <Panel
      resource={history}
      isEmpty={({ events }) => events.length === 0}
      empty={<p>The log has nothing of it yet.</p>}
    >
      {({ events }) => (
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
              {events.toReversed().map((item) => (
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
      )}
    </Panel>
  )
}
