// The kinds of jobs that a daemon has, and what their counts mean.
import { whole } from '../lib/time'
import type { StatusKind } from './Status'

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
  /** What came of it, by kind. */
  report: Readonly<Record<string, unknown>> | null
}

interface JobKind {
  name: string
  /** What the counts are called. */
  words: Readonly<Record<'done' | 'refused' | 'failed', string>>
  /** How bad it is to be refused. */
  refusal: StatusKind
}

const ACTED = { done: 'done', refused: 'refused', failed: 'failed' }
const of = (name: string, words: Partial<JobKind['words']> = {}, refusal: StatusKind = 'waiting'): JobKind => ({
  name,
  words: { ...ACTED, ...words },
  refusal,
})

const KINDS: Readonly<Record<string, JobKind>> = {
  'executions.cancel': of('Cancel executions'),
  'executions.rerun': of('Rerun executions'),
  'executions.resume': of('Resume executions'),
  'executions.finalize': of('Finalize executions'),
  'replay.verify': of('Verify logs', { done: 'agree', refused: 'differ', failed: 'could not be checked' }, 'stuck'),
  'snapshots.prune': of('Prune snapshots', { done: 'removed' }),
  'outbox.redrive': of('Requeue dead rows', { done: 'came back', refused: 'were not dead any more' }),
  'outbox.audit': of('Audit the outbox', { done: 'compared' }),
}

export function kindOfJob({ kind }: Pick<JobAnswer, 'kind'>): JobKind {
  return KINDS[kind] ?? of(kind)
}

export const STATE_KINDS: Readonly<Record<JobAnswer['state'], StatusKind>> = {
  running: 'running',
  done: 'completed',
  stopped: 'cancelled',
  failed: 'failed',
}

export function settledOf({ done, refused, failed }: JobAnswer): number {
  return done + refused + failed
}

/** How far it is, in one sentence. */
export function progressText(job: JobAnswer): string {
  const { words } = kindOfJob(job)
  const among = job.matched === null ? '' : ` of ${whole(job.matched)}`
  const counts = `${whole(job.done)} ${words.done}, ${whole(job.refused)} ${words.refused}, ${whole(job.failed)} ${words.failed}`
  return `${whole(settledOf(job))}${among}: ${counts}.${job.report?.['more'] === true ? ' There are more.' : ''}`
}
