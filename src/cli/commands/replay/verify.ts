// Checks many executions: the nightly job.
import { replayDeps } from '../../../daemon/replay.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import { verifyExecution } from '../../../services/replay/replay.js'
import { type Checked, verifyMany } from '../../../services/replay/verifyMany.js'
import type { CommandSpec } from '../../command.js'
import { parseInstant } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { integerOption, isSet, textOption } from '../../options.js'
import { toned } from '../../output.js'
import { createProgress } from '../../progress.js'
import { OWNER_OPTIONS, requestOf } from '../../replay/options.js'
import { verifyOutput } from '../../replay/verification.js'
import { watching } from '../../replay/watching.js'

const PARALLEL_MAX = 64
const LIMIT_MAX = 1_000_000_000

export const replayVerify: CommandSpec = {
  path: ['replay', 'verify'],
  localBecause: 'it compares the log with snapshots and read model, execution by execution',
  summary: 'Compare full fold, snapshot and read model of one or of all executions',
  description:
    'For each execution: the full fold against its snapshot and the events after it, and against the read model. With --all many at a time, with a summary at the end. Exit code 5 when anything differs, 1 when something could not be checked.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution', optional: true }],
  options: [
    { flags: '--all', help: 'every execution' },
    { flags: '--since <time>', help: 'only those that changed since then; a time, or a span such as 24h' },
    { flags: '--limit <n>', help: 'at most so many executions' },
    { flags: '--parallel <n>', help: 'how many at a time', default: '2' },
    ...OWNER_OPTIONS,
  ],
  examples: [
    ['replay verify 320816801799737344', 'one execution'],
    ['replay verify --all --since 24h', 'for a nightly job'],
  ],
  run: async (context, input) => {
    if (!isSet(input, 'all')) {
      if (input.args['id'] === undefined) throw new CpError('invalid_input', 'name an execution, or give --all')
      const id = parseExecutionId(input.args['id'], 'id')
      const { deps, request } = await requestOf(context, input, id)
      return verifyOutput(id, await watching(context, (progress) => verifyExecution(deps, request, { progress })))
    }
    const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? LIMIT_MAX
    const parallel = integerOption(input, 'parallel', { min: 1, max: PARALLEL_MAX }) ?? 2
    const opened = await context.deps()
    const sinceText = textOption(input, 'since')
    const since = sinceText === undefined ? null : parseInstant(sinceText, '--since', opened.clock.now())
    const progress = createProgress(context, 'executions')
    const started = performance.now()
    const report = await verifyMany(replayDeps(opened), {
      since,
      limit,
      parallel,
      onChecked: (_, count) => progress.report(count),
    }).finally(() => progress.end())
    const seconds = (performance.now() - started) / 1000
    const isWhole = report.failed === 0 && report.away.length === 0
    return {
      json: {
        checked: report.checked,
        agreed: report.agreed,
        different: report.different,
        failed: report.failed,
        events: report.events,
        seconds: Math.round(seconds * 1000) / 1000,
        more: report.more,
        failed_shards: report.away.map(({ shard }) => shard),
        troubled: report.troubled.map(troubledJson),
      },
      blocks: [
        {
          kind: 'record',
          title: 'Verified',
          entries: [
            ['executions', report.checked],
            ['agreed', toned(String(report.agreed), 'good')],
            ['different', toned(String(report.different), report.different === 0 ? 'dim' : 'bad')],
            ['failed', toned(String(report.failed), report.failed === 0 ? 'dim' : 'bad')],
            ['events', report.events],
            ['seconds', seconds.toFixed(1)],
          ],
        },
        ...(report.troubled.length === 0
          ? []
          : [
              {
                kind: 'table' as const,
                title: 'Trouble',
                columns: ['execution', 'what'],
                isProse: true,
                rows: report.troubled.map((checked) => [checked.executionId, troubleText(checked)]),
              },
            ]),
      ],
      notes: [
        ...report.away.map(({ shard, error }) => `shard ${shard} could not be listed: ${error.message}`),
        ...(report.more ? [`stopped at the limit of ${limit}; there are more`] : []),
      ],
      exitCode: report.different > 0 ? EXIT.difference : isWhole ? EXIT.ok : EXIT.failed,
    }
  },
}

function troubledJson(checked: Checked): JsonObject {
  return {
    execution_id: checked.executionId,
    error: checked.error?.message ?? null,
    checks: checked.output?.checks.map((check) => ({ ...check })) ?? [],
  }
}

function troubleText({ output, error }: Checked): string {
  if (error !== null) return `could not be checked: ${error.message}`
  return (output?.checks ?? [])
    .filter((check) => !check.ok)
    .map((check) => `${check.check}: ${check.detail}`)
    .join('; ')
}
