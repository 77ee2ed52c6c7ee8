// Work on rows of the outbox: try again now, bring dead rows back, remove old ones. Always bounded.
import { parseOutboxId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import { type DeadWork, dropDead, purgeOutbox, redriveDead, retryOutbox } from '../../../services/outbox/admin.js'
import { type DeadFilter, databaseOf, pageOfDead } from '../../../services/outbox/pages.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { parseDuration, parseInstant } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { integerOption, isSet, requireYes, textOption } from '../../options.js'
import type { Output } from '../../output.js'
import { deadRemotely, redriveRemotely, retryRemotely } from '../../remote/outbox.js'
import { thereOrHere } from '../../remote.js'
import { executionOption, listOutput, pageOptions, rowJson } from './outbox.js'

const LIMIT_DEFAULT = 1_000
const LIMIT_MAX = 1_000_000

/** Not --reason: that one chooses rows by what they died of. */
const NOTE = { flags: '--note <text>', help: 'why, for the record', isWhy: true } as const

export const outboxRetry: CommandSpec = {
  path: ['outbox', 'retry'],
  changes: true,
  summary: 'Try failed rows now instead of at their next time',
  description:
    'Failed rows wait longer after every refusal. This lets them be tried at once; their attempts stay. Name rows, an execution, or --all.',
  args: [{ name: 'ids', help: 'outbox ids', optional: true, variadic: true }],
  options: [
    { flags: '--execution <id>', help: 'failed rows of this execution', completes: 'execution' },
    { flags: '--all', help: 'all failed rows' },
    { flags: '--shard <i>', help: 'only this database' },
    { flags: '--limit <n>', help: `at most so many; default ${LIMIT_DEFAULT}` },
    NOTE,
  ],
  examples: [
    ['outbox retry 4711 4712', 'two rows'],
    ['outbox retry --execution 320816801799737344', 'one execution'],
    ['outbox retry --all --limit 100000', 'after the broker was repaired'],
  ],
  run: async (context, input) => {
    const scope = { ...workOptions(input), executionId: executionOption(input), ids: idsOf(input) }
    requireChoice(input, scope.ids, scope.executionId, undefined)
    const retried = await thereOrHere(
      context,
      (remote) => retryRemotely(remote, { ...scope, note: noteOf(input) }),
      async () => {
        const deps = await context.deps()
        requireShard(scope, deps.databases.shards.length)
        return interruptible(context, (signal) => retryOutbox(deps, { ...scope, signal }))
      },
    )
    requireFound(scope.ids, retried, scope.limit, `${retried} row(s) may be tried now`, 'FAILED')
    return {
      json: { retried },
      blocks: [{ kind: 'text', text: `${retried} row(s) may be tried now` }],
    }
  },
}

const DEAD_OPTIONS = [
  { flags: '--execution <id>', help: 'only of this execution', completes: 'execution' },
  { flags: '--reason <text>', help: 'only with this text in the reason' },
  { flags: '--since <time>', help: 'dead since: a time, or a span such as 2h' },
  { flags: '--shard <i>', help: 'only this database' },
] as const

export const outboxDeadList: CommandSpec = {
  path: ['outbox', 'dead', 'list'],
  summary: 'Rows that were given up, with the reason',
  options: [
    ...DEAD_OPTIONS,
    { flags: '--after <cursor>', help: 'go on after this row' },
    { flags: '--limit <n>', help: 'rows; default 50' },
  ],
  examples: [
    ['outbox dead list', 'all of them'],
    ['outbox dead list --reason larger --since 1d', 'too large, since yesterday'],
  ],
  run: async (context, input) => {
    const scope = { ...deadFilter(input, systemClock.now()), ...pageOptions(input) }
    const page = await thereOrHere(
      context,
      (remote) => deadRemotely(remote, scope),
      async () => pageOfDead(await context.deps(), scope),
    )
    return listOutput(page)
  },
}

const DEAD_WORK_OPTIONS = [
  ...DEAD_OPTIONS,
  { flags: '--all', help: 'all dead rows' },
  { flags: '--limit <n>', help: `at most so many; default ${LIMIT_DEFAULT}` },
  { flags: '--dry-run', help: 'only say which' },
  NOTE,
] as const

export const outboxDeadRedrive: CommandSpec = {
  path: ['outbox', 'dead', 'redrive'],
  changes: true,
  doing: 'bringing rows back',
  summary: 'Bring dead rows back to be published',
  description:
    'The rows start again from attempt 0 and may die again. Name rows, filter them, or say --all; --dry-run shows which. Each row is taken at most once per run. Exit code 75 when the limit was reached with rows left.',
  args: [{ name: 'ids', help: 'outbox ids', optional: true, variadic: true }],
  options: DEAD_WORK_OPTIONS,
  examples: [
    ['outbox dead redrive --reason "does not permit" --dry-run', 'what would come back'],
    ['outbox dead redrive --execution 320816801799737344', 'one execution'],
    ['outbox dead redrive --all --limit 100 --note "the stream takes them now"', 'carefully, and say why'],
  ],
  run: async (context, input) => {
    const { scope, result } = await workOnDead(context, input, redriveDead, redriveRemotely)
    const text = scope.dryRun ? `${result.matched} row(s) would come back` : `${result.done} row(s) came back`
    return deadOutput(scope.dryRun, result, 'redriven', text)
  },
}

export const outboxDeadDrop: CommandSpec = {
  path: ['outbox', 'dead', 'drop'],
  changes: true,
  doing: 'dropping rows',
  localBecause: 'what cannot be taken back is done where the database is',
  summary: 'Remove dead rows for good',
  description:
    'Their events stay in the log and are never published. Name rows, filter them, or say --all; --dry-run shows which, and without it --yes is needed. Exit code 75 when the limit was reached with rows left.',
  args: [{ name: 'ids', help: 'outbox ids', optional: true, variadic: true }],
  options: [...DEAD_WORK_OPTIONS, { flags: '--yes', help: 'really' }],
  examples: [
    ['outbox dead drop --reason larger --dry-run', 'what would go'],
    ['outbox dead drop 4711 --yes', 'one row'],
  ],
  run: async (context, input) => {
    if (!isSet(input, 'dry-run')) requireYes(input, 'events of these rows will never be published')
    const { scope, result } = await workOnDead(context, input, dropDead)
    const text = scope.dryRun ? `${result.matched} row(s) would be removed` : `${result.done} row(s) removed`
    return deadOutput(scope.dryRun, result, 'dropped', text)
  },
}

async function workOnDead(
  context: CommandContext,
  input: Input,
  work: typeof redriveDead,
  workRemotely?: typeof redriveRemotely,
) {
  const filter = { ...deadFilter(input, systemClock.now()), ids: idsOf(input) }
  requireChoice(input, filter.ids, filter.executionId, filter.reason ?? filter.since)
  const scope = { ...filter, ...workOptions(input), dryRun: isSet(input, 'dry-run') }
  const here = async (): Promise<DeadWork> => {
    const deps = await context.deps()
    requireShard(scope, deps.databases.shards.length)
    return interruptible(context, (signal) => work(deps, { ...scope, signal }))
  }
  const result =
    workRemotely === undefined
      ? await here()
      : await thereOrHere(context, (remote) => workRemotely(remote, { ...scope, note: noteOf(input) }), here)
  requireFound(scope.ids, result.matched, scope.limit, `${result.done} row(s) done`, 'DEAD')
  return { scope, result }
}

function deadOutput(dryRun: boolean, { matched, done, sample, more }: DeadWork, word: string, text: string): Output {
  return {
    json: { dry_run: dryRun, matched, [word]: done, more, sample: sample.map(rowJson) },
    blocks: dryRun
      ? [...listOutput({ rows: sample, next: undefined, failures: [] }).blocks, { kind: 'text', text }]
      : [{ kind: 'text', text }],
    notes: more ? ['there are more; run it again for the rest'] : [],
    exitCode: more && !dryRun ? EXIT.workRemains : EXIT.ok,
  }
}

export const outboxPurge: CommandSpec = {
  path: ['outbox', 'purge'],
  changes: true,
  doing: 'removing rows',
  localBecause: 'what cannot be taken back is done where the database is',
  summary: 'Remove rows published long ago',
  description:
    'Removes published rows beyond the window (NOETL_CP_OUTBOX_RETENTION) in chunks; the daemon does the same by itself. What is not settled is never touched. A shorter --older-than needs --yes: audits and republishing know only rows that are kept. Exit code 75 when the limit was reached with rows left.',
  options: [
    { flags: '--older-than <span>', help: 'instead of the configured window, such as 2h' },
    { flags: '--shard <i>', help: 'only this database' },
    { flags: '--limit <n>', help: `at most so many per database; default ${LIMIT_MAX}` },
    { flags: '--yes', help: 'really, with a shorter window' },
  ],
  examples: [
    ['outbox purge', 'what is beyond the window'],
    ['outbox purge --older-than 1h --yes', 'keep only the last hour'],
  ],
  run: async (context, input) => {
    const { outboxRetentionSeconds } = context.config().config
    const span = textOption(input, 'older-than')
    const seconds = span === undefined ? outboxRetentionSeconds : parseDuration(span, '--older-than') / 1000
    if (seconds < outboxRetentionSeconds) requireYes(input, 'audits will not know these rows any more')
    const { shard, limit = LIMIT_MAX } = {
      shard: integerOption(input, 'shard', { min: 0, max: 1023 }),
      limit: integerOption(input, 'limit', { min: 1, max: 1_000_000_000 }),
    }
    const { databases } = await context.deps()
    const shards = shard === undefined ? databases.shards.map((_, index) => index) : [shard]
    return interruptible(context, async (signal) => {
      const rows = []
      for (const index of shards) {
        const done = await purgeOutbox(databaseOf(databases, index), seconds, { rowsMax: limit, signal })
        rows.push({ shard: index, purged: done.purged, more: done.more })
      }
      const more = rows.some((row) => row.more)
      return {
        json: { shards: rows, purged: rows.reduce((sum, row) => sum + row.purged, 0) },
        blocks: [
          { kind: 'table' as const, columns: ['shard', 'removed'], rows: rows.map((row) => [row.shard, row.purged]) },
        ],
        notes: more ? ['there are more; run it again for the rest'] : [],
        exitCode: more ? EXIT.workRemains : EXIT.ok,
      }
    })
  },
}

function deadFilter(input: Input, nowMs: number): DeadFilter {
  const since = textOption(input, 'since')
  return {
    executionId: executionOption(input),
    reason: textOption(input, 'reason'),
    since: since === undefined ? undefined : parseInstant(since, '--since', nowMs),
  }
}

/** On the database it is on record already; a daemon records what it is told. */
const noteOf = (input: Input): string | undefined => textOption(input, 'note')

function workOptions(input: Input): { shard: number | undefined; limit: number } {
  return {
    shard: integerOption(input, 'shard', { min: 0, max: 1023 }),
    limit: integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? LIMIT_DEFAULT,
  }
}

function idsOf(input: Input): string[] | undefined {
  return input.rest.length === 0 ? undefined : input.rest.map((id) => parseOutboxId(id, 'id'))
}

function requireChoice(
  input: Input,
  ids: readonly string[] | undefined,
  execution: string | undefined,
  other: string | undefined,
): void {
  if (ids !== undefined || execution !== undefined || other !== undefined || isSet(input, 'all')) return
  throw new CpError('invalid_input', 'say which rows: ids, a filter such as --execution, or --all')
}

/** Whoever names rows wants to hear of those that were not there. */
function requireFound(
  ids: readonly string[] | undefined,
  found: number,
  limit: number,
  done: string,
  status: 'FAILED' | 'DEAD',
): void {
  if (ids === undefined || found >= Math.min(new Set(ids).size, limit)) return
  const missing = `${new Set(ids).size - found} of the named rows are not there or not ${status}`
  throw new CpError('not_found', `${done}; ${missing}; see "noetl-cp outbox list --status ${status}"`)
}

/** Every database counts its own ids. */
function requireShard(
  scope: { ids?: readonly string[] | undefined; shard?: number | undefined; executionId?: string | undefined },
  shards: number,
): void {
  if (scope.ids === undefined || scope.shard !== undefined || scope.executionId !== undefined || shards === 1) return
  throw new CpError('invalid_input', 'several databases have rows with these ids; say which with --shard')
}

async function interruptible<T>(context: CommandContext, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const shutdown = listenForShutdown(context.io)
  try {
    return await work(shutdown.signal)
  } finally {
    shutdown.dispose()
  }
}
