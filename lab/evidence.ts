// Reads back what is really stored: both databases and the stream, straight from the servers.
import { readStream, type StreamMessage } from '../test/support/stream.js'
import type { LabPostgres } from './postgres.js'
import { type Site, STREAM } from './site.js'

export interface EventRow {
  execution_id: string
  event_id: string
  stream_version: string | null
  event_type: string
  /** The mark of the lab, wherever the payload of this kind of event is kept. */
  mark: string | null
  parent_execution_id: string | null
  /** Of a start by the subscription: the number of its message. */
  n: number | null
}

export interface OutboxRowSeen {
  outbox_id: string
  execution_id: string
  event_id: string
  message_id: string
  status: string
  attempts: number
  last_error: string | null
  stream_seq?: string | null
  published_at?: string | null
  payload: string
}

export interface ExecutionRowSeen {
  is_subscription?: boolean
  execution_id: string
  status: string
  event_count: string
  stream_version: string
}

export interface ShardEvidence {
  events: EventRow[]
  outbox: OutboxRowSeen[]
  executions: ExecutionRowSeen[]
}

export interface Evidence {
  shards: ShardEvidence[]
  messages: StreamMessage[]
  /** Messages that the subscription gave up, with the reason. */
  deadLetters: string[]
  quarantined: string[]
  /** What the other installation has stored of our messages. */
  projected: EventRow[]
}

export function readEvents(database: Pick<LabPostgres, 'sql'>): Promise<EventRow[]> {
  return database.sql<EventRow>(
    `select execution_id::text, event_id::text, stream_version::text, event_type, parent_execution_id::text,
         coalesce(result -> 'context' ->> 'mark', context -> 'workload' ->> 'mark', context ->> 'mark') as mark,
         (context -> 'workload' ->> 'n')::int as n
       from noetl.event e order by e.execution_id, e.stream_version, e.event_id`,
  )
}

export async function readShard(shard: Pick<LabPostgres, 'sql'>): Promise<ShardEvidence> {
  return {
    events: await readEvents(shard),
    outbox: await shard.sql<OutboxRowSeen>(
      `select outbox_id::text, execution_id::text, event_id::text, status, attempts, last_error, payload::text as payload,
         stream_seq::text, to_char(published_at at time zone 'UTC', 'HH24:MI:SS.MS') as published_at,
         coalesce(execution_id::text, 'none') || ':' || event_id as message_id
       from noetl.outbox o order by o.outbox_id`,
    ),
    executions: await shard.sql<ExecutionRowSeen>(
      `select execution_id::text, status, event_count::text, stream_version::text,
         coalesce(start_event_type, '') = 'subscription.registered' as is_subscription
       from noetl.execution order by 1`,
    ),
  }
}

export async function collectEvidence({ shards, nats, mirror }: Site): Promise<Evidence> {
  const [cluster] = shards
  const connection = await nats.connect()
  try {
    return {
      projected: await readEvents(mirror.database),
      shards: await Promise.all(shards.map(readShard)),
      messages: await readStream(connection, await connection.jetstreamManager(), STREAM),
      deadLetters: (
        await cluster!.sql<{ text: string }>(
          `select identity || ': ' || reason as text from noetl.subscription_dead_letter`,
        )
      ).map(({ text }) => text),
      quarantined: (
        await Promise.all(
          [...shards, mirror.database].map((shard) =>
            shard.sql<{ text: string }>(
              `select coalesce(event_id::text, '?') || ': ' || reason as text from noetl.projector_quarantine`,
            ),
          ),
        )
      ).flatMap((rows) => rows.map(({ text }) => text)),
    }
  } finally {
    await connection.close()
  }
}

/** What still has to happen before the data may be judged; nothing when all is quiet. */
export async function unfinished({ shards, mirror }: Site, unstarted: () => Promise<number>): Promise<string[]> {
  const waiting: string[] = []
  // Causes before what they bring about: a message that starts between two questions has its rows in the later one.
  const missing = await unstarted()
  if (missing > 0) waiting.push(`${missing} messages of the subscription`)
  let published = 0
  for (const [index, shard] of shards.entries()) {
    const [row] = await shard.sql<{ outbox: number; open: number; unnumbered: number }>(
      `select (select count(*)::int from noetl.outbox) as outbox,
         (select count(*)::int from noetl.outbox where status in ('PENDING', 'FAILED', 'IN_FLIGHT')) as open,
         (select count(*)::int from noetl.event where stream_version is null) as unnumbered`,
    )
    published += row!.outbox
    if (row!.open > 0) waiting.push(`${row!.open} outbox rows of shard ${index}`)
    if (row!.unnumbered > 0) waiting.push(`${row!.unnumbered} events of shard ${index} without a number`)
  }
  const [projected] = await mirror.database.sql<{ n: number }>('select count(*)::int as n from noetl.event')
  if (projected!.n < published) waiting.push(`${published - projected!.n} events of the other installation`)
  return waiting
}
