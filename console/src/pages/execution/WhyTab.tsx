// Why it stands still: the reasons in their order, each with what is known, what to do, and the button that does it.
import { apiPath, get } from '../../lib/api'
import { lasted } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Panel } from '../../parts/Panel'
import { Glyph, kindOf, type StatusKind } from '../../parts/Status'
import type { ExecutionSummary } from '../executions/summary'
import { FindingActions } from './FindingActions'

export interface Finding {
  reason: string
  what: string
  seconds: number | null
  next: string
  target: { kind: string; id: string; step?: string }
  actions: string[]
}

interface Findings {
  status: string
  findings: Finding[]
}

export function WhyTab({ run }: { run: Pick<ExecutionSummary, 'execution_id'> }) {
  const path = apiPath(`/api/executions/${run.execution_id}/why-stuck`)
  const why = useResource(path, (signal) => get<Findings>(path, signal), {
    everyMs: 3_000,
    topics: [`execution:${run.execution_id}`],
  })
  return (
    <Panel
      resource={why}
      isEmpty={({ findings }) => findings.length === 0}
      empty={
        <p>
          Nothing is known that holds it up: steps, commands, pools, outbox, subscriptions and locks were looked at.
        </p>
      }
    >
      {({ findings, status }) => (
        <ol class="findings">
          {findings.map((finding) => (
            <li key={`${finding.reason} ${finding.target.kind} ${finding.target.id}`}>
              <Glyph kind={kindOfReason(finding.reason, status)} />
              <div>
                <h2>
                  {finding.reason === 'ended' ? status.toLowerCase() : finding.reason}
                  {finding.seconds !== null && <span class="muted"> for {lasted(finding.seconds * 1_000)}</span>}
                </h2>
                <p>{finding.what}</p>
                <p class="muted">{finding.next}</p>
                <div class="buttons">
                  <FindingActions finding={finding} executionId={run.execution_id} onDone={why.reload} />
                  <span class="muted">
                    {finding.target.kind} <CopyText text={finding.target.id} />
                  </span>
                </div>
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}

function kindOfReason(reason: string, status: string): StatusKind {
  if (reason === 'ended') return kindOf(status)
  if (/dead|expired|missing|failed|no driver|not driven/.test(reason)) return 'stuck'
  return reason === 'running command' ? 'running' : 'waiting'
}
