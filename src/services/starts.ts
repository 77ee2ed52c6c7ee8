// Executions that begin. Their ids were minted a moment ago, so nobody can know them: there is nothing to lock, to
// compare or to number, and their rows are written once, as they stand after the first event. The general way into
// the log (append) makes the row, locks it and writes it again, with all its index entries, which is most of what a
// start costs the database.
import type { Databases } from '../db/databases.js'
import type { Tx } from '../db/db.js'
import { writeEnvelope, writeParts } from '../domain/events/envelope.js'
import type { EventRecord } from '../domain/events/eventRecord.js'
import { isStartEventType } from '../domain/events/eventType.js'
import { evolveExecution, UNKNOWN_EXECUTION } from '../domain/events/executionEffect.js'
import { CpError } from '../errors.js'
import { insertEvents } from '../stores/eventStore.js'
import { insertStartedExecutions } from '../stores/executionStore.js'
import { insertOutboxRows } from '../stores/outboxStore.js'
import type { Appender, AppendListener } from './append/appender.js'
import type { AppendContext } from './append/appendInTx.js'

export interface StartItem {
  /** The first event of an execution whose id was minted for it, and for nothing else. */
  event: EventRecord
  path: string
  /** W3C trace context as JSON text. */
  trace?: string | undefined
}

/** The way into the log, with a shorter one for executions that begin. Whoever listens hears of both. */
export interface Starter extends Appender {
  /** Starts in one transaction of a shard, with the further writes that must commit with them. */
  startWith<T>(
    shard: number,
    work: (tx: Tx, start: (items: readonly StartItem[]) => Promise<void>) => Promise<T>,
  ): Promise<T>
}

export function withStarts(appender: Appender, databases: Databases, context: AppendContext): Starter {
  const listeners: AppendListener[] = []
  return {
    ...appender,
    startWith: async (shard, work) => {
      const started = new Set<string>()
      const traces = new Map<string, string>()
      const result = await databases.shards[shard]!.db.tx(async (tx) => {
        started.clear()
        traces.clear()
        return work(tx, async (items) => {
          await writeStarts(tx, items, context)
          for (const { event, trace } of items) {
            started.add(event.executionId)
            if (trace !== undefined) traces.set(event.executionId, trace)
          }
        })
      })
      if (started.size > 0) for (const listener of listeners) listener(shard, started, traces)
      return result
    },
    onAppended: (listener) => {
      appender.onAppended(listener)
      listeners.push(listener)
    },
  }
}

const FIRST = 1n

async function writeStarts(tx: Tx, items: readonly StartItem[], context: AppendContext): Promise<void> {
  if (items.length === 0) return
  const rows = items.map(({ event, path, trace }) => {
    if (!isStartEventType(event.eventType) || event.catalogId === undefined) {
      throw new CpError('internal', `${event.eventType} does not begin an execution`)
    }
    const { catalogId } = event
    return { event, path, trace, catalogId, streamVersion: FIRST, parts: writeParts(event), checksum: null }
  })
  // Sent together: one round trip for the three.
  await Promise.all([
    insertStartedExecutions(
      tx,
      evolveExecution(UNKNOWN_EXECUTION, items[0]!.event).status,
      items.map(({ event, path }) => ({ event, path })),
    ),
    insertEvents(tx, rows),
    insertOutboxRows(
      tx,
      rows.map(({ event, catalogId, parts, trace }) => ({
        executionId: event.executionId,
        eventId: event.eventId,
        subject: context.subjectOf(event),
        payload: writeEnvelope(event, String(FIRST), catalogId, parts),
        trace: trace ?? null,
      })),
    ),
  ])
}
