// Two runs beside each other: what is different first, then every step. With one run given, others of the same playbook are
// offered.
import { apiPath, get, getAnswer } from '../../lib/api'
import { ask, hrefOf, query } from '../../lib/router'
import { lasted, millisOf, whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { Glyph, Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { useTape } from '../execution/useTape'
import type { ExecutionSummary } from '../executions/summary'
import { Together } from './Together'
import '../../styles/compare.css'

/** On a page of those to choose from. */
const OTHERS = 50

export function Compare() {
  const [a, b] = [query.value.get('a'), query.value.get('b')]
  return (
    <div class="page">
      <h1>Compare</h1>
      {a === null ? (
        <div class="empty">
          <p>
            Open an execution in the <a href={hrefOf('/executions')}>list</a> and choose <i>Compare</i>.
          </p>
        </div>
      ) : (
        <First a={a} b={b} />
      )}
    </div>
  )
}

function useRun(id: string | null) {
  const path = `/api/executions/${encodeURIComponent(id ?? '')}?events=0`
  return useResource(id === null ? null : path, (signal) => get<ExecutionSummary>(path, signal), {
    everyMs: 5_000,
    topics: id === null ? [] : [`execution:${id}`],
  })
}

function First({ a, b }: { a: string; b: string | null }) {
  const first = useRun(a)
  const second = useRun(b)
  return (
    <Panel resource={first}>
      {(left) =>
        b === null ? (
          <Others run={left} />
        ) : (
          <Panel resource={second}>{(right) => <Both key={`${a} ${b}`} left={left} right={right} />}</Panel>
        )
      }
    </Panel>
  )
}

/** Other runs of the same playbook, to choose from: all, or those that went well, page by page. */
function Others({ run }: { run: ExecutionSummary }) {
  const [status, cursor] = ['status', 'cursor'].map((name) => query.value.get(name) ?? undefined)
  const playbook = run.path === null ? { catalog_id: run.catalog_id } : { path: run.path }
  const path = apiPath('/api/executions', { ...playbook, status, cursor, limit: OTHERS })
  const list = useResource(path, (signal) => getAnswer<ExecutionSummary[]>(path, signal))
  const next = list.data?.headers.get('x-noetl-next-cursor') ?? undefined
  const name = <bdi>{run.path ?? `catalog entry ${run.catalog_id}`}</bdi>
  return (
    <>
      <p>
        {name} <code class="whole">{run.execution_id}</code> with which other run of it?
      </p>
      <div class="filters">
        <button
          type="button"
          class="chip completed"
          aria-pressed={status !== undefined}
          onClick={() => ask({ status: status === undefined ? 'COMPLETED' : undefined, cursor: undefined })}
        >
          <Glyph kind="completed" />
          completed only
        </button>
      </div>
      <Panel
        resource={list}
        missing={list.data?.headers.get('x-noetl-failed-shards') ?? undefined}
        isEmpty={({ body }) => next === undefined && body.every(({ execution_id: id }) => id === run.execution_id)}
        empty={
          <p>
            There is no {cursor === undefined ? 'other' : 'older'} {status === undefined ? '' : 'completed '}run of{' '}
            {name} to compare with.
          </p>
        }
      >
        {({ body }) => (
          <ul class="others">
            {body
              .filter(({ execution_id: id }) => id !== run.execution_id)
              .map((other) => (
                <li key={other.execution_id}>
                  <button
                    type="button"
                    onClick={() => ask({ b: other.execution_id, status: undefined, cursor: undefined })}
                  >
                    <Status status={other.status} />
                    <code>{other.execution_id}</code>
                    {other.version !== null && <span class="muted">@{other.version}</span>}
                    <Ago at={other.start_time} isPlain />
                  </button>
                </li>
              ))}
          </ul>
        )}
      </Panel>
      <Pages cursor={cursor} next={next} />
    </>
  )
}

function Both({ left, right }: { left: ExecutionSummary; right: ExecutionSummary }) {
  const a = useTape(left.execution_id, left.event_count)
  const b = useTape(right.execution_id, right.event_count)
  const both = {
    data: a.run === undefined || b.run === undefined ? undefined : { a: a.run, b: b.run },
    error: a.error ?? b.error,
    isLoading: a.run === undefined || b.run === undefined,
    at: undefined,
    reload: (): void => {
      a.reload()
      b.reload()
    },
  }
  return (
    <>
      <div class="scroll section">
        <table class="wide rows">
          <thead>
            <tr>
              <th>Run</th>
              <th>Execution</th>
              <th>Status</th>
              <th>Started</th>
              <th class="number">Lasted</th>
              <th class="number">Events</th>
            </tr>
          </thead>
          <tbody>
            <RunRow name="A" run={left} />
            <RunRow name="B" run={right} />
          </tbody>
        </table>
      </div>
      <Panel resource={both} lines={8}>
        {(runs) => <Together ids={[left.execution_id, right.execution_id]} a={runs.a} b={runs.b} />}
      </Panel>
    </>
  )
}

function RunRow({ name, run }: { name: string; run: ExecutionSummary }) {
  const ms = millisOf(run.end_time) - millisOf(run.start_time)
  return (
    <tr>
      <td>
        <b>{name}</b>
      </td>
      <td class="prose">
        <a href={hrefOf(`/executions/${run.execution_id}`)}>
          <bdi>{run.path}</bdi>
          {run.version !== null && `@${run.version}`}
        </a>{' '}
        <code class="whole">{run.execution_id}</code>
      </td>
      <td>
        <Status status={run.status} />
      </td>
      <td>
        <Ago at={run.start_time} />
      </td>
      <td class="number" data-name="Lasted">
        {Number.isNaN(ms) ? '–' : lasted(ms)}
      </td>
      <td class="number" data-name="Events">
        {whole(run.event_count)}
      </td>
    </tr>
  )
}
