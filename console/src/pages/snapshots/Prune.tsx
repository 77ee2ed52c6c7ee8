// Removes what nobody needs any more: snapshots of live states whose executions have ended. A job of the daemon.
import { ask } from '../../lib/router'
import { Act } from '../../parts/Act'
import type { JobAnswer } from '../../parts/jobKinds'

export function Prune() {
  return (
    <Act
      name="Prune"
      needsReason
      consequence="Removes snapshots of live states, and keys of decisions, whose executions have ended or are gone. Those of replays stay."
      order={(reason) => ({ path: '/api/internal/snapshots/prune', body: { reason } })}
      onDone={(job: JobAnswer) => ask({ job: job.job_id })}
    />
  )
}
