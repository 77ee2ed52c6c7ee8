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
  const choice = { label: 'Published within', options: SPANS }
  return (
    <div class="empty">
      <p>Compares every published row with what the stream holds. What its limits have removed is no loss.</p>
      <div class="buttons">
        <Act
          name="Audit"
          consequence="Reads the published rows and the stream, and changes nothing."
          choice={choice}
          hotkey="a"
          order={(note, span) => orderOf(note, span, false)}
          onDone={follow}
        />
        <Act
          name="Publish again"
          consequence="Compares once more, and publishes again whatever the stream does not hold. Consumers may see a message twice."
          needsReason
          choice={choice}
          order={(note, span) => orderOf(note, span, true)}
          onDone={follow}
        />
      </div>
    </div>
  )
}

function orderOf(note: string, span: string, republish: boolean): Order {
  const since = span === '0' ? null : new Date(Date.now() - Number(span)).toISOString()
  return { path: '/api/internal/outbox/audit', body: { since, republish, note: note === '' ? null : note } }
}
