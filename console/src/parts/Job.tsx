// A job of the daemon that the address names: how far it is, the way to stop it, and what it could not do.
import { useSignal } from '@preact/signals'
import { ApiError, get, send } from '../lib/api'
import { ask, hrefOf, query } from '../lib/router'
import { whole } from '../lib/time'
import { useResource } from '../lib/useResource'
import { Panel } from './Panel'
import { Status, type StatusKind } from './Status'
import { Ago, Lasted } from './Time'
import '../styles/jobs.css'

export interface JobAnswer {
  job_id: string
  kind: string
  actor: string
  reason: string | null
  state: 'running' | 'done' | 'stopped' | 'failed'
  started_at: string
  ended_at: string | null
  /** Null while it is still being found out. */
  matched: number | null
  done: number
  refused: number
  failed: number
  troubles: { target: string; outcome: string; error: string }[]
  error: string | null
  report: { checked?: number; more?: boolean } | null
}

const NAMES: Readonly<Record<string, string>> = {
  'executions.cancel': 'Cancel executions',
  'executions.rerun': 'Rerun executions',
  'executions.resume': 'Resume executions',
  'executions.finalize': 'Finalize executions',
  'replay.verify': 'Verify logs',
}

/** What the counts mean: a check tells other things apart than an act. */
const ACTED = { done: 'done', refused: 'refused', failed: 'failed' } as const
const CHECKED = { done: 'agree', refused: 'differ', failed: 'could not be checked' } as const

const KINDS: Readonly<Record<JobAnswer['state'], StatusKind>> = {
  running: 'running',
  done: 'completed',
  stopped: 'cancelled',
  failed: 'failed',
}

/** Somebody waits for it, and a bell is not rung for every item. */
const POLL_MS = 1_000

/** Nothing when the address names none. */
export function Job() {
  const id = query.value.get('job')
  return id === null ? null : <OneJob key={id} id={id} />
}

function OneJob({ id }: { id: string }) {
  const path = `/api/bulk/${encodeURIComponent(id)}`
  const isOver = useSignal(false)
  const load = async (signal: AbortSignal): Promise<JobAnswer> => {
    const found = await get<JobAnswer>(path, signal)
    isOver.value = found.state !== 'running'
    return found
  }
  const job = useResource(path, load, isOver.value ? {} : { everyMs: POLL_MS })
  return (
    <section class="job" aria-label="Job">
      <Panel resource={job}>{(data) => <Progress job={data} path={path} reload={job.reload} />}</Panel>
      {job.data?.state !== 'running' && (
        <div class="buttons">
          <button type="button" onClick={() => ask({ job: undefined })}>
            Close
          </button>
        </div>
      )}
    </section>
  )
}

function Progress({ job, path, reload }: { job: JobAnswer; path: string; reload: () => void }) {
  const name = NAMES[job.kind] ?? job.kind
  const words = job.kind === 'replay.verify' ? CHECKED : ACTED
  const settled = job.done + job.refused + job.failed
  return (
    <>
      <div class="job-head">
        <h2>{name}</h2>
        <Status status={job.state} kind={KINDS[job.state]} />
        <span class="muted">
          {job.actor}, <Ago at={job.started_at} />, <Lasted from={job.started_at} to={job.ended_at} />
        </span>
        {job.state === 'running' && <Stop path={path} reload={reload} />}
      </div>
      {job.state === 'running' && (
        // Without a value it says that nobody knows yet how many there are.
        <progress aria-label={name} {...(job.matched === null ? {} : { max: job.matched, value: settled })} />
      )}
      <p role="status">
        {whole(settled)}
        {job.matched !== null && ` of ${whole(job.matched)}`}: {whole(job.done)} {words.done}, {whole(job.refused)}{' '}
        {words.refused}, {whole(job.failed)} {words.failed}.{job.report?.more === true && ' There are more.'}
        {job.reason !== null && <span class="muted"> {job.reason}</span>}
      </p>
      {job.error !== null && <p class="notice stale">{job.error}</p>}
      {job.troubles.length > 0 && <Troubles job={job} words={words} />}
    </>
  )
}

function Stop({ path, reload }: { path: string; reload: () => void }) {
  const refusal = useSignal<string | undefined>(undefined)
  const stop = (): void => {
    refusal.value = undefined
    send('POST', `${path}/stop`).then(reload, (error: unknown) => {
      refusal.value = error instanceof ApiError ? error.message : String(error)
    })
  }
  return (
    <>
      <button type="button" title="What is done stays done" onClick={stop}>
        Stop
      </button>
      {refusal.value !== undefined && (
        <span class="failed" role="alert">
          {refusal.value}
        </span>
      )}
    </>
  )
}

function Troubles({ job, words }: { job: JobAnswer; words: typeof ACTED | typeof CHECKED }) {
  const count = job.refused + job.failed
  return (
    <div class="scroll sample">
      <table class="wide told">
        {job.troubles.length < count && (
          <caption>
            The first {job.troubles.length} of {whole(count)}
          </caption>
        )}
        <thead>
          <tr>
            <th>Execution</th>
            <th>Outcome</th>
            <th>Why</th>
          </tr>
        </thead>
        <tbody>
          {job.troubles.map(({ target, outcome, error }) => (
            <tr key={target}>
              <td class="name">
                <a class="mono" href={hrefOf(`/executions/${target}`)}>
                  {target}
                </a>
              </td>
              <td class="name">
                {outcome === 'refused' ? (
                  <Status status={words.refused} kind="waiting" />
                ) : (
                  <Status status={words.failed} kind="failed" />
                )}
              </td>
              <td>{error}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
