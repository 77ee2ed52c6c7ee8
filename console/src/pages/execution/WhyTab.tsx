// Why it stands still: the reasons in their order, each with what is known, what to do, and the button that does it.
import { useEffect, useState } from 'preact/hooks'
import { apiPath, get } from '../../lib/api'
import { now } from '../../lib/now'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Glyph, kindOf, type StatusKind } from '../../parts/Status'
import { inSeconds } from '../../parts/Time'
import type { ExecutionSummary } from '../executions/summary'
import { type Acted, ActOutcome } from './ActOutcome'
import { Evidence } from './Evidence'
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
  /** So many events are in what was looked at. */
  version: number
  findings: Finding[]
}

/** After an act, until its reason is gone. */
const AGAIN_MS = 1_000
const LOOKED_AT = 'Steps, commands, pools, outbox, subscriptions, lanes and open transactions were looked at.'

export function WhyTab({ run: { execution_id: id } }: { run: Pick<ExecutionSummary, 'execution_id'> }) {
  const path = apiPath(`/api/executions/${id}/why-stuck`)
  const why = useResource(path, (signal) => get<Findings>(path, signal), {
    everyMs: 3_000,
    topics: [`execution:${id}`],
  })
  const [acted, setActed] = useState<Acted>()
  const isThere = acted !== undefined && (why.data?.findings.some((finding) => keyOf(finding) === acted.key) ?? true)
  // Not everything that mends a thing is an event that rings.
  useEffect(() => {
    if (!isThere) return
    const timer = setTimeout(why.reload, AGAIN_MS)
    return () => clearTimeout(timer)
  }, [isThere, why.at])
  return (
    <>
      {acted !== undefined && <ActOutcome executionId={id} acted={acted} isThere={isThere} />}
      <Panel
        resource={why}
        isEmpty={({ findings }) => findings.length === 0}
        empty={<p>Nothing is known that holds it up. {LOOKED_AT}</p>}
      >
        {({ findings, status, version }) => (
          <ol class="findings">
            {findings.map((finding) => (
              <li key={keyOf(finding)}>
                <Glyph kind={kindOfReason(finding.reason, status)} />
                <div>
                  <h2>
                    {finding.reason === 'ended' ? status.toLowerCase() : finding.reason}
                    {finding.seconds !== null && (
                      <span class="muted"> for {inSeconds(finding.seconds * 1_000 + (now.value - why.at!))}</span>
                    )}
                  </h2>
                  <p>
                    {finding.what}
                    {finding.reason === 'nothing known' && `. ${LOOKED_AT}`}
                  </p>
                  <p class="muted">{finding.next}</p>
                  <div class="buttons">
                    <FindingActions
                      finding={finding}
                      executionId={id}
                      onDone={(name, answer) => {
                        setActed({ key: keyOf(finding), name, version, started: startedBy(finding, answer) })
                        why.reload()
                      }}
                    />
                    <Evidence executionId={id} target={finding.target} />
                  </div>
                </div>
              </li>
            ))}
          </ol>
        )}
      </Panel>
    </>
  )
}

function keyOf({ reason, target }: Finding): string {
  return `${reason} ${target.kind} ${target.id}`
}

/** The execution that a rerun has begun. */
function startedBy({ reason }: Finding, answer: unknown): string | undefined {
  return reason === 'ended' ? (answer as { execution_id?: string } | undefined)?.execution_id : undefined
}

function kindOfReason(reason: string, status: string): StatusKind {
  if (reason === 'ended') return kindOf(status)
  if (/dead|expired|missing|failed|no driver|not driven/.test(reason)) return 'stuck'
  return reason === 'running command' ? 'running' : 'waiting'
}
