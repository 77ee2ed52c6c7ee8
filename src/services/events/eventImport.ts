// Writes exported events back: same ids, same times, same columns, a number of our own in the order given. The
// same event again changes nothing; another one under the same id is refused. By default nothing is published:
// an import restores history, and whoever listens has heard it already.
import type { Databases } from '../../db/databases.js'
import type { Tx } from '../../db/db.js'
import { parseEnvelope } from '../../domain/events/envelope.js'
import { type EventDetails, parseEventDetails } from '../../domain/events/eventDetails.js'
import { type EventRecord, eventChecksum } from '../../domain/events/eventRecord.js'
import { isStartEventType } from '../../domain/events/eventType.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { toEventRecord } from '../../stores/events/eventRows.js'
import { findExisting } from '../../stores/events/eventStore.js'
import { setDetails } from '../../stores/events/eventTransferStore.js'
import type { Appender } from './appender.js'
import type { AppendItem, AppendOutcome } from './appendInTx.js'
import { owned } from './eventOwner.js'
import { clashMessage } from './ingest.js'

export interface ImportDeps {
  databases: Databases
  appender: Appender
  clock: Clock
}

export type Imported =
  | { kind: 'stored' | 'duplicate'; executionId: string; eventId: string }
  | { kind: 'refused'; error: CpError }

interface ParsedLine {
  event: EventRecord
  details: EventDetails | undefined
}

/** One answer per document, in their order. Documents of one execution keep their order. */
export async function importEvents(
  deps: ImportDeps,
  documents: readonly JsonValue[],
  options: { publish: boolean },
): Promise<Imported[]> {
  const results: Imported[] = new Array(documents.length)
  const byExecution = new Map<string, { index: number; line: ParsedLine }[]>()
  for (const [index, document] of documents.entries()) {
    try {
      const line = parseLine(deps, document)
      const group = byExecution.get(line.event.executionId)
      if (group === undefined) byExecution.set(line.event.executionId, [{ index, line }])
      else group.push({ index, line })
    } catch (error) {
      results[index] = { kind: 'refused', error: toCpError(error) }
    }
  }
  for (const [executionId, group] of byExecution) {
    const answers = await importGroup(
      deps,
      executionId,
      group.map(({ line }) => line),
      options,
    )
    for (const [position, { index }] of group.entries()) results[index] = answers[position]!
  }
  return results
}

function parseLine(deps: ImportDeps, document: JsonValue): ParsedLine {
  const { event, extra } = parseEnvelope(document, { now: wireTimeFromMillis(deps.clock.now()) })
  if (event.executionId === '0')
    throw new CpError('invalid_input', '/execution_id is missing; an exported event has one')
  if (!event.createdAtGiven) throw new CpError('invalid_input', '/timestamp is missing; an exported event has one')
  return { event, details: parseEventDetails(extra) }
}

/** One transaction; when the data of one event refuses it, they are tried one by one. */
async function importGroup(
  deps: ImportDeps,
  executionId: string,
  lines: readonly ParsedLine[],
  options: { publish: boolean },
): Promise<Imported[]> {
  try {
    return await deps.appender.appendWith(executionId, (tx, append) => writeLines(tx, append, lines, options))
  } catch (error) {
    if (isOwnTrouble(error)) throw error
    if (lines.length === 1) return [{ kind: 'refused', error: toCpError(error) }]
    const answers: Imported[] = []
    for (const line of lines) answers.push(...(await importGroup(deps, executionId, [line], options)))
    return answers
  }
}

async function writeLines(
  tx: Tx,
  append: (items: readonly AppendItem[]) => Promise<AppendOutcome[]>,
  lines: readonly ParsedLine[],
  { publish }: { publish: boolean },
): Promise<Imported[]> {
  const outcomes = await append(
    lines.map(({ event }) => ({
      event,
      idGiven: true,
      publish,
      createExecution: true,
      restores: true,
      path: pathOf(event),
    })),
  )
  const detailed = lines.flatMap(({ event: { executionId, eventId }, details }, index) =>
    details !== undefined && outcomes[index]!.kind === 'stored' ? [{ executionId, eventId, details }] : [],
  )
  if (detailed.length > 0) await setDetails(tx, detailed)
  const same = await saysTheSame(
    tx,
    lines.filter((_, index) => outcomes[index]!.kind === 'conflict'),
  )
  return lines.map(({ event: { executionId, eventId } }, index): Imported => {
    const outcome = outcomes[index]!
    if (outcome.kind === 'stored' || outcome.kind === 'duplicate') return { kind: outcome.kind, executionId, eventId }
    if (outcome.kind === 'conflict' && same.has(eventId)) return { kind: 'duplicate', executionId, eventId }
    if (outcome.kind === 'refused') return { kind: 'refused', error: new CpError('refused', outcome.reason) }
    const message =
      outcome.kind === 'claimed'
        ? `the command of event ${eventId} is already claimed by ${outcome.workerId ?? 'another worker'}`
        : clashMessage(eventId)
    return { kind: 'refused', error: new CpError('conflict', message) }
  })
}

/**
 * An event whose time we filled in ourselves was hashed without it, and its export carries that time. So what
 * looks like a clash is compared once more, column by column.
 */
async function saysTheSame(tx: Tx, lines: readonly ParsedLine[]): Promise<Set<string>> {
  if (lines.length === 0) return new Set()
  const rows = await findExisting(
    tx,
    lines.map(({ event }) => event),
  )
  const stored = new Map(rows.map((row) => [row.event_id, toEventRecord(row)]))
  return new Set(
    lines.flatMap(({ event }) => {
      const row = stored.get(event.eventId)
      return row !== undefined && eventChecksum(row) === eventChecksum(owned(event, row)) ? [event.eventId] : []
    }),
  )
}

/** The start event knows what was started; the catalog of another installation does not count here. */
function pathOf(event: EventRecord): string | undefined {
  if (!isStartEventType(event.eventType) || !isJsonObject(event.context)) return undefined
  const path = event.context['path']
  return typeof path === 'string' ? path : undefined
}
