// What an audit has found: what the stream does not hold, and what cannot be told.
import { counted } from '../../lib/counted'
import { ask, hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import type { JobAnswer } from '../../parts/jobKinds'
import { PlannedAct } from '../../parts/PlannedAct'
import { Ago } from '../../parts/Time'

interface Missing {
  shard: number
  outbox_id: string
  execution_id: string | null
  event_id: string
  stream_seq: string
  published_at: string
}

export interface AuditReport {
  stream_exists: boolean
  complete: boolean
  checked: number
  missing: number
  aged_out: number
  unverified: number
  republished: number
  /** Published since; null is whenever. */
  since: string | null
  sample: Missing[]
}

export function AuditOutcome({ report }: { report: AuditReport }) {
  const { checked, missing, aged_out: agedOut, unverified, republished } = report
  return (
    <>
      {!report.stream_exists && <p class="notice stale">There is no stream: nothing of it can be compared.</p>}
      <p>
        {missing === 0
          ? `The stream holds all of ${whole(checked)} published rows`
          : `${whole(missing)} of ${whole(checked)} published rows are not in the stream`}
        {agedOut > 0 && `, ${whole(agedOut)} are gone by its limits`}
        {unverified > 0 && `, ${whole(unverified)} were published by others and cannot be compared`}
        {republished > 0 && `; ${whole(republished)} are published again`}.
        {!report.complete && ' It did not come to the end.'}
      </p>
      <MissingRows report={report} />
      {missing > republished && <PublishAgain report={report} />}
    </>
  )
}

/** The audit was its dry run: never more than it has counted. */
function PublishAgain({ report }: { report: AuditReport }) {
  const count = report.missing - report.republished
  return (
    <div class="buttons section">
      <PlannedAct
        name="Publish again"
        plan={async () => ({
          count,
          told: (
            <>
              <p>
                The audit was the dry run: {counted(count, 'row')} would be compared once more and, where the stream
                still does not hold them, published again. Consumers may see a message twice.
              </p>
              <MissingRows report={report} />
            </>
          ),
        })}
        nothing="Nothing is missing."
        order={(note) => ({
          path: '/api/internal/outbox/audit',
          body: { since: report.since, republish: true, limit: count, note },
        })}
        onDone={(job: JobAnswer) => ask({ job: job.job_id })}
      />
    </div>
  )
}

function MissingRows({ report: { sample, missing } }: { report: AuditReport }) {
  if (sample.length === 0) return null
  return (
    <div class="scroll sample">
      <table class="wide">
        {sample.length < missing && <caption>The first {sample.length}</caption>}
        <thead>
          <tr>
            <th>Row</th>
            <th>Execution</th>
            <th class="number">Place in the stream</th>
            <th>Published</th>
          </tr>
        </thead>
        <tbody>
          {sample.map((row) => (
            <tr key={`${row.shard} ${row.outbox_id}`}>
              <td class="mono">{row.outbox_id}</td>
              <td>
                {row.execution_id !== null && (
                  <a class="mono" href={hrefOf(`/executions/${row.execution_id}`)}>
                    {row.execution_id}
                  </a>
                )}
              </td>
              <td class="number">{row.stream_seq}</td>
              <td>
                <Ago at={row.published_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
