// The labels of an execution. Each leads to all executions that have it.
import { hrefOf } from '../../lib/router'
import { labelText } from './searchText'
import type { ExecutionSummary } from './summary'

export function Labels({ labels }: { labels: ExecutionSummary['labels'] }) {
  return (
    <>
      {Object.entries(labels).map(([name, value]) => (
        <a key={name} class="label" href={hrefOf('/executions', { label: labelText(name, value) })}>
          {name}={value}
        </a>
      ))}
    </>
  )
}
