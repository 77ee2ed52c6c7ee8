// Executions that begin. Their ids were minted a moment ago, so nobody can know them: there is nothing to lock, to
// compare or to number, and their rows are written once, as they stand after the first event: the second way into the
// event log, with the same events, outbox rows and read model as the first. The general one (appendInTx) makes the
// row, locks it and writes it again, with all its index entries, which is most of what a start costs the database.
import type { Databases } from '../../db/databases.js'
import type { Tx } from '../../db/db.js'
import { writeParts } from '../../domain/events/envelope.js'
import type { OwnedEvent } from '../../domain/events/eventRecord.js'
import { isStartEventType } from '../../domain/events/eventType.js'
import { engineOf } from '../../domain/executions/drivenStart.js'
import { evolveExecution, UNKNOWN_EXECUTION } from '../../domain/executions/executionEffect.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError } from '../../errors.js'
import { insertStarts, type SharedStart } from '../../stores/executions/startStore.js'
import type { Appender, AppendListener } from './appender.js'
import type { AppendContext } from './appendInTx.js'
import type { LogNews } from './logNews.js'

export interface StartItem {
  /** The first event of an execution whose id was minted for it, and for nothing else. */
  event: OwnedEvent
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
      if (started.size > 0)
        for (const listener of listeners) listener(shard, started, traces, NONE_ENDED, NO_NEWS, started.size)
      return result
    },
    onAppended: (listener) => {
      appender.onAppended(listener)
      listeners.push(listener)
    },
  }
}

const NONE_ENDED: ReadonlySet<string> = new Set()
const NO_NEWS: ReadonlyMap<string, LogNews> = new Map()

async function writeStarts(tx: Tx, items: readonly StartItem[], context: AppendContext): Promise<void> {
  const [first] = items
  if (first === undefined) return
  const shared = sharedOf(first)
  for (const item of items) {
    if (!isAlike(item, first)) throw new CpError('internal', 'executions that begin together must be of one kind')
  }
  await insertStarts(
    tx,
    shared,
    items.map(({ event: given, trace }) => {
      const event = context.secrets.hide(given)
      const parts = writeParts(event)
      return {
        executionId: event.executionId,
        eventId: event.eventId,
        at: event.createdAt,
        subject: context.subjectOf(event),
        trace: trace ?? null,
        context: parts.context ?? 'null',
        meta: parts.meta ?? 'null',
        sealed: context.secrets.seal(event),
      }
    }),
  )
}

function sharedOf({ event, path }: StartItem): SharedStart {
  const { catalogId, nodeId, nodeType, status, context, meta, result } = event
  const isWhole = [catalogId, nodeId, nodeType, status, context, meta, result].every((part) => part !== undefined)
  if (!isStartEventType(event.eventType) || !isWhole || event.nodeName !== path) {
    throw new CpError('internal', `this ${event.eventType} does not begin an execution`)
  }
  return {
    catalogId: catalogId!,
    path,
    parentExecutionId: event.parentExecutionId,
    tenantId: event.tenantId,
    organizationId: event.organizationId,
    eventType: event.eventType,
    nodeId: nodeId!,
    nodeType: nodeType!,
    eventStatus: status!,
    result: writeJson(result!),
    executionStatus: evolveExecution(UNKNOWN_EXECUTION, event).status,
    engine: engineOf(event) ?? null,
  }
}

const ALIKE = [
  'catalogId',
  'parentExecutionId',
  'tenantId',
  'organizationId',
  'eventType',
  'nodeId',
  'nodeName',
  'nodeType',
  'status',
] as const

function isAlike(one: StartItem, other: StartItem): boolean {
  return (
    one.path === other.path &&
    ALIKE.every((key) => one.event[key] === other.event[key]) &&
    writeJson(one.event.result ?? null) === writeJson(other.event.result ?? null)
  )
}
