// A job of the daemon that the address names: how far it is, the way to stop it, and what it could not do.
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { get } from '../lib/api'
import { ask, hrefOf, query } from '../lib/router'
import { whole } from '../lib/time'
import { useResource } from '../lib/useResource'
import { type JobAnswer, kindOfJob, progressText, STATE_KINDS, settledOf } from './jobKinds'
import { Panel } from './Panel'
import { Status } from './Status'
import { StopJob } from './StopJob'
import { Ago, Lasted } from './Time'
import { Told } from './Told'
import '../styles/jobs.css'

/** Somebody waits for it, and a bell is not rung for every item. */
const POLL_MS = 1_000

/** What came of a job, where counts do not say. */
export type ReportOf = ComponentType<{ job: JobAnswer }>

/** Nothing when the address names none. */
export function Job({ report }: { report?: ReportOf }) {
  const id = query.value.get('job')
  return id === null ? null : <OneJob key={id} id={id} report={report} />
}

function OneJob({ id, report: Report }: { id: string; report: ReportOf | undefined }) {
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
      <Panel resource={job}>
        {(data) => (
          <>
            <Progress job={data} reload={job.reload} />
            {Report !== undefined && data.report !== null && <Report job={data} />}
          </>
        )}
      </Panel>
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

function Progress({ job, reload }: { job: JobAnswer; reload: () => void }) {
  const { name } = kindOfJob(job)
  return (
    <>
      <div class="job-head">
        <h2>{name}</h2>
        <Status status={job.state} kind={STATE_KINDS[job.state]} />
        <span class="muted">
          {job.actor}, <Ago at={job.started_at} />, <Lasted from={job.started_at} to={job.ended_at} />
        </span>
        {job.state === 'running' && <StopJob id={job.job_id} onStopped={reload} />}
      </div>
      {job.state === 'running' && (
        // Without a value it says that nobody knows yet how many there are.
        <progress aria-label={name} {...(job.matched === null ? {} : { max: job.matched, value: settledOf(job) })} />
      )}
      <p>
        <Told text={progressText(job)} />
        {job.reason !== null && <span class="muted"> {job.reason}</span>}
      </p>
      {job.error !== null && <p class="notice stale">{job.error}</p>}
      {job.troubles.length > 0 && <Troubles job={job} />}
    </>
  )
}

function Troubles({ job }: { job: JobAnswer }) {
  const { words, refusal } = kindOfJob(job)
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
            <th>Which</th>
            <th>Outcome</th>
            <th>Why</th>
          </tr>
        </thead>
        <tbody>
          {job.troubles.map(({ target, outcome, error }) => (
            <tr key={target}>
              <td class="name">
                {/^\d+$/.test(target) ? (
                  <a class="mono" href={hrefOf(`/executions/${target}`)}>
                    {target}
                  </a>
                ) : (
                  target
                )}
              </td>
              <td class="name">
                {outcome === 'refused' ? (
                  <Status status={words.refused} kind={refusal} />
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
