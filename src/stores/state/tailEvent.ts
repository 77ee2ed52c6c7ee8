// An event of the log as a fold reads it: from the lines of a query, or handed over by whoever has just written it.
import type { WireTime } from '../../domain/events/wireTime.js'
import type { CatalogId, EventId, ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import type { JsonValue } from '../../domain/json/value.js'
import type { WorkflowEvent } from '../../domain/state/workflowEvent.js'
import { timeOf } from '../events/eventRows.js'

const LINES_PER_EVENT = 4

/** The first line of an event. */
export type Heading = [
  version: number,
  eventId: string,
  catalogId: string,
  parentExecutionId: string | null,
  eventType: string | null,
  nodeName: string | null,
  workerId: string | null,
  error: string | null,
  createdAt: string,
  sealed: string | null,
]

export interface TailEvent {
  version: number
  /** As it may be shown. */
  event: WorkflowEvent
  /** What was taken out of it. */
  sealed: string | undefined
}

export function readLines(executionId: ExecutionId, text: string | null): TailEvent[] {
  if (text === null) return []
  const lines = text.split('\n')
  const events: TailEvent[] = []
  for (let at = 0; at < lines.length; at += LINES_PER_EVENT) {
    const heading = JSON.parse(lines[at]!) as Heading
    const documents = [lines[at + 1]!, lines[at + 2]!, lines[at + 3]!] as const
    const event = new StoredEvent(executionId, heading, timeOf(heading[8]), ...documents)
    events.push({ version: heading[0], event, sealed: heading[9] ?? undefined })
  }
  return events
}

/** What threads give each other: the heading with the time on the wire, and the documents as text, empty without one. */
export type HandedEvent = readonly [heading: Heading, context: string, result: string, meta: string]

/** Events of one execution that follow each other. */
export interface HandedPart {
  afterVersion: number
  mark: string | undefined
  events: HandedEvent[]
}

export function readHanded(executionId: ExecutionId, [heading, ...documents]: HandedEvent): TailEvent {
  const event = new StoredEvent(executionId, heading, heading[8] as WireTime, ...documents)
  return { version: heading[0], event, sealed: heading[9] ?? undefined }
}

/** Reads its documents when the fold asks for them: most events are folded without. */
class StoredEvent implements WorkflowEvent {
  readonly eventId: EventId
  readonly catalogId: CatalogId
  readonly parentExecutionId: ExecutionId | undefined
  readonly eventType: string
  readonly nodeName: string | undefined
  readonly workerId: string | undefined
  readonly error: string | undefined
  private contextRead: JsonValue | undefined
  private resultRead: JsonValue | undefined
  private metaRead: JsonValue | undefined

  constructor(
    readonly executionId: ExecutionId,
    [, eventId, catalogId, parent, eventType, nodeName, workerId, error]: Heading,
    readonly createdAt: WireTime,
    private readonly contextText: string,
    private readonly resultText: string,
    private readonly metaText: string,
  ) {
    this.eventId = eventId as EventId
    this.catalogId = catalogId as CatalogId
    this.parentExecutionId = (parent as ExecutionId | null) ?? undefined
    this.eventType = eventType ?? ''
    this.nodeName = nodeName ?? undefined
    this.workerId = workerId ?? undefined
    this.error = error ?? undefined
  }

  get context(): JsonValue | undefined {
    this.contextRead ??= documentOf(this.contextText)
    return this.contextRead
  }
  get result(): JsonValue | undefined {
    this.resultRead ??= documentOf(this.resultText)
    return this.resultRead
  }
  get meta(): JsonValue | undefined {
    this.metaRead ??= documentOf(this.metaText)
    return this.metaRead
  }
}

function documentOf(text: string): JsonValue | undefined {
  return text === '' ? undefined : (parseJson(text) ?? undefined)
}
