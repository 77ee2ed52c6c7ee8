// Find one run, or all runs of a kind.
import { apiPath, getAnswer } from '../../lib/api'
import { hrefOf, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { Ago, Lasted } from '../../parts/Time'

export interface ExecutionSummary {
  execution_id: string
  catalog_id: string
  path: string | null
  version: number | null
  status: string
  start_time: string | null
  end_time: string | null
  progress: number
  error: string | null
  parent_execution_id: string | null
  event_count: number
  current_step: string | null
  last_event_type: string | null
}

export function Executions() {
  const asked = Object.fromEntries(query.value)
  const path = apiPath('/api/executions', asked)
  const list = useResource(path, (signal) => getAnswer<ExecutionSummary[]>(path, signal), { everyMs: 3_000 })
  return (
    <div class="page">
      <h1>Executions</h1>
      <Panel
        resource={list}
        isEmpty={({ body }) => body.length === 0}
        missing={list.data?.headers.get('x-noetl-failed-shards') ?? undefined}
        empty={
          <p>
            No executions yet. <CopyText text="noetl-cp demo" /> runs a few.
          </p>
        }
      >
        {({ body }) => <ExecutionTable rows={body} />}
      </Panel>
    </div>
  )
}

function ExecutionTable({ rows }: { rows: readonly ExecutionSummary[] }) {
  return (
    <table class="wide">
      <thead>
        <tr>
          <th>Status</th>
          <th>Path</th>
          <th>Id</th>
          <th>Started</th>
          <th class="number">Lasted</th>
          <th>Step</th>
          <th class="number">Events</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.execution_id}>
            <td>
              <Status status={row.status} />
            </td>
            <td class="ellipsis">
              <a href={hrefOf(`/executions/${row.execution_id}`)}>{row.path ?? row.catalog_id}</a>
              {row.version === null ? null : <span class="muted">@{row.version}</span>}
            </td>
            <td>
              <code class="whole">{row.execution_id}</code>
            </td>
            <td>
              <Ago at={row.start_time} />
            </td>
            <td class="number">
              <Lasted from={row.start_time} to={row.end_time} />
            </td>
            <td class="ellipsis">{row.current_step}</td>
            <td class="number">{whole(row.event_count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
