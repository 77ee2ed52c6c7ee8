// The head of the page: which run, how it stands, what can be done with it.
import { apiPath, get } from '../../lib/api'
import { go, hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Act } from '../../parts/Act'
import { CopyText } from '../../parts/CopyText'
import { Fact } from '../../parts/Fact'
import { Status } from '../../parts/Status'
import { Ago, Lasted } from '../../parts/Time'
import { entryHref } from '../catalog/entry'
import { Labels } from '../executions/Labels'
import { cancelOrder, rerunOrder } from '../executions/orders'
import { type ExecutionSummary, hasEnded } from '../executions/summary'

const CHILDREN_EVERY_MS = 10_000

export function Header({ run, reload }: { run: ExecutionSummary; reload: () => void }) {
  const isOver = hasEnded(run)
  return (
    <header class="run">
      <div class="run-title">
        <h1>
          <Playbook run={run} />
        </h1>
        <Status status={run.status} />
        <span class="buttons">
          <a class="button" href={hrefOf('/compare', { a: run.execution_id })}>
            Compare
          </a>
          {/* Each its own: a dialog that is open must not become that of the other act under the hand. */}
          {isOver ? (
            <Act
              key="rerun"
              name="Run again"
              isPublic
              consequence="Starts a new execution of the same playbook with the same workload. This one stays as it is."
              order={(reason) => rerunOrder(run.execution_id, reason)}
              onDone={(started: { execution_id: string }) => go(hrefOf(`/executions/${started.execution_id}`))}
            />
          ) : (
            <Act
              key="cancel"
              name="Cancel"
              isPublic
              consequence="Ends this execution: no new command is issued, and what still runs is told to stop. There is no way back."
              order={(reason) => cancelOrder(run.execution_id, reason)}
              onDone={reload}
            />
          )}
        </span>
      </div>
      <dl class="facts">
        <Fact name="Execution">
          <CopyText text={run.execution_id} />
        </Fact>
        <Fact name="Started">
          <Ago at={run.start_time} />
        </Fact>
        <Fact name={isOver ? 'Lasted' : 'Running for'}>
          <Lasted from={run.start_time} to={run.end_time} />
        </Fact>
        <Fact name={isOver ? 'Last step' : 'At step'}>
          <span class="ellipsis" title={run.current_step ?? undefined}>
            {run.current_step ?? '–'}
          </span>
        </Fact>
        <Fact name="Events">{whole(run.event_count)}</Fact>
        {run.parent_execution_id !== null && (
          <Fact name="Started by">
            <a class="mono" href={hrefOf(`/executions/${run.parent_execution_id}`)}>
              {run.parent_execution_id}
            </a>
          </Fact>
        )}
        {Object.keys(run.labels).length > 0 && (
          <Fact name="Labels">
            <Labels labels={run.labels} />
          </Fact>
        )}
        <Children id={run.execution_id} isOver={isOver} />
      </dl>
      {run.error !== null && (
        <p class="run-error" role="status">
          <Status status="failed" /> {run.error}
        </p>
      )}
    </header>
  )
}

/** A link to the version that it was started from. */
function Playbook({ run: { path, version, catalog_id: id } }: { run: ExecutionSummary }) {
  if (path === null || version === null) return <bdi>{path ?? `catalog entry ${id}`}</bdi>
  return (
    <a href={entryHref(path, { version: String(version) })} title="The playbook that it was started from">
      <bdi>{path}</bdi>
      <span class="muted">@{version}</span>
    </a>
  )
}

/** One by its id, several by their number: so many are counted. */
const CHILDREN_MAX = 20

function Children({ id, isOver }: { id: string; isOver: boolean }) {
  const path = apiPath('/api/executions', { parent: id, limit: CHILDREN_MAX })
  const { data } = useResource(
    path,
    (signal) => get<ExecutionSummary[]>(path, signal),
    isOver ? {} : { everyMs: CHILDREN_EVERY_MS },
  )
  const [child, ...others] = data ?? []
  if (child === undefined) return null
  return (
    <Fact name="Children">
      {others.length === 0 ? (
        <a class="mono" href={hrefOf(`/executions/${child.execution_id}`)}>
          {child.execution_id}
        </a>
      ) : (
        <a href={hrefOf('/executions', { parent: id })}>
          {others.length + 1 < CHILDREN_MAX ? '' : 'at least '}
          {others.length + 1} executions
        </a>
      )}
    </Fact>
  )
}
