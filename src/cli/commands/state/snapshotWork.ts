// Works on snapshots of live states: compares them with the log, rebuilds one, removes those of ended executions.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { STATE_SNAPSHOT_TYPE } from '../../../domain/state/sealedState.js'
import { CpError } from '../../../errors.js'
import { pageOfSnapshots, pruneAll, rebuildSnapshotOf, verifySnapshotOf } from '../../../services/state/snapshots.js'
import type { CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { isSet, requireYes } from '../../options.js'
import { toned } from '../../output.js'
import { numberOf, thereOrHere } from '../../remote.js'
import { withStates } from '../../states.js'

const PAGE = 200

export const snapshotVerify: CommandSpec = {
  path: ['snapshot', 'verify'],
  doing: 'comparing snapshots with their logs',
  localBecause: 'it reads every log itself; the console verifies one, or starts "replay verify" as a job',
  summary: 'Hold snapshots of live states against the log',
  description:
    'Checks checksum, fold version, number and digest of the events, and compares the state with a fold of exactly those events. Exit code 5 if one differs; the daemon would not use it either. Replay snapshots are checked by "replay verify".',
  args: [{ name: 'id', help: 'execution ids', completes: 'execution', optional: true, variadic: true }],
  options: [{ flags: '--all', help: 'every snapshot there is' }],
  examples: [
    ['snapshot verify 320816801799737344', 'one'],
    ['snapshot verify --all', 'all of them; reads their logs'],
  ],
  run: async (context, input) => {
    if (isSet(input, 'all') === input.rest.length > 0)
      throw new CpError('invalid_input', 'name the executions, or give --all')
    const reports = await withStates(context, async ({ threads, deps }) => {
      const ids = isSet(input, 'all') ? listAll(deps) : each(input.rest.map((id) => parseExecutionId(id, 'id')))
      const found: { id: string; report: Awaited<ReturnType<typeof verifySnapshotOf>> }[] = []
      for await (const id of ids) {
        found.push({ id, report: await verifySnapshotOf({ databases: deps.databases, threads }, id) })
      }
      return found
    })
    const bad = reports.filter(({ report }) => !report.ok).length
    return {
      json: {
        checked: reports.length,
        bad,
        snapshots: reports.map(({ id, report }) => ({
          execution_id: id,
          found: report.found,
          ok: report.ok,
          version: report.version,
          problem: report.problem ?? null,
          detail: report.detail,
        })),
      },
      blocks: [
        {
          kind: 'table',
          columns: ['execution', 'version', 'of', 'result', 'detail'],
          isProse: true,
          rows: reports.map(({ id, report }) => [
            id,
            report.found ? report.version : null,
            report.head,
            report.ok ? toned(report.found ? 'good' : 'none', report.found ? 'good' : 'dim') : toned('bad', 'bad'),
            report.detail,
          ]),
          empty: 'no snapshots',
        },
      ],
      exitCode: bad === 0 ? EXIT.ok : EXIT.difference,
    }
  },
}

async function* each(ids: readonly string[]): AsyncIterable<string> {
  yield* ids
}

async function* listAll(deps: Parameters<typeof pageOfSnapshots>[0]): AsyncIterable<string> {
  for (let after = { type: '', id: '' }; ; ) {
    const { rows, failures } = await pageOfSnapshots(deps, {
      type: STATE_SNAPSHOT_TYPE,
      executionId: null,
      after,
      limit: PAGE,
    })
    const failure = failures[0]
    if (failure !== undefined) throw failure.error
    for (const row of rows) if (/^\d+$/.test(row.aggregate_id)) yield row.aggregate_id
    const last = rows[rows.length - 1]
    if (last === undefined || rows.length < PAGE) return
    after = { type: last.aggregate_type, id: last.aggregate_id }
  }
}

export const snapshotRebuild: CommandSpec = {
  path: ['snapshot', 'rebuild'],
  changes: true,
  doing: 'folding the log',
  summary: 'Fold the whole log of an execution and store a new snapshot of its live state',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  examples: [['snapshot rebuild 320816801799737344', 'replace the stored one']],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const { version } = await thereOrHere<{ version?: unknown }>(
      context,
      (remote) => remote.call('postInternalSnapshotsByExecutionIdRebuild', { params: { execution_id: executionId } }),
      () =>
        withStates(context, ({ threads, deps }) =>
          rebuildSnapshotOf({ databases: deps.databases, threads }, executionId),
        ),
    )
    return {
      json: { execution_id: executionId, version: numberOf(version) },
      blocks: [{ kind: 'text', text: `snapshot of execution ${executionId} holds its ${numberOf(version)} events` }],
    }
  },
}

export const snapshotPrune: CommandSpec = {
  path: ['snapshot', 'prune'],
  changes: true,
  doing: 'removing snapshots',
  localBecause: 'it is a job over HTTP, which the console starts and shows',
  summary: 'Remove snapshots of live states whose executions have ended or are gone',
  description:
    'The daemon removes a snapshot when its execution ends (NOETL_CP_SNAPSHOT_AT_END=remove); this removes what a crash or the setting "keep" has left, together with the keys of decisions.',
  options: [{ flags: '--yes', help: 'really remove them' }],
  examples: [['snapshot prune --yes', 'remove snapshots of ended executions']],
  run: async (context, input) => {
    requireYes(input, 'snapshots of ended executions will be removed')
    const deps = await context.deps()
    const { snapshots, decisionKeys, failures } = await pruneAll(deps)
    return {
      json: {
        removed_snapshots: snapshots,
        removed_decision_keys: decisionKeys,
        failed_shards: failures.map(({ shard, error }) => ({ shard, error: error.message })),
      },
      blocks: [{ kind: 'text', text: `removed ${snapshots} snapshots and ${decisionKeys} decision keys` }],
      notes: failures.map(({ shard, error }) => `shard ${shard} did not answer: ${error.message}`),
      exitCode: failures.length === 0 ? EXIT.ok : EXIT.unavailable,
    }
  },
}
