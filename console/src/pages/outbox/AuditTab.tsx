// Is everything that was published really in the stream? A job finds out; sending what is missing again is a second step.
import { ask } from '../../lib/router'
import { Act } from '../../parts/Act'
import type { JobAnswer } from '../../parts/jobKinds'
import type { Order } from '../../parts/SameAct'

const HOUR_MS = 3_600_000
const SPANS = [
  { value: String(HOUR_MS), name: 'the last hour' },
  { value: String(24 * HOUR_MS), name: 'the last day' },
  { value: String(168 * HOUR_MS), name: 'the last week' },
  { value: '0', name: 'any time' },
] as const

export function AuditTab() {
  const follow = (job: JobAnswer): void => ask({ job: job.job_id })
  return (
    <div class="empty">
      <p>
        Compares every published row with what the stream holds. What its limits have removed is no loss. “Publish
        again” is a second step: it stands below what an audit has found missing.
      </p>
      <div class="buttons">
        <Act
          name="Audit"
          consequence="Reads the published rows and the stream, and changes nothing."
          choice={{ label: 'Published within', options: SPANS }}
          hotkey="a"
          order={orderOf}
          onDone={follow}
        />
      </div>
    </div>
  )
}

function orderOf(note: string, span: string): Order {
  const since = span === '0' ? null : new Date(Date.now() - Number(span)).toISOString()
  return { path: '/api/internal/outbox/audit', body: { since, note: note === '' ? null : note } }
}
