// Shows the outbox: how many rows wait and why, as a list, or one row in full.

import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseExecutionId, parseOutboxId } from '../../../domain/ids/ids.js'
import { integerValue, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJsonPretty } from '../../../domain/json/write.js'
import { type Cursor, cursorText, parseCursor } from '../../../domain/outbox/cursor.js'
import { redact } from '../../../domain/secrets/redact.js'
import { CpError } from '../../../errors.js'
import { outboxStatus, type ShardStatus, showOutboxRow } from '../../../services/outbox/admin.js'
import { type ListedRow, type OutboxPage, type OutboxStatus, pageOfOutbox } from '../../../services/outbox/pages.js'
import type { CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { integerOption, textOption } from '../../options.js'
import { type Block, type Output, type ToneCell, toned } from '../../output.js'
import { type RowShown, rowRemotely, rowsRemotely, statusRemotely } from '../../remote/outbox.js'
import { thereOrHere } from '../../remote.js'

export const outboxStatusCommand: CommandSpec = {
  path: ['outbox', 'status'],
  summary: 'What waits to be published, by state and shard',
  description:
    'Counts what is not settled (up to a million per shard), the dead, and what was published in the last minute; names the relays and the lanes they hold. The number of published rows kept is an estimate of the server beyond ten thousand. Exit code 69 when a shard does not answer.',
  examples: [
    ['outbox status', 'all shards'],
    ['outbox status --json', 'for programs'],
  ],
  run: async (context) => {
    const shards = await thereOrHere(context, statusRemotely, async () => outboxStatus(await context.deps()))
    const broken = shards.filter((shard) => shard.error !== undefined)
    return {
      json: { shards: shards.map(statusJson) },
      blocks: [backlogBlock(shards), relayBlock(shards)],
      notes: broken.map((shard) => `${shard.label}: ${shard.error!.message}`),
      exitCode: broken.length > 0 ? EXIT.unavailable : EXIT.ok,
    }
  },
}

function backlogBlock(shards: readonly ShardStatus[]): Block {
  return {
    kind: 'table',
    title: 'Rows',
    columns: ['shard', 'ready', 'waiting', 'in flight', 'expired', 'dead', 'published', 'oldest', 'last minute'],
    rows: shards.map((shard) => {
      const { backlog, published } = shard
      if (backlog === undefined || published === undefined) return [shard.label, toned('away', 'bad')]
      const more = backlog.capped ? '+' : ''
      return [
        shard.label,
        `${backlog.pending_ready + backlog.failed_ready}${more}`,
        backlog.pending_waiting + backlog.failed_waiting,
        backlog.in_flight_live,
        alarming(backlog.in_flight_expired),
        alarming(shard.dead ?? 0),
        `${published.isEstimate ? 'about ' : ''}${published.rows}`,
        shard.oldestAgeSeconds === undefined ? '' : spanText(shard.oldestAgeSeconds),
        shard.publishedLastMinute,
      ]
    }),
  }
}

function relayBlock(shards: readonly ShardStatus[]): Block {
  return {
    kind: 'table',
    title: 'Relays',
    columns: ['shard', 'relay', 'lanes', 'state', 'published', 'since'],
    rows: shards.flatMap((shard) => {
      const known = new Map((shard.relays ?? []).map((relay) => [relay.relay_id, relay]))
      const owners = new Map((shard.owners ?? []).map((owner) => [owner.owner, owner]))
      return [...new Set([...known.keys(), ...owners.keys()])].map((name) => {
        const relay = known.get(name)
        const owner = owners.get(name)
        const isLive = relay?.alive ?? owner?.live ?? false
        return [
          shard.label,
          name,
          owner?.lanes ?? 0,
          isLive ? toned('live', 'good') : toned('gone', 'dim'),
          relay?.published ?? '',
          relay === undefined ? '' : wireTimeFromPostgres(relay.started_at, 'started_at'),
        ]
      })
    }),
    empty: 'none: rows wait for a daemon with NATS, or for "noetl-cp outbox drain"',
  }
}

function statusJson(shard: ShardStatus): JsonObject {
  const json: JsonObject = { shard: shard.shard, database: shard.label }
  const { backlog, published } = shard
  if (backlog === undefined || published === undefined) return { ...json, error: shard.error?.message ?? 'away' }
  return {
    ...json,
    ...backlog,
    dead: shard.dead ?? 0,
    published: published.rows,
    published_is_estimate: published.isEstimate,
    oldest_age_seconds: shard.oldestAgeSeconds === undefined ? null : Math.round(shard.oldestAgeSeconds * 1000) / 1000,
    published_last_minute: shard.publishedLastMinute ?? 0,
    lanes: (shard.owners ?? []).map(({ owner, lanes, live, slots }) => ({ owner, lanes, live, slots })),
    relays: (shard.relays ?? []).map((relay) => ({
      relay_id: relay.relay_id,
      alive: relay.alive,
      published: integerValue(BigInt(relay.published)),
      started_at: wireTimeFromPostgres(relay.started_at, 'started_at'),
    })),
  }
}

const STATUSES: readonly OutboxStatus[] = ['PENDING', 'FAILED', 'IN_FLIGHT', 'DEAD', 'PUBLISHED']
const LIST_DEFAULT = 50
const LIST_MAX = 10_000

export const outboxList: CommandSpec = {
  path: ['outbox', 'list'],
  summary: 'Rows of the outbox, oldest first',
  description:
    'Without a status: what is not settled (PENDING, FAILED, IN_FLIGHT); with an execution: everything of it. The note at the end says how to go on.',
  options: [
    { flags: '--status <status>', help: STATUSES.join(', '), completes: STATUSES },
    { flags: '--execution <id>', help: 'only rows of this execution', completes: 'execution' },
    { flags: '--shard <i>', help: 'only this database' },
    { flags: '--after <cursor>', help: 'go on after this row' },
    { flags: '--limit <n>', help: `rows, up to ${LIST_MAX}; default ${LIST_DEFAULT}` },
  ],
  examples: [
    ['outbox list', 'what is not settled'],
    ['outbox list --status FAILED --limit 10', 'what was refused and waits'],
    ['outbox list --execution 320816801799737344', 'everything of one execution'],
  ],
  run: async (context, input) => {
    const scope = { status: statusOption(input), executionId: executionOption(input), ...pageOptions(input) }
    const page = await thereOrHere(
      context,
      (remote) => rowsRemotely(remote, scope),
      async () => pageOfOutbox(await context.deps(), scope),
    )
    return listOutput(page)
  },
}

export const outboxShow: CommandSpec = {
  path: ['outbox', 'show'],
  summary: 'One row with its message',
  description: 'Ids are unique per database; when several have a row with this id, --shard says which.',
  args: [{ name: 'id', help: 'outbox id' }],
  options: [{ flags: '--shard <i>', help: 'which database' }],
  examples: [
    ['outbox show 4711', 'the row and its payload'],
    ['outbox show 4711 --shard 1 --json', 'for programs'],
  ],
  run: async (context, input) => {
    const id = parseOutboxId(input.args['id'], 'id')
    const shard = integerOption(input, 'shard', { min: 0, max: 1023 })
    const row = await thereOrHere<RowShown>(
      context,
      (remote) => rowRemotely(remote, id, shard),
      async () => showOutboxRow(await context.deps(), id, shard),
    )
    const rules = context.secretRules()
    const json: JsonObject = {
      ...rowJson(row),
      payload_codec: row.payload_codec,
      ...(row.locked_at === undefined ? {} : { locked_at: time(row.locked_at) }),
      ...(row.lease_token === undefined ? {} : { lease_token: row.lease_token }),
      lane: row.lane,
      trace: row.trace,
      payload: rules === null ? row.payload : redact(row.payload, rules),
    }
    const { payload, ...facts } = json
    return {
      json,
      blocks: [
        {
          kind: 'record',
          entries: Object.entries(facts)
            .filter(([, value]) => value !== null)
            .map(([name, value]) => [name, typeof value === 'object' ? writeJsonPretty(value) : value] as const),
        },
        { kind: 'lines', lines: writeJsonPretty(payload ?? null).split('\n') },
      ],
    }
  },
}

export function pageOptions(input: Input): { shard: number | undefined; cursor: Cursor | undefined; limit: number } {
  return {
    shard: integerOption(input, 'shard', { min: 0, max: 1023 }),
    cursor: cursorOption(input),
    limit: integerOption(input, 'limit', { min: 1, max: LIST_MAX }) ?? LIST_DEFAULT,
  }
}

export function executionOption(input: Input): string | undefined {
  const text = textOption(input, 'execution')
  return text === undefined ? undefined : parseExecutionId(text, '--execution')
}

function statusOption(input: Input): OutboxStatus | undefined {
  const text = textOption(input, 'status')
  if (text === undefined) return undefined
  const status = STATUSES.find((name) => name === text.toUpperCase())
  if (status === undefined) throw new CpError('invalid_input', `--status must be one of ${STATUSES.join(', ')}`)
  return status
}

function cursorOption(input: Input): Cursor | undefined {
  const text = textOption(input, 'after')
  if (text === undefined) return undefined
  const cursor = parseCursor(text.includes(':') ? text : `0:${text}`, ':')
  if (cursor === undefined) throw new CpError('invalid_input', '--after must be an outbox id, or shard:id')
  return cursor
}

export function listOutput({ rows, next, failures }: OutboxPage): Output {
  const after = next === undefined ? null : cursorText(next, ':')
  return {
    json: {
      rows: rows.map(rowJson),
      next: after,
      failed_shards: failures.map(({ shard, error }) => ({ shard, error: error.message })),
    },
    blocks: [
      {
        kind: 'table',
        columns: ['shard', 'id', 'execution', 'event', 'status', 'attempts', 'next or published', 'error'],
        spare: ['attempts', 'event', 'shard'],
        rows: rows.map((row) => [
          row.shard,
          row.outbox_id,
          row.execution_id,
          row.event_id,
          statusCell(row.status),
          row.attempts,
          when(row),
          row.last_error,
        ]),
        empty: failures.length === 0 ? 'no such rows' : 'no such rows where the database answers',
      },
    ],
    notes: [
      ...failures.map(({ shard, error }) => `shard ${shard} did not answer: ${error.message}`),
      ...(after === null ? [] : [`more: add --after ${after}`]),
    ],
    exitCode: failures.length === 0 ? EXIT.ok : EXIT.unavailable,
  }
}

function when(row: ListedRow): string {
  if (row.status === 'PUBLISHED') return String(time(row.published_at) ?? '')
  if (row.status === 'IN_FLIGHT') return row.lease_until === null ? '' : `leased until ${time(row.lease_until)}`
  return row.status === 'DEAD' ? '' : String(time(row.available_at))
}

export function rowJson(row: ListedRow & { shard: number }): JsonObject {
  return {
    shard: row.shard,
    outbox_id: row.outbox_id,
    execution_id: row.execution_id,
    event_id: row.event_id,
    subject: row.subject,
    status: row.status,
    attempts: row.attempts,
    last_error: row.last_error,
    created_at: time(row.created_at),
    available_at: time(row.available_at),
    published_at: time(row.published_at),
    updated_at: time(row.updated_at),
    stream_seq: row.stream_seq,
    lease_owner: row.lease_owner,
    lease_until: time(row.lease_until),
    stored_bytes: row.bytes,
  }
}

function time(text: string | null): JsonValue {
  return text === null ? null : wireTimeFromPostgres(text, 'time')
}

function statusCell(status: OutboxStatus): ToneCell | string {
  if (status === 'DEAD') return toned(status, 'bad')
  if (status === 'FAILED') return toned(status, 'warn')
  return status === 'PUBLISHED' ? toned(status, 'good') : status
}

function alarming(count: number): ToneCell | number {
  return count > 0 ? toned(String(count), 'warn') : count
}

function spanText(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} m` : `${Math.floor(seconds / 3_600)} h`
}
