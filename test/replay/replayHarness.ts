// What replay tests work with: rows written straight into the tables, a service over real worker threads.
import { fileURLToPath } from 'node:url'
import { type Databases, openDatabases } from '../../src/db/databases.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import type { FoldProfile } from '../../src/domain/replay/profile.js'
import { parseTopology } from '../../src/domain/shards/topology.js'
import {
  type ReplayDeps,
  type ReplayOutput,
  type RunOptions,
  replayExecution,
  type SeedOutcome,
} from '../../src/services/replay/replay.js'
import { parseReplayRequest } from '../../src/services/replay/request.js'
import { createWorkerPool, type WorkerPoolSettings } from '../../src/workers/pool.js'
import type { TestDatabase } from '../support/database.js'

// The threads run the compiled program; `make test` builds it first.
export const ENTRY = fileURLToPath(new URL('../../dist/workers/entry.js', import.meta.url))

export interface Harness extends ReplayDeps {
  databases: Databases
  seeds: SeedOutcome[]
  close(): Promise<void>
}

export function openReplay(database: TestDatabase, settings: Partial<WorkerPoolSettings> = {}): Harness {
  const databases = openDatabases(parseTopology({ fallback: database.settings.target }), {
    ...database.settings,
    tls: () => false,
    max: 4,
    acquireTimeoutMs: 10_000,
    queryTimeoutMs: 30_000,
  })
  const workers = createWorkerPool({
    threads: 2,
    queueMax: 100,
    memoryMb: 256,
    taskTimeoutMs: 60_000,
    entry: ENTRY,
    ...settings,
  })
  const seeds: SeedOutcome[] = []
  return {
    databases,
    workers,
    timeoutMs: 60_000,
    secretNames: [],
    payloads: {
      secretKeys: [],
      secretNames: [],
      fetch: { hosts: [], publicUrl: undefined, token: undefined, deadlineMs: 5_000, bytesMax: 1_000_000 },
      bytesMax: 4_000_000,
      timeoutMs: 20_000,
    },
    seeds,
    onSeed: (outcome) => seeds.push(outcome),
    close: async () => {
      await workers.close(2_000)
      await databases.close(2_000)
    },
  }
}

export interface Replayed extends ReplayOutput {
  state: JsonObject
}

export async function replay(
  harness: ReplayDeps,
  parameters: Record<string, string>,
  options: RunOptions & { profile?: FoldProfile } = {},
): Promise<Replayed> {
  const { limit, ...rest } = parameters
  const request = parseReplayRequest(options.profile ?? 'cp', { ...rest, ...(limit === undefined ? {} : { limit }) })
  if (limit === undefined) request.query.limit = Number.POSITIVE_INFINITY
  const output = await replayExecution(harness, { ...request, remarks: 'whenNeeded' }, options)
  return {
    ...output,
    // Read by those who look at it: its checksum says as much.
    get state() {
      return parseJson(Buffer.from(output.document).toString('utf8')) as JsonObject
    },
  }
}

const COLUMNS: readonly (readonly [string, string])[] = [
  ['tenant_id', 'text'],
  ['organization_id', 'text'],
  ['execution_id', 'bigint'],
  ['event_id', 'bigint'],
  ['event_type', 'text'],
  ['node_name', 'text'],
  ['status', 'text'],
  ['worker_id', 'text'],
  ['event_time', 'timestamptz'],
  ['ingest_time', 'timestamptz'],
  ['stage_id', 'bigint'],
  ['frame_id', 'bigint'],
  ['command_id', 'bigint'],
  ['aggregate_type', 'text'],
  ['aggregate_id', 'text'],
  ['schema_name', 'text'],
  ['schema_version', 'int'],
  ['stream_version', 'bigint'],
  ['meta', 'jsonb'],
  ['result', 'jsonb'],
  ['payload_ref', 'jsonb'],
]

/** Writes rows in the order given; created_at is the event's time, and so is the time they came in unless they say. */
export async function plantLog(database: TestDatabase, rows: readonly JsonObject[]): Promise<void> {
  const names = COLUMNS.map(([name]) => name)
  const defaults: Record<string, string> = {
    tenant_id: `'default'`,
    organization_id: `'default'`,
    schema_version: '1',
    event_time: 'now()',
    ingest_time: 'coalesce(event_time, now())',
  }
  const selected = COLUMNS.map(([name, type]) => {
    const value = type === 'jsonb' ? `${name}::jsonb` : name
    return defaults[name] === undefined ? value : `coalesce(${value}, ${defaults[name]})`
  })
  await database.sql(
    `insert into noetl.event (${names.join(', ')}, catalog_id, created_at)
     select ${selected.join(', ')}, 1, coalesce(event_time, now()) at time zone 'utc'
     from unnest(${COLUMNS.map(([, type], index) => `$${index + 1}::${type === 'jsonb' ? 'text' : type}[]`).join(', ')}) as given (${names.join(', ')})`,
    COLUMNS.map(([name, type]) => rows.map((row) => column(row[name], type))),
  )
}

function column(value: JsonValue | undefined, type: string): string | null {
  if (value === undefined || value === null) return null
  return type === 'jsonb' ? writeJson(value) : String(value)
}

export async function clearLogs(database: TestDatabase): Promise<void> {
  await database.sql('delete from noetl.event')
  await database.sql('delete from noetl.execution')
  await database.sql('delete from noetl.projection_snapshot')
}

export async function plantSnapshot(database: TestDatabase, row: JsonObject): Promise<void> {
  await database.sql(
    `insert into noetl.projection_snapshot (tenant_id, organization_id, aggregate_type, aggregate_id, version, snapshot, checksum, meta)
     values ($1, $2, $3, $4, $5::bigint, $6::text::jsonb, $7, $8::text::jsonb)`,
    [
      ...['tenant_id', 'organization_id', 'aggregate_type', 'aggregate_id', 'version'].map((name) => String(row[name])),
      writeJson(row['snapshot']!),
      String(row['checksum']),
      writeJson(row['meta'] ?? {}),
    ],
  )
}
