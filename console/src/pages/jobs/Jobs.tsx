// Every job that this daemon has, newest first: what it does, how far it is, and the way to stop it.
import { get } from '../../lib/api'
import { ask, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Job } from '../../parts/Job'
import { type JobAnswer, kindOfJob, progressText, STATE_KINDS } from '../../parts/jobKinds'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { StopJob } from '../../parts/StopJob'
import { Ago, Lasted } from '../../parts/Time'
import { JobReport } from './JobReport'

const PATH = '/api/bulk'

export function Jobs() {
  const jobs = useResource(PATH, (signal) => get<{ jobs: JobAnswer[] }>(PATH, signal), {
    everyMs: 2_000,
    topics: ['jobs'],
  })
  const chosen = query.value.get('job')
  return (
    <div class="page">
      <h1>Jobs</h1>
      <p class="muted">Of the daemon that serves this page, until it stops. Two run at a time.</p>
      <Job report={JobReport} />
      <Panel
        resource={jobs}
        isEmpty={(data) => data.jobs.length === 0}
        empty={
          <p>
            No job was started. Acts on many executions, requeueing dead rows, the audit of the outbox, and verifying or
            pruning snapshots are jobs.
          </p>
        }
      >
        {(data) => (
          <div class="scroll section">
            <table class="wide rows">
              <thead>
                <tr>
                  <th>Job</th>
                  <th>State</th>
                  <th>So far</th>
                  <th>Who</th>
                  <th>Why</th>
                  <th>Started</th>
                  <th class="number">Lasted</th>
                  <th class="act">
                    <span class="visually-hidden">What can be done</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.jobs.map((job) => (
                  <tr key={job.job_id} aria-selected={job.job_id === chosen}>
                    <td>
                      <button type="button" class="link" onClick={() => ask({ job: job.job_id })}>
                        {kindOfJob(job).name}
                      </button>
                    </td>
                    <td>
                      <Status status={job.state} kind={STATE_KINDS[job.state]} />
                    </td>
                    <td class="prose">{progressText(job)}</td>
                    <td>{job.actor}</td>
                    <td class="ellipsis step" title={job.reason ?? undefined}>
                      {job.reason ?? <span class="muted">–</span>}
                    </td>
                    <td>
                      <Ago at={job.started_at} />
                    </td>
                    <td class="number" data-name="Lasted">
                      <Lasted from={job.started_at} to={job.ended_at} />
                    </td>
                    <td class="act">
                      {job.state === 'running' && <StopJob id={job.job_id} onStopped={jobs.reload} />}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </div>
  )
}
