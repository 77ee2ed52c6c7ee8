// Work that takes longer than an answer: started by a request, asked about by its id, stopped on request. Kept in memory: a job
// survives a reload of the page, not a restart of the daemon, and says so.
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../domain/json/value.js'
import { CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { withDeadline } from '../../runtime/deadline.js'
import type { Service } from '../../runtime/service.js'

export type JobState = 'running' | 'done' | 'stopped' | 'failed'

export interface Job {
  readonly id: string
  readonly kind: string
  readonly actor: string
  readonly reason: string | null
  readonly startedAt: number
  endedAt: number | undefined
  state: JobState
  /** Undefined while it is still being found out. */
  matched: number | undefined
  done: number
  refused: number
  failed: number
  /** Of what was refused or failed, the first. */
  troubles: { target: string; outcome: 'refused' | 'failed'; error: string }[]
  /** Why the job as a whole failed. */
  error: string | undefined
  /** What came of it, where counts do not say. */
  report: JsonObject | undefined
}

/** What the work of a job may say and ask. */
export interface JobHandle {
  readonly job: Job
  readonly signal: AbortSignal
  changed(): void
  /** One item is done, or why it is not. */
  settle(target: string, error?: unknown): void
}

export interface Jobs extends Service {
  /** Throws `overloaded` when too many run. */
  begin(
    about: Pick<Job, 'kind' | 'actor' | 'reason'>,
    work: (handle: JobHandle) => Promise<JsonObject | undefined>,
  ): Job
  get(id: string): Job
  /** Newest first. */
  list(): Job[]
  stopJob(id: string): Job
}

const RUNNING_MAX = 2
const KEPT_MAX = 50
const TROUBLES_MAX = 100
const TOLD_EVERY_MS = 500
const REFUSALS: readonly string[] = ['refused', 'conflict', 'not_found', 'invalid_input', 'too_large']

export function createJobs({ clock, onChange }: { clock: Clock; onChange?(job: Job): void }): Jobs {
  const jobs = new Map<string, { job: Job; stop: AbortController; over: Promise<void> }>()
  let isStopping = false

  function known(id: string) {
    const found = jobs.get(id)
    if (found !== undefined) return found
    throw new CpError(
      'not_found',
      `there is no job ${id}; jobs are kept in the daemon that started them until it stops`,
    )
  }

  function forgetOldest(): void {
    for (const [id, { job }] of jobs) {
      if (jobs.size < KEPT_MAX) return
      if (job.state !== 'running') jobs.delete(id)
    }
  }

  function handleOf(job: Job, signal: AbortSignal): JobHandle {
    let toldAt = clock.monotonic()
    const changed = (): void => {
      if (clock.monotonic() - toldAt < TOLD_EVERY_MS) return
      toldAt = clock.monotonic()
      onChange?.(job)
    }
    return {
      job,
      signal,
      changed,
      settle: (target, thrown) => {
        if (thrown === undefined) job.done += 1
        else note(job, target, toCpError(thrown))
        changed()
      },
    }
  }

  async function run(handle: JobHandle, work: (handle: JobHandle) => Promise<JsonObject | undefined>): Promise<void> {
    const { job, signal } = handle
    try {
      job.report = await work(handle)
      job.state = signal.aborted ? 'stopped' : 'done'
    } catch (error) {
      job.state = signal.aborted ? 'stopped' : 'failed'
      job.error = toCpError(error).message
    }
    job.endedAt = clock.now()
    onChange?.(job)
  }

  return {
    name: 'jobs',
    start: async () => undefined,
    begin: (about, work) => {
      if (isStopping) throw new CpError('unavailable', 'the daemon is stopping')
      const running = [...jobs.values()].filter(({ job }) => job.state === 'running').length
      if (running >= RUNNING_MAX) {
        throw new CpError('overloaded', `${RUNNING_MAX} jobs are running; wait for one of them, or stop it`, {
          details: { retryAfterSeconds: 5 },
        })
      }
      forgetOldest()
      const stop = new AbortController()
      const job = newJob(about, clock.now())
      const handle = handleOf(job, stop.signal)
      jobs.set(job.id, { job, stop, over: run(handle, work) })
      onChange?.(job)
      return job
    },
    stop: async (deadlineMs) => {
      isStopping = true
      for (const { stop } of jobs.values()) stop.abort()
      const all = Promise.all([...jobs.values()].map(({ over }) => over))
      await withDeadline(all, deadlineMs, { what: 'stopping the jobs' })
    },
    get: (id) => known(id).job,
    list: () => [...jobs.values()].map(({ job }) => job).reverse(),
    stopJob: (id) => {
      const { job, stop } = known(id)
      stop.abort()
      return job
    },
  }
}

function newJob({ kind, actor, reason }: Pick<Job, 'kind' | 'actor' | 'reason'>, startedAt: number): Job {
  return {
    id: randomUUID(),
    kind,
    actor,
    reason,
    startedAt,
    endedAt: undefined,
    state: 'running',
    matched: undefined,
    done: 0,
    refused: 0,
    failed: 0,
    troubles: [],
    error: undefined,
    report: undefined,
  }
}

function note(job: Job, target: string, error: CpError): void {
  const outcome = REFUSALS.includes(error.code) ? 'refused' : 'failed'
  job[outcome] += 1
  if (job.troubles.length < TROUBLES_MAX) job.troubles.push({ target, outcome, error: error.message })
}
