// Is everything published, what was given up, and the way back for it.
import { Job } from '../../parts/Job'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import { JobReport } from '../jobs/JobReport'
import { AuditTab } from './AuditTab'
import { DeadTab } from './DeadTab'
import { NowTab } from './NowTab'
import { RowsTab } from './RowsTab'

const TABS: readonly Tab[] = [
  { id: 'now', name: 'Now' },
  { id: 'rows', name: 'Rows' },
  { id: 'dead', name: 'Dead' },
  { id: 'audit', name: 'Audit' },
]

export function Outbox() {
  const tab = chosenTab(TABS)
  return (
    <div class="page">
      <h1>Outbox</h1>
      <Tabs tabs={TABS} label="Parts of the outbox" />
      <Job report={JobReport} />
      {tab === 'now' && <NowTab />}
      {tab === 'rows' && <RowsTab />}
      {tab === 'dead' && <DeadTab />}
      {tab === 'audit' && <AuditTab />}
    </div>
  )
}
