// Looking at stored snapshots: the list, and those of one execution.

import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { SEED_AGGREGATE_TYPE } from '../../../domain/replay/replaySeed.js'
import { STATE_SNAPSHOT_TYPE } from '../../../domain/state/sealedState.js'
import { CpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import { findExecution } from '../../../services/executions/executionQueries.js'
import { pageOfSnapshots, type SnapshotListRow } from '../../../services/state/snapshots.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { formatAge } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { NOT_ANSWERED } from '../../notAnswered.js'
import { integerOption, textOption } from '../../options.js'
import {
  type ShownSnapshot,
  type SnapshotPage,
  type SnapshotsAsked,
  snapshotsRemotely,
} from '../../remote/snapshots.js'
import { thereOrHere } from '../../remote.js'

const TYPES = {
  state: STATE_SNAPSHOT_TYPE,
  replay: SEED_AGGREGATE_TYPE,
  all: null,
} as const
const LIMIT_MAX = 1_000

export const snapshotList: CommandSpec = {
  path: ['snapshot', 'list'],
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
    const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 50
    const after = textOption(input, 'after')
    const { rows, next, failed } = await look(context, { type: readType(input), executionId: null, after, limit })
    return {
      json: { snapshots: rows.map((row) => ({ ...row })), next_after: next, failed_shards: failed },
      blocks: [
        {
          kind: 'table',
          columns: ['snapshot', 'type', 'version', 'behind', 'bytes', 'stored', 'written', 'execution'],
          spare: ['bytes', 'type', 'behind'],
          rows: rows.map((row) => [
            row.aggregate_id,
            row.aggregate_type,
            row.version,
            behind(row),
            metaText(row, 'bytes'),
            row.stored_bytes,
            formatAge(row.updated_at, systemClock.now()),
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
  summary: 'The snapshots of one execution',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  examples: [['snapshot show 320816801799737344', 'what is stored for it']],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const { rows } = await look(context, { type: 'all', executionId, after: undefined, limit: LIMIT_MAX })
    if (rows.length === 0) {
      await thereOrHere<unknown>(
        context,
        (remote) => remote.call('getExecutionsByExecutionId', { params: { execution_id: executionId } }),
        async () => findExecution(await context.deps(), executionId),
      )
      throw new CpError('not_found', `execution ${executionId} has no snapshot; see "noetl-cp snapshot take"`)
    }
    return {
      json: { execution_id: executionId, snapshots: rows.map((row) => ({ ...row })) },
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
          ['written', row.updated_at],
          ['execution', row.execution_status ?? 'gone'],
        ] as const,
      })),
    }
  },
}

function look(context: CommandContext, asked: SnapshotsAsked): Promise<SnapshotPage> {
  const after = readAfter(asked.after)
  return thereOrHere(
    context,
    (remote) => snapshotsRemotely(remote, asked),
    async () => {
      const page = await pageOfSnapshots(await context.deps(), { ...asked, type: TYPES[asked.type], after })
      const last = page.rows.length === asked.limit ? page.rows.at(-1) : undefined
      return {
        rows: page.rows.map(withWireTimes),
        next: last === undefined ? null : `${last.aggregate_type}:${last.aggregate_id}`,
        failed: page.failures.map(({ shard, error }) => ({ shard, error: error.message })),
      }
    },
  )
}

function readType(input: Input): SnapshotsAsked['type'] {
  const name = textOption(input, 'type') ?? 'state'
  if (isOneOf(TYPES, name)) return name
  throw new CpError(
    'invalid_input',
    `--type must be one of ${Object.keys(TYPES).join(', ')}, not ${JSON.stringify(name)}`,
  )
}

function isOneOf<T extends object>(table: T, name: string): name is Extract<keyof T, string> {
  return Object.hasOwn(table, name)
}

function readAfter(given: string | undefined): { type: string; id: string } {
  if (given === undefined) return { type: '', id: '' }
  const colon = given.indexOf(':')
  if (colon < 0) throw new CpError('invalid_input', '--after must be <type>:<name>, as the page before ended')
  return { type: given.slice(0, colon), id: given.slice(colon + 1) }
}

/** Only the versions of live states count events. */
function behind(row: ShownSnapshot): string | null {
  if (row.head === null || row.aggregate_type !== TYPES.state || row.snapshot_codec === null) return null
  return String(BigInt(row.head) - BigInt(row.version))
}

function metaText(row: ShownSnapshot, key: string): string | null {
  const value: JsonValue | undefined = isJsonObject(row.meta) ? row.meta[key] : undefined
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : writeJson(value)
}

function withWireTimes(row: SnapshotListRow & { shard: number }): ShownSnapshot {
  return {
    ...row,
    created_at: wireTimeFromPostgres(row.created_at, 'created_at'),
    updated_at: wireTimeFromPostgres(row.updated_at, 'updated_at'),
  }
}
