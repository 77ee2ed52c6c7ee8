// The live state: every event that is in the log now is in it.
import { apiPath } from '../../lib/api'
import { getJson } from '../../lib/losslessJson'
import { useResource } from '../../lib/useResource'
import { JsonView } from '../../parts/JsonView'
import { Panel } from '../../parts/Panel'
import type { ExecutionSummary } from '../executions/summary'

export function StateTab({ run }: { run: ExecutionSummary }) {
  const path = apiPath(`/api/executions/${run.execution_id}/state`, { ids: 'number' })
  const state = useResource(path, (signal) => getJson(path, signal), { length: run.event_count })
  return (
    <Panel resource={state} lines={10}>
      {(value) => <JsonView value={value} open={3} />}
    </Panel>
  )
}
