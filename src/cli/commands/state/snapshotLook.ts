// Looking at stored snapshots: the list, and those of one execution.

import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { SEED_AGGREGATE_TYPE } from '../../../domain/replay/replaySeed.js'
import { STATE_SNAPSHOT_TYPE } from '../../../domain/state/sealedState.js'
import { CpError } from '../../../errors.js'
import { findExecution } from '../../../services/executions/executionQueries.js'
import { pageOfSnapshots, type SnapshotListRow } from '../../../services/state/snapshots.js'
import type { CommandSpec, Input } from '../../command.js'
import { formatAge } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { NOT_ANSWERED } from '../../notAnswered.js'
import { integerOption, textOption } from '../../options.js'

const TYPES: Readonly<Record<string, string | null>> = {
  state: STATE_SNAPSHOT_TYPE,
  replay: SEED_AGGREGATE_TYPE,
  all: null,
}
const LIMIT_MAX = 1_000

export const snapshotList: CommandSpec = {
  path: ['snapshot', 'list'],
  localBecause: 'snapshots lie in the database, and no route gives them out',
  summary: 'Stored snapshots',
  description:
    'Lists snapshots of live states and of replays. A snapshot is a cache: removing one costs time, never data. "behind" is the number of events that came after it.',
  options: [
    { flags: '--type <type>', help: Object.keys(TYPES).join(', '), completes: Object.keys(TYPES), default: 'state' },
    { flags: '--limit <n>', help: `page size, up to ${LIMIT_MAX}`, default: '50' },
    { flags: '--after <name>', help: 'where the page before ended: <type>:<name>' },
  ],
  examples: [
    ['snapshot list', 'of live states'],
    ['snapshot list --type all --limit 200', 'of every kind'],
  ],
  run: async (context, input) => {
    const deps = await context.deps()
    const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 50
    const page = await pageOfSnapshots(deps, {
      type: readType(input),
      executionId: null,
      after: readAfter(input),
      limit,
    })
    const last = page.rows.length === limit ? page.rows[limit - 1] : undefined
    const next = last === undefined ? null : `${last.aggregate_type}:${last.aggregate_id}`
    const failed = page.failures.map(({ shard, error }) => ({ shard, error: error.message }))
    return {
      json: { snapshots: page.rows.map(toJson), next_after: next, failed_shards: failed },
      blocks: [
        {
          kind: 'table',
          columns: ['snapshot', 'type', 'version', 'behind', 'bytes', 'stored', 'written', 'execution'],
          spare: ['bytes', 'type', 'behind'],
          rows: page.rows.map((row) => [
            row.aggregate_id,
            row.aggregate_type,
            row.version,
            behind(row),
            metaText(row, 'bytes'),
            row.stored_bytes,
            formatAge(wireTimeFromPostgres(row.updated_at, 'updated_at'), deps.clock.now()),
            row.execution_status ?? 'gone',
          ]),
          empty: failed.length === 0 ? 'no snapshots' : NOT_ANSWERED,
        },
      ],
      notes: [
        ...failed.map(({ shard, error }) => `shard ${shard} did not answer: ${error}`),
        ...(next === null ? [] : [`more: --after ${next}`]),
      ],
      exitCode: failed.length === 0 ? EXIT.ok : EXIT.unavailable,
    }
  },
}

export const snapshotShow: CommandSpec = {
  path: ['snapshot', 'show'],
  localBecause: 'snapshots lie in the database, and no route gives them out',
  summary: 'The snapshots of one execution',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  examples: [['snapshot show 320816801799737344', 'what is stored for it']],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const deps = await context.deps()
    const after = { type: '', id: '' }
    const { rows } = await pageOfSnapshots(deps, { type: null, executionId, after, limit: LIMIT_MAX })
    if (rows.length === 0) {
      await findExecution(deps, executionId)
      throw new CpError('not_found', `execution ${executionId} has no snapshot; see "noetl-cp snapshot take"`)
    }
    return {
      json: { execution_id: executionId, snapshots: rows.map(toJson) },
      blocks: rows.map((row) => ({
        kind: 'record',
        title: `${row.aggregate_type} ${row.aggregate_id}`,
        entries: [
          ['version', row.version],
          ['behind', behind(row)],
          ['events', metaText(row, 'applied_count')],
          ['digest', metaText(row, 'digest')],
          ['checksum', row.checksum],
          ['fold version', metaText(row, 'fold_version')],
          ['form', row.snapshot_codec ?? 'jsonb, written by others'],
          ['bytes', metaText(row, 'bytes')],
          ['stored', row.stored_bytes],
          ['tenant', `${row.tenant_id}/${row.organization_id}`],
          ['written', wireTimeFromPostgres(row.updated_at, 'updated_at')],
          ['execution', row.execution_status ?? 'gone'],
        ] as const,
      })),
    }
  },
}

function readType(input: Input): string | null {
  const name = textOption(input, 'type') ?? 'state'
  const type = TYPES[name]
  if (type === undefined) {
    throw new CpError(
      'invalid_input',
      `--type must be one of ${Object.keys(TYPES).join(', ')}, not ${JSON.stringify(name)}`,
    )
  }
  return type
}

function readAfter(input: Input): { type: string; id: string } {
  const given = textOption(input, 'after')
  if (given === undefined) return { type: '', id: '' }
  const colon = given.indexOf(':')
  if (colon < 0) throw new CpError('invalid_input', '--after must be <type>:<name>, as the page before ended')
  return { type: given.slice(0, colon), id: given.slice(colon + 1) }
}

/** Only the versions of live states count events. */
function behind(row: SnapshotListRow): string | null {
  if (row.head === null || row.aggregate_type !== TYPES['state'] || row.snapshot_codec === null) return null
  return String(BigInt(row.head) - BigInt(row.version))
}

function metaText(row: SnapshotListRow, key: string): string | null {
  const value: JsonValue | undefined = isJsonObject(row.meta) ? row.meta[key] : undefined
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : writeJson(value)
}

function toJson(row: SnapshotListRow & { shard: number }): JsonObject {
  return {
    ...row,
    created_at: wireTimeFromPostgres(row.created_at, 'created_at'),
    updated_at: wireTimeFromPostgres(row.updated_at, 'updated_at'),
  }
}
