// What came of a job, where counts do not say: rows that the stream does not hold, rows that came back.
import type { JobAnswer } from '../../parts/jobKinds'
import { AuditOutcome, type AuditReport } from '../outbox/AuditOutcome'
import type { OutboxRow } from '../outbox/outbox'
import { WatchedRows } from '../outbox/WatchedRows'

export function JobReport({ job }: { job: JobAnswer }) {
  switch (job.kind) {
    case 'outbox.audit':
      return <AuditOutcome report={job.report as unknown as AuditReport} />
    case 'outbox.redrive':
      return <WatchedRows rows={job.report!['sample'] as OutboxRow[]} total={job.done} />
    case 'snapshots.prune':
      return <p class="muted">Keys of decisions that went with them: {String(job.report!['decision_keys'])}</p>
    default:
      return null
  }
}
