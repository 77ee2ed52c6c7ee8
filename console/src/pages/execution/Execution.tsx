// One run: what it is, what happened at any moment of its life, what it holds, and why it stands still if it does.
import { apiPath, get } from '../../lib/api'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import type { ExecutionSummary } from '../executions/summary'
import { Header } from './Header'
import { NearestIds, NoEvents } from './Origin'
import { Replay } from './Replay'
import '../../styles/scrubber.css'
import '../../styles/timeline.css'
import '../../styles/execution.css'

export function Execution({ id }: { id: string }) {
  const path = apiPath(`/api/executions/${encodeURIComponent(id)}`, { events: 0 })
  const summary = useResource(path, (signal) => get<ExecutionSummary>(path, signal), {
    everyMs: 2_000,
    topics: [`execution:${id}`],
  })
  return (
    <div class="page execution">
      <Panel resource={summary} lines={8}>
        {(run) => (
          <>
            <Header run={run} reload={summary.reload} />
            {run.event_count === 0 ? <NoEvents id={id} /> : <Replay key={run.execution_id} run={run} />}
          </>
        )}
      </Panel>
      {summary.data === undefined && summary.error?.status === 404 && <NearestIds id={id} />}
    </div>
  )
}
