// The live state: every event that is in the log now is in it. A large one is not asked for with every event: it says that it has
// changed, and whoever reads it goes on reading.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { apiPath } from '../../lib/api'
import { LargeJson, useBegun } from '../../parts/LargeJson'
import { Panel } from '../../parts/Panel'
import type { ExecutionSummary } from '../executions/summary'

export function StateTab({ run }: { run: ExecutionSummary }) {
  const path = apiPath(`/api/executions/${run.execution_id}/state`, { ids: 'number' })
  /** How many events there were when it was found to be large. */
  const largeAt = useSignal<number | undefined>(undefined)
  const state = useBegun(path, largeAt.value === undefined ? { version: run.event_count } : {})
  const { data, at } = state
  useEffect(() => {
    largeAt.value = data !== undefined && 'text' in data ? run.event_count : undefined
  }, [at])
  return (
    <Panel resource={state} lines={10}>
      {(begun) => (
        <>
          {largeAt.value !== undefined && largeAt.value !== run.event_count && (
            <p class="notice" role="status">
              It has changed since.{' '}
              <button type="button" class="link" onClick={state.reload}>
                Load it again
              </button>
            </p>
          )}
          <LargeJson key={largeAt.value} path={path} name={`state-${run.execution_id}.json`} begun={begun} />
        </>
      )}
    </Panel>
  )
}
