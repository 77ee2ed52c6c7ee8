// One act on many executions, through the daemon: first what it would do, then a job that is watched to its end.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import type { BulkAction } from '../../../services/executions/bulk.js'
import type { CommandSpec, Input, OptionSpec } from '../../command.js'
import { operatorClient } from '../../operatorClient.js'
import { integerOption, isSet, textOption } from '../../options.js'
import { filterQuery } from '../../remote/executions.js'
import { agreeTo } from './bulkAgreement.js'
import { type JobShown, jobOutput, watchJob } from './bulkJob.js'
import { type BulkPlan, planOutput } from './bulkPlan.js'
import { FILTER_OPTIONS, readFilter } from './filterOptions.js'

const LIMIT_MAX = 100_000

interface Verb {
  action: BulkAction
  summary: string
  done: string
  options: readonly OptionSpec[]
  example: readonly [string, string]
}

const VERBS: readonly Verb[] = [
  {
    action: 'cancel',
    summary: 'Cancel every execution that was named or matches',
    done: 'cancelled',
    options: [{ flags: '--cascade', help: 'everything that they have started, too' }],
    example: ["bulk cancel --status RUNNING --path 'demo/*' --reason stuck", 'see what it would do, then agree'],
  },
  {
    action: 'rerun',
    summary: 'Start a new execution of each with the same workload',
    done: 'run again',
    options: [],
    example: [
      'bulk rerun --status FAILED --since 2h --reason "the bank is back" --yes',
      'up to a hundred, without asking',
    ],
  },
  {
    action: 'resume',
    summary: 'Go on with those that failed or were cancelled',
    done: 'resumed',
    options: [],
    example: [
      'bulk resume --status FAILED --label team=payments --reason fixed --yes --expect 1204',
      'more than a hundred, if there are as many as expected',
    ],
  },
  {
    action: 'finalize',
    summary: 'End those that have not ended, with a status',
    done: 'ended',
    options: [
      { flags: '--as <status>', help: 'COMPLETED or FAILED', default: 'FAILED', completes: ['COMPLETED', 'FAILED'] },
    ],
    example: ['bulk finalize 320816801799737344 320816801799737345 --reason "lost worker" --as FAILED', 'two of them'],
  },
]

export const bulkActs: readonly CommandSpec[] = VERBS.map(bulkAct)

function bulkAct({ action, summary, done, options, example }: Verb): CommandSpec {
  return {
    path: ['bulk', action],
    changes: (input) => !isSet(input, 'dry-run'),
    summary,
    description:
      'Asks the running daemon what would be done, asks you, and has it done as a job that is watched to its end; Ctrl-C stops the job, and what it has done stays done. Without a terminal --yes agrees; above 100 executions the number must be typed, or given with --expect. Exit code 4: some were refused; 1: some failed; 75: stopped before the end.',
    args: [
      {
        name: 'ids',
        help: 'executions; without any, those that match',
        optional: true,
        variadic: true,
        completes: 'execution',
      },
    ],
    options: [
      ...FILTER_OPTIONS,
      ...options,
      { flags: '--all', help: 'every execution: neither ids nor a filter' },
      { flags: '--reason <text>', help: 'why; kept with every act', isWhy: true },
      { flags: '--limit <n>', help: `at most so many, up to ${LIMIT_MAX}`, default: String(LIMIT_MAX) },
      { flags: '--dry-run', help: 'only say what would be done' },
      { flags: '--yes', help: 'do not ask' },
      { flags: '--expect <n>', help: 'refuse unless exactly so many match' },
      { flags: '--detach', help: 'do not wait for the end' },
    ],
    examples: [example, [`bulk ${action} --status RUNNING --dry-run`, 'what would be done']],
    run: async (context, input) => {
      const order = { action, ...wantedBy(input), ...howOf(action, input) }
      const reason = textOption(input, 'reason')?.trim() ?? ''
      const isDryRun = isSet(input, 'dry-run')
      if (reason === '' && !isDryRun)
        throw new CpError('invalid_input', '--reason is needed; it is kept with every act')
      const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? LIMIT_MAX
      const remote = await operatorClient(context)
      const asked = { ...order, limit, dry_run: true, reason: 'dry run' }
      const plan = (await remote.call('postBulk', { body: asked })) as BulkPlan
      const hasWork = plan.concerned > 0 || (isSet(input, 'cascade') && plan.matched > 0)
      if (isDryRun || !hasWork) return planOutput(plan, done)
      await agreeTo(context, input, planOutput(plan, done), plan, action)
      await context.recorded()
      // Never on more than was agreed to.
      const begun = (await remote.call('postBulk', { body: { ...order, limit: plan.matched, reason } })) as JobShown
      return isSet(input, 'detach') ? jobOutput(begun) : jobOutput(await watchJob(context, remote, begun))
    },
  }
}

function howOf(action: BulkAction, input: Input) {
  if (action === 'cancel') return { cascade: isSet(input, 'cascade') }
  if (action !== 'finalize') return {}
  const status = textOption(input, 'as')?.toUpperCase()
  if (status !== 'COMPLETED' && status !== 'FAILED') {
    throw new CpError(
      'invalid_input',
      `--as must be COMPLETED or FAILED, not ${JSON.stringify(textOption(input, 'as'))}`,
    )
  }
  return { status } as const
}

function wantedBy(input: Input): { ids: string[] } | { filter: Record<string, string> } {
  const ids = input.rest.map((id) => parseExecutionId(id, 'ids'))
  const filter: Record<string, string> = filterQuery(readFilter(input, systemClock.now()))
  const isFiltered = Object.keys(filter).length > 0
  const given = [ids.length > 0, isFiltered, isSet(input, 'all')].filter((isGiven) => isGiven).length
  if (given !== 1) {
    throw new CpError('invalid_input', 'say which executions: either ids, or a filter such as --status, or --all')
  }
  return ids.length > 0 ? { ids } : { filter }
}
