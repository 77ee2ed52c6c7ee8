// POST /api/internal/cleanup/purge: finished commands, silent runtimes, old events. A number of 0 leaves that
// table alone. Work is bounded per call; what is left goes with the next one.
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import type { CpError } from '../../errors.js'
import { purgeCommands, purgeRuntimes } from '../../stores/retention/retentionStore.js'
import { applyRetention } from './retention.js'
import type { RetentionReport } from './retentionPass.js'

export interface PurgeRequest {
  commandRetentionDays: number
  runtimeStaleMinutes: number
  eventRetentionDays: number
}

export const PURGE_DEFAULTS: PurgeRequest = {
  commandRetentionDays: 7,
  runtimeStaleMinutes: 60,
  eventRetentionDays: 0,
}

export interface Purged {
  commands: number
  runtimes: number
  events: bigint
  partitionsDropped: string[]
  /** Shards that could not be purged. */
  failures: { shard: string; error: CpError }[]
}

const COMMANDS_PER_STEP = 5_000
const STEPS_MAX = 200
const DAY_MS = 86_400_000

export async function purge(deps: { databases: Databases }, request: PurgeRequest): Promise<Purged> {
  const { databases } = deps
  const purged: Purged = { commands: 0, runtimes: 0, events: 0n, partitionsDropped: [], failures: [] }
  if (request.commandRetentionDays > 0) {
    const { answers, failures } = await databases.fanOut((db) => purgeShard(db, request.commandRetentionDays))
    for (const { value } of answers) purged.commands += value
    for (const { shard, error } of failures) purged.failures.push({ shard: databases.shards[shard]!.label, error })
  }
  if (request.runtimeStaleMinutes > 0) {
    purged.runtimes = await purgeRuntimes(databases.cluster.db, request.runtimeStaleMinutes)
  }
  if (request.eventRetentionDays > 0) {
    const olderThanMs = request.eventRetentionDays * DAY_MS
    for (const report of await applyRetention(databases, { olderThanMs, dryRun: false })) add(purged, report)
  }
  return purged
}

async function purgeShard(db: Db, olderThanDays: number): Promise<number> {
  let total = 0
  for (let step = 0; step < STEPS_MAX; step++) {
    const deleted = await purgeCommands(db, olderThanDays, COMMANDS_PER_STEP)
    total += deleted
    if (deleted < COMMANDS_PER_STEP) break
  }
  return total
}

function add(purged: Purged, report: RetentionReport): void {
  purged.events += BigInt(report.defaultEventsDeleted)
  for (const { name, events } of report.dropped) {
    purged.events += BigInt(events)
    purged.partitionsDropped.push(name)
  }
  if (report.error !== undefined) purged.failures.push({ shard: report.shard, error: report.error })
}
