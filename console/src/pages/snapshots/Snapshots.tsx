// Stored snapshots: how old, how large, how far behind their logs; and whether they hold what the log says.
import { useState } from 'preact/hooks'
import { apiPath, get } from '../../lib/api'
import { ask, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Command } from '../../parts/Command'
import { Job } from '../../parts/Job'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { JobReport } from '../jobs/JobReport'
import { Prune } from './Prune'
import { Found, SnapshotTable } from './SnapshotTable'
import { type Outcome, REBUILD, type SnapshotPage, TAKE, TYPES } from './snapshot'
import { VerifyMany } from './VerifyMany'
import { WorkButton } from './WorkButton'

export function Snapshots() {
  const [type, execution, cursor] = ['type', 'execution', 'cursor'].map((name) => query.value.get(name) ?? undefined)
  const path = apiPath('/api/snapshots', { type, execution_id: execution, after: cursor })
  const page = useResource(path, (signal) => get<SnapshotPage>(path, signal), { everyMs: 10_000 })
  const failed = page.data?.failed_shards ?? []
  const isFiltered = type !== undefined || execution !== undefined
  return (
    <div class="page">
      <div class="run-title">
        <h1>Snapshots</h1>
        <span class="buttons">
          <VerifyMany />
          <Prune />
        </span>
      </div>
      <p class="muted">A cache: each is checked before it is used, and losing one costs time, never data.</p>
      <search class="filters">
        {Object.entries(TYPES).map(([word, name]) => (
          <button
            key={word}
            type="button"
            class="chip"
            aria-pressed={type === word}
            onClick={() => ask({ type: type === word ? undefined : word, cursor: undefined })}
          >
            {name}
          </button>
        ))}
        <input
          key={execution ?? ''}
          type="search"
          inputMode="numeric"
          aria-label="Id of an execution"
          placeholder="Id of an execution"
          defaultValue={execution ?? ''}
          onChange={(event) => ask({ execution: event.currentTarget.value.trim(), cursor: undefined })}
        />
      </search>
      <Job report={JobReport} />
      {execution !== undefined && <OfExecution key={execution} id={execution} onDone={page.reload} />}
      <Panel
        resource={page}
        lines={8}
        missing={failed.length === 0 ? undefined : failed.join(', ')}
        isEmpty={(data) => data.snapshots.length === 0}
        empty={isFiltered ? <p>No snapshot matches.</p> : <NoneYet />}
      >
        {(data) => <SnapshotTable rows={data.snapshots} onDone={page.reload} />}
      </Panel>
      <Pages cursor={cursor} next={page.data?.next_after ?? undefined} />
    </div>
  )
}

/** Of an execution that may have no snapshot yet. */
function OfExecution({ id, onDone }: { id: string; onDone: () => void }) {
  const [outcome, setOutcome] = useState<Outcome>()
  const tell = (said: Outcome): void => {
    setOutcome(said)
    onDone()
  }
  return (
    <div class="buttons section">
      <WorkButton work={{ ...TAKE, name: 'Take for replays' }} executionId={id} onOutcome={tell} />
      <WorkButton work={{ ...REBUILD, name: 'Rebuild live state' }} executionId={id} onOutcome={tell} />
      <Found outcome={outcome} />
    </div>
  )
}

function NoneYet() {
  return (
    <>
      <h2>No snapshots are stored</h2>
      <p>
        The daemon stores one of a live state when many events have come, and removes it when the execution has ended.
        For replays of a long log to start from, take one: <Command words="snapshot take <execution id>" />
      </p>
    </>
  )
}
