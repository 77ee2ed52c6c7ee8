// Removes what nobody needs any more: snapshots of live states whose executions have ended. First what they are, then a job of the
// daemon.
import { send } from '../../lib/api'
import { counted } from '../../lib/counted'
import { ask } from '../../lib/router'
import { whole } from '../../lib/time'
import type { JobAnswer } from '../../parts/jobKinds'
import { type Plan, PlannedAct } from '../../parts/PlannedAct'
import { Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'

const PATH = '/api/internal/snapshots/prune'

interface Prunable {
  matched: number
  decision_keys: number
  sample: { execution_id: string; execution_status: string | null; updated_at: string }[]
  failed_shards: number[]
}

export function Prune() {
  return (
    <PlannedAct
      name="Prune"
      plan={plan}
      nothing="Nothing is to be pruned: no snapshot of a live state, and no key of a decision, is of an execution that has ended or is gone."
      order={(reason) => ({ path: PATH, body: { reason } })}
      onDone={(job: JobAnswer) => ask({ job: job.job_id })}
    />
  )
}

async function plan(): Promise<Plan> {
  const found = await send<Prunable>('POST', PATH, { dry_run: true, reason: 'dry run' })
  const { matched, decision_keys: keys, sample, failed_shards: failed } = found
  return {
    count: matched + keys,
    told: (
      <>
        <p>
          Dry run: {whole(matched + keys)} would be removed: {counted(matched, 'snapshot')} of live states and{' '}
          {counted(keys, 'key')} of decisions, of executions that have ended or are gone. Snapshots of replays stay.
          {failed.length > 0 && ` Shard ${failed.join(', ')} did not answer and is not counted.`}
        </p>
        {sample.length > 0 && (
          <div class="scroll sample">
            <table class="wide">
              {sample.length < matched && <caption>The first {sample.length}</caption>}
              <thead>
                <tr>
                  <th>Execution</th>
                  <th>Status</th>
                  <th>Written</th>
                </tr>
              </thead>
              <tbody>
                {sample.map((row) => (
                  <tr key={row.execution_id}>
                    <td class="mono">{row.execution_id}</td>
                    <td>
                      {row.execution_status === null ? (
                        <span class="muted">gone</span>
                      ) : (
                        <Status status={row.execution_status} />
                      )}
                    </td>
                    <td>
                      <Ago at={row.updated_at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </>
    ),
  }
}
