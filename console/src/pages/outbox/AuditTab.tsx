// Is everything that was published really in the stream? A job finds out; sending what is missing again is a second step.
import { send } from '../../lib/api'
import { ask } from '../../lib/router'
import { Act } from '../../parts/Act'
import type { JobAnswer } from '../../parts/jobKinds'

const HOUR_MS = 3_600_000
const SPANS = [
  { value: String(HOUR_MS), name: 'the last hour' },
  { value: String(24 * HOUR_MS), name: 'the last day' },
  { value: String(168 * HOUR_MS), name: 'the last week' },
  { value: '0', name: 'any time' },
] as const

export function AuditTab() {
  const begin = async (note: string, span: string, republish: boolean): Promise<void> => {
    const since = span === '0' ? null : new Date(Date.now() - Number(span)).toISOString()
    const job = await send<JobAnswer>('POST', '/api/internal/outbox/audit', {
      since,
      republish,
      note: note === '' ? null : note,
    })
    ask({ job: job.job_id })
  }
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
          act={(note, span) => begin(note, span, false)}
          onDone={() => undefined}
        />
        <Act
          name="Publish again"
          consequence="Compares once more, and publishes again whatever the stream does not hold. Consumers may see a message twice."
          needsReason
          choice={choice}
          act={(note, span) => begin(note, span, true)}
          onDone={() => undefined}
        />
      </div>
    </div>
  )
}
