// One run: what it is, what happened, what it holds, and why it stands still if it does.
import { apiPath, get } from '../../lib/api'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import type { ExecutionSummary } from '../executions/summary'
import { EventsTab } from './EventsTab'
import { Header } from './Header'
import { StateTab } from './StateTab'
import { WhyTab } from './WhyTab'

const TABS: readonly Tab[] = [
  { id: 'events', name: 'Events' },
  { id: 'state', name: 'State' },
  { id: 'why', name: 'Why' },
]

export function Execution({ id }: { id: string }) {
  const path = apiPath(`/api/executions/${id}`, { events: 0 })
  const summary = useResource(path, (signal) => get<ExecutionSummary>(path, signal), {
    everyMs: 2_000,
    topics: [`execution:${id}`],
  })
  return (
    <div class="page execution">
      <Panel resource={summary} lines={8}>
        {(run) => (
          <>
            <Header run={run} reload={summary.reload} />
            <Tabs tabs={TABS} label="About this execution" />
            <TabOf run={run} />
          </>
        )}
      </Panel>
    </div>
  )
}

function TabOf({ run }: { run: ExecutionSummary }) {
  switch (chosenTab(TABS)) {
    case 'state':
      return <StateTab run={run} />
    case 'why':
      return <WhyTab run={run} />
    default:
      return <EventsTab run={run} />
  }
}
