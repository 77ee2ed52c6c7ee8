// A job of the daemon: how far it is, watched to its end, shown and stopped.
import type { JsonObject } from '../../../domain/json/value.js'
import { systemClock } from '../../../runtime/clock.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { operatorClient } from '../../operatorClient.js'
import { type Cell, type Output, type Tone, type ToneCell, toned } from '../../output.js'
import { createProgress } from '../../progress.js'
import type { RemoteClient } from '../../remote.js'

export interface JobShown {
  job_id: string
  kind: string
  actor: string
  reason: string | null
  state: 'running' | 'done' | 'stopped' | 'failed'
  started_at: string
  ended_at: string | null
  matched: number | null
  done: number
  refused: number
  failed: number
  troubles: { target: string; outcome: string; error: string }[]
  error: string | null
}

const ASK_MS = 300

/** To its end. Whoever interrupts us means the job. */
export async function watchJob(context: CommandContext, remote: RemoteClient, begun: JobShown): Promise<JobShown> {
  const shutdown = listenForShutdown(context.io)
  const progress = createProgress(context, `of ${begun.matched ?? 'all'} done`)
  const params = { job_id: begun.job_id }
  let job = begun
  let isTold = false
  try {
    while (job.state === 'running') {
      progress.report(job.done + job.refused + job.failed)
      // After an interrupt the sleep is over at once.
      await (isTold ? systemClock.sleep(ASK_MS) : systemClock.sleep(ASK_MS, shutdown.signal))
      if (shutdown.signal.aborted && !isTold) {
        isTold = true
        await remote.call('postBulkByJobIdStop', { params })
      }
      job = (await remote.call('getBulkByJobId', { params })) as JobShown
    }
  } finally {
    progress.end()
    shutdown.dispose()
  }
  return job
}

const TONES: Readonly<Record<JobShown['state'], Tone>> = {
  running: 'warn',
  done: 'good',
  stopped: 'warn',
  failed: 'bad',
}

export function jobOutput(job: JobShown): Output {
  const entries: (readonly [string, Cell | ToneCell])[] = [
    ['kind', job.kind],
    ['state', toned(job.state, TONES[job.state])],
    ['reason', job.reason],
    ['actor', job.actor],
    ['matched', job.matched],
    ['done', job.done],
    ['refused', job.refused],
    ['failed', job.failed],
    ['error', job.error],
  ]
  return {
    json: job as unknown as JsonObject,
    blocks: [
      {
        kind: 'record',
        title: `Job ${job.job_id}`,
        entries: entries.filter(([, value]) => value !== null),
      },
      ...(job.troubles.length === 0
        ? []
        : [
            {
              kind: 'table' as const,
              title: 'Not done',
              columns: ['execution', 'outcome', 'why'],
              rows: job.troubles.map(({ target, outcome, error }) => [target, outcome, error]),
            },
          ]),
    ],
    notes: job.state === 'running' ? [`goes on in the daemon; "bulk show ${job.job_id}" tells how far it is`] : [],
    exitCode: exitOf(job),
  }
}

function exitOf({ state, failed, refused }: JobShown): number {
  if (state === 'stopped') return EXIT.workRemains
  if (state === 'failed' || failed > 0) return EXIT.failed
  return refused > 0 ? EXIT.refused : EXIT.ok
}

const JOB = [{ name: 'job', help: 'its id' }]

export const bulkShow: CommandSpec = {
  path: ['bulk', 'show'],
  summary: 'How far a job is',
  description: 'The exit code is that of the command which began it. Jobs are kept by their daemon until that stops.',
  args: JOB,
  examples: [['bulk show 0b6ac4de-3f0e-4f3c-9d0a-7f5c0f0c1f11', 'how far it is']],
  run: async (context, input) => {
    const remote = await operatorClient(context)
    return jobOutput((await remote.call('getBulkByJobId', { params: { job_id: input.args['job']! } })) as JobShown)
  },
}

export const bulkStop: CommandSpec = {
  path: ['bulk', 'stop'],
  changes: true,
  summary: 'Stop a job; what it has done stays done',
  args: JOB,
  examples: [['bulk stop 0b6ac4de-3f0e-4f3c-9d0a-7f5c0f0c1f11', 'no further ones']],
  run: async (context, input) => {
    const remote = await operatorClient(context)
    await context.recorded()
    const params = { job_id: input.args['job']! }
    const job = (await remote.call('postBulkByJobIdStop', { params })) as JobShown
    return { ...jobOutput(job), exitCode: EXIT.ok }
  },
}

export const bulkList: CommandSpec = {
  path: ['bulk', 'list'],
  summary: 'The jobs of the daemon, newest first',
  examples: [['bulk list', 'also those that the console began']],
  run: async (context) => {
    const remote = await operatorClient(context)
    const jobs = ((await remote.call('getBulk', {})).jobs ?? []) as unknown as JobShown[]
    return {
      json: { jobs: jobs as unknown as JsonObject[] },
      blocks: [
        {
          kind: 'table',
          columns: ['job', 'kind', 'state', 'matched', 'done', 'refused', 'failed', 'reason'],
          rows: jobs.map((job) => [
            job.job_id,
            job.kind,
            toned(job.state, TONES[job.state]),
            job.matched,
            job.done,
            job.refused,
            job.failed,
            job.reason,
          ]),
          empty: 'no job since the daemon started',
        },
      ],
    }
  },
}
