// What came of a job, where counts do not say: rows that the stream does not hold, rows that came back.

import { hrefOf } from '../../lib/router'
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
    case 'replay.verify':
      return <WhereTheyDiffer list={job.report!['differences'] as Difference[]} />
    case 'snapshots.prune':
      return <p class="muted">Keys of decisions that went with them: {String(job.report!['decision_keys'])}</p>
    default:
      return null
  }
}

interface Difference {
  execution_id: string
  /** What the fold of its log was compared with. */
  check: string
  /** Of the first place; null where there is none. */
  pointer: string | null
}

function WhereTheyDiffer({ list }: { list: readonly Difference[] }) {
  if (list.length === 0) return null
  return (
    <div class="scroll sample">
      <table class="wide">
        <caption>Where they differ first</caption>
        <thead>
          <tr>
            <th>Execution</th>
            <th>Compared with</th>
            <th>First place</th>
          </tr>
        </thead>
        <tbody>
          {list.map(({ execution_id: id, check, pointer }) => (
            <tr key={`${id} ${check}`}>
              <td class="mono">{id}</td>
              <td>{check}</td>
              <td>
                <a
                  class="mono"
                  href={hrefOf(
                    `/executions/${id}`,
                    check === 'snapshot' ? { tab: 'changes', against: 'snapshot' } : {},
                  )}
                >
                  {pointer ?? 'all of it'}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
