// POST /api/internal/cleanup/purge, with the NoETL server's fields. A shard that could not be purged is named in
// `failures`; the others are done.
import { integerValue, isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { PURGE_DEFAULTS, type Purged, type PurgeRequest, purge } from '../../../services/retention/purge.js'
import type { RouteSpec } from '../../route.js'
import type { Schema } from '../../schema.js'

export interface CleanupRouteDeps {
  cleanup: Parameters<typeof purge>[0]
}

// A century: beyond it the arithmetic of dates ends before the patience does.
const days = (fallback: number): Schema => ({ type: 'integer', minimum: 0, maximum: 36_500, default: fallback })

export function cleanupRoutes({ cleanup }: CleanupRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/internal/cleanup/purge',
      summary: 'Delete finished commands, silent runtimes and old events; 0 leaves a table alone',
      access: 'internal',
      effect: 'write',
      bodyOptional: true,
      body: {
        type: 'object',
        properties: {
          command_retention_days: days(PURGE_DEFAULTS.commandRetentionDays),
          runtime_stale_minutes: {
            type: 'integer',
            minimum: 0,
            maximum: 52_560_000,
            default: PURGE_DEFAULTS.runtimeStaleMinutes,
          },
          event_retention_days: days(PURGE_DEFAULTS.eventRetentionDays),
        },
      },
      responses: {
        200: {
          type: 'object',
          properties: {
            commands_purged: { type: 'integer' },
            runtime_purged: { type: 'integer' },
            events_purged: { type: 'integer' },
            event_partitions_dropped: { type: 'array', items: { type: 'string' } },
            failures: { type: 'array', description: 'only when a shard failed: its name and the reason' },
          },
        },
        400: 'malformed',
      },
      handler: async ({ body }) => {
        const purged = await purge(cleanup, readRequest(isJsonObject(body) ? body : {}))
        const dead = new Set(purged.failures.map(({ shard }) => shard))
        if (dead.size === cleanup.databases.shards.length) throw purged.failures[0]!.error
        return { body: answer(purged) }
      },
    },
  ]
}

function readRequest(body: JsonObject): PurgeRequest {
  const number = (key: string, fallback: number): number =>
    typeof body[key] === 'number' ? (body[key] as number) : fallback
  return {
    commandRetentionDays: number('command_retention_days', PURGE_DEFAULTS.commandRetentionDays),
    runtimeStaleMinutes: number('runtime_stale_minutes', PURGE_DEFAULTS.runtimeStaleMinutes),
    eventRetentionDays: number('event_retention_days', PURGE_DEFAULTS.eventRetentionDays),
  }
}

function answer(purged: Purged): JsonObject {
  const body: JsonObject = {
    commands_purged: purged.commands,
    runtime_purged: purged.runtimes,
    events_purged: integerValue(purged.events),
    event_partitions_dropped: purged.partitionsDropped,
  }
  if (purged.failures.length > 0) {
    body['failures'] = purged.failures.map(({ shard, error }) => ({ shard, error: error.message }))
  }
  return body
}
