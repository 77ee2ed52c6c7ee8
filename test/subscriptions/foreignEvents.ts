// Lifecycle events as another NoETL server writes them: straight into the table, with the NoETL server's columns
// alone.
import type { TestCore } from '../support/core.js'
import type { TestDatabase } from '../support/database.js'

export const STATUS: Record<string, string> = { registered: 'REGISTERED', paused: 'PAUSED', draining: 'DRAINING' }

export interface ForeignEvent {
  id: string
  type: string
  eventId: string
  catalogId?: string
  path?: string
}

export async function writeForeign(shard: TestDatabase, event: ForeignEvent): Promise<void> {
  const { id, type, eventId, catalogId = '1', path = '' } = event
  const status = STATUS[type] ?? (type === 'deactivated' ? 'DEACTIVATED' : 'ACTIVE')
  const context = { subscription_id: id, path, catalog_id: catalogId }
  await shard.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, node_type, status, context, meta, created_at)
     values ($1::bigint, $2::bigint, $3::bigint, $4::text, 'subscription', $5::text, 'subscription', $6::text, $7::jsonb,
       '{"emitter": "control_plane", "subscription_lifecycle": true}', now() at time zone 'utc')`,
    [id, eventId, catalogId, `subscription.${type}`, path, status, JSON.stringify(context)],
  )
}

/** In the shard of the id, as the newest event of all. */
export async function changeForeign(
  core: TestCore,
  shards: readonly TestDatabase[],
  id: string,
  type: string,
  path = '',
): Promise<void> {
  await writeForeign(shards[core.databases.shardOf(id)]!, { id, type, eventId: core.ids.next(), path })
}
