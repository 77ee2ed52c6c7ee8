// What an audit has found: what the stream does not hold, and what cannot be told.
import { hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
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
  sample: Missing[]
}

export function AuditOutcome({ report }: { report: AuditReport }) {
  const { checked, missing, aged_out: agedOut, unverified, republished, sample } = report
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
      {sample.length > 0 && (
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
      )}
    </>
  )
}
