// Writes exported events back: every column as it was, a number of our own in the order given. The
// same event again changes nothing; another one under the same id is refused. By default nothing is published:
// an import restores history, and whoever listens has heard it already.

import type { Databases } from '../../db/databases.js'
import type { Tx } from '../../db/db.js'
import { eventChecksum } from '../../domain/events/eventRecord.js'
import { type ExportedEvent, parseExportedEvent } from '../../domain/events/exportedEvent.js'
import { startPathOf } from '../../domain/events/startPath.js'
import type { JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import { isolateRefused } from '../../runtime/isolateRefused.js'
import { toEventRecord } from '../../stores/events/eventRows.js'
import { findExisting } from '../../stores/events/eventStore.js'
import { restoreColumns } from '../../stores/events/eventTransferStore.js'
import type { Appender } from './appender.js'
import type { AppendItem, AppendOutcome } from './appendInTx.js'
import { owned } from './eventOwner.js'
import { clashMessage } from './ingest.js'

export interface ImportDeps {
  databases: Databases
  appender: Appender
}

export type Imported =
  | { kind: 'stored' | 'duplicate'; executionId: string; eventId: string }
  | { kind: 'refused'; error: CpError }

export interface ImportLine {
  document: JsonValue
  /** As it was written: numbers keep digits there that no other form of them holds. */
  text?: string | undefined
}

interface ParsedLine extends ExportedEvent {
  text: string
}

/** One answer per line, in their order. Events of one execution keep their order. */
export async function importEvents(
  deps: ImportDeps,
  lines: readonly ImportLine[],
  options: { publish: boolean },
): Promise<Imported[]> {
  const results: Imported[] = new Array(lines.length)
  const byExecution = new Map<string, { index: number; line: ParsedLine }[]>()
  for (const [index, { text, document }] of lines.entries()) {
    try {
      const line = { ...parseExportedEvent(document), text: text ?? writeJson(document) }
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

/** One transaction; when the data of one event refuses it, they are tried one by one. */
async function importGroup(
  deps: ImportDeps,
  executionId: string,
  lines: readonly ParsedLine[],
  options: { publish: boolean },
): Promise<Imported[]> {
  const answers = await isolateRefused(lines, (some) =>
    deps.appender.appendWith(executionId, (tx, append) => writeLines(tx, append, some, options)),
  )
  return answers.map((answer): Imported => {
    if (!(answer instanceof CpError)) return answer
    if (isOwnTrouble(answer)) throw answer
    return { kind: 'refused', error: answer }
  })
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
      path: startPathOf(event),
    })),
  )
  const restored = lines.flatMap(({ event: { executionId, eventId }, eventTime, ingestTime, text: line }, index) => {
    const outcome = outcomes[index]!
    if (outcome.kind !== 'stored') return []
    return [{ executionId, eventId, eventTime, ingestTime, isWhole: outcome.isHidden !== true, line }]
  })
  if (restored.length > 0) await restoreColumns(tx, restored)
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
