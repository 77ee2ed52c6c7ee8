// What a finding is about, as a link to where it is looked at. What no button may do is text to be copied.
import { hrefOf, type Query } from '../../lib/router'
import { CopyText } from '../../parts/CopyText'
import type { Finding } from './WhyTab'

interface EvidenceProps {
  executionId: string
  target: Finding['target']
}

/** Ids of events are longer than any other number of a command. */
const EVENT_ID = /^\d{12,}$/

export function Evidence({ executionId, target: { kind, id } }: EvidenceProps) {
  if (kind === 'backend') return <CopyText text={`select pg_terminate_backend(${id})`} />
  const place = placeOf(kind, id, executionId)
  if (place === undefined) {
    return (
      <span class="muted">
        {kind} <CopyText text={id} />
      </span>
    )
  }
  const [path, asked] = place
  return (
    <a href={hrefOf(path, asked)}>
      {kind} <span class="mono">{id}</span>
    </a>
  )
}

function placeOf(kind: string, id: string, executionId: string): [string, Query] | undefined {
  const own = `/executions/${executionId}`
  switch (kind) {
    case 'execution':
      return id === executionId ? undefined : [`/executions/${id}`, { tab: 'why' }]
    case 'outbox':
      return ['/outbox', { tab: 'rows', execution: executionId, row: id }]
    case 'subscription':
      return [`/subscriptions/${id}`, {}]
    case 'step':
      return [own, { sel: `step:${id}`, tab: 'why' }]
    case 'command':
      return [own, EVENT_ID.test(id) ? { at: `event:${id}`, tab: 'event' } : { sel: `command:${id}`, tab: 'why' }]
    default:
      return undefined
  }
}
