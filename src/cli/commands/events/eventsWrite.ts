// Writing events from files and pipes: new ones as the HTTP route takes them, and exported ones back.
import { INPUT_DEPTH_MAX, isJsonObject, JSON_DEPTH_MAX, type JsonObject } from '../../../domain/json/value.js'
import { CpError, isTransient, toCpError } from '../../../errors.js'
import type { AppendOutcome } from '../../../services/events/appendInTx.js'
import { type Imported, type ImportLine, importEvents } from '../../../services/events/eventImport.js'
import { clashMessage, type IngestDeps, ingestBatch, ingestMany } from '../../../services/events/ingest.js'
import { inBatches } from '../../batches.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { type Entry, readEntries } from '../../eventLines.js'
import { EXIT, EXIT_OF } from '../../exit.js'
import { print, printJson, printLines } from '../../io.js'
import { isSet } from '../../options.js'
import { createProgress } from '../../progress.js'
import { type RemoteClient, thereOrHere } from '../../remote.js'
import { openSource } from '../../source.js'
import { withCore } from '../../writing.js'

const BATCH = 500
// As deep as the HTTP server takes it.

interface Told {
  line: number
  status: string
  executionId?: string
  eventId?: string
  streamVersion?: string | undefined
  error?: CpError
}

export const eventsAppend: CommandSpec = {
  path: ['events', 'append'],
  changes: true,
  summary: 'Append events from a file or from standard input',
  description:
    'Reads one event per line (NDJSON), a JSON array of events, or a batch {"execution_id", "events"}, with the fields of POST /api/events and the same checks. Prints the event ids. Lines that are refused are named on standard error; the others are stored. Exit code 1 when some of several were refused; for a single event the code of its error.',
  args: [{ name: 'file', help: 'NDJSON or JSON; default standard input', completes: 'file', optional: true }],
  examples: [
    ['events append events.ndjson', 'from a file'],
    [
      `events append <<< '{"execution_id": "320816801799737344", "event_type": "step.enter", "step": "a"}'`,
      'one event',
    ],
  ],
  run: async (context, { args }) => {
    const source = openSource(context, args['file'])
    const appendAll = async (append: (batch: readonly Entry[]) => Promise<Told[]>): Promise<number> => {
      const teller = createTeller(context, 'events')
      for await (const batch of inBatches(readEntries(source, INPUT_DEPTH_MAX), BATCH)) teller.tell(await append(batch))
      return teller.finish()
    }
    return thereOrHere(
      context,
      (remote) => appendAll((batch) => sendEntries(remote, batch)),
      () => withCore(context, (writing) => appendAll((batch) => appendEntries(writing, batch))),
    )
  },
}

/** One request each: what is refused stands for itself. */
async function sendEntries(remote: RemoteClient, entries: readonly Entry[]): Promise<Told[]> {
  const told: Told[] = []
  for (const entry of entries) {
    try {
      if (entry.error !== undefined) throw entry.error
      told.push(...(await sendEntry(remote, entry)))
    } catch (error) {
      told.push(toTold(entry, toCpError(error)))
    }
  }
  return told
}

async function sendEntry(remote: RemoteClient, { line, value }: Entry): Promise<Told[]> {
  const about = { line, executionId: String(isJsonObject(value) ? value['execution_id'] : '') }
  const { answer, headers } =
    isJsonObject(value) && Array.isArray(value['events'])
      ? await remote.ask('postEventsBatch', { body: value as never })
      : await remote.ask('postEvents', { body: value as never })
  const items = 'results' in answer ? (answer.results as unknown as JsonObject[]) : [answer as JsonObject]
  return items.map((item): Told => {
    const { status, error, event_id: eventId, stream_version: version } = item
    if (typeof error === 'string') return { line, status: 'refused', error: new CpError('refused', error) }
    const stored = headers.get('x-noetl-changed') === 'false' ? 'duplicate' : 'stored'
    return {
      ...about,
      status: status === 'ok' ? stored : String(status),
      eventId: String(eventId),
      streamVersion: version === undefined ? undefined : String(version),
    }
  })
}

/** In the order given: single events together, a batch of its own on its own. */
async function appendEntries(deps: IngestDeps, entries: readonly Entry[]): Promise<Told[]> {
  const told: Told[] = []
  let singles: Entry[] = []
  const flush = async (): Promise<void> => {
    const readable = singles.filter((entry) => entry.error === undefined)
    const outcomes = await ingestMany(
      deps,
      readable.map((entry) => entry.value ?? null),
    )
    const byEntry = new Map(readable.map((entry, index) => [entry, outcomes[index]!]))
    for (const entry of singles) told.push(toTold(entry, byEntry.get(entry) ?? entry.error!))
    singles = []
  }
  for (const entry of entries) {
    const { value } = entry
    if (!isJsonObject(value) || !Array.isArray(value['events'])) {
      singles.push(entry)
      continue
    }
    await flush()
    try {
      for (const outcome of await ingestBatch(deps, value)) told.push(toTold(entry, outcome))
    } catch (error) {
      told.push(toTold(entry, toCpError(error)))
    }
  }
  await flush()
  return told
}

function toTold({ line, value }: Entry, outcome: AppendOutcome | CpError): Told {
  if (outcome instanceof CpError) return { line, status: 'refused', error: outcome }
  if (outcome.kind === 'conflict')
    return { line, status: 'refused', error: new CpError('conflict', clashMessage(outcome.eventId)) }
  if (outcome.kind === 'refused') return { line, status: 'refused', error: new CpError('refused', outcome.reason) }
  if (outcome.kind === 'unknownExecution')
    return { line, status: 'refused', error: new CpError('not_found', `execution ${outcome.executionId} is unknown`) }
  return {
    line,
    status: outcome.kind,
    executionId: String(isJsonObject(value) ? value['execution_id'] : ''),
    eventId: outcome.eventId,
    streamVersion: 'streamVersion' in outcome ? outcome.streamVersion : undefined,
  }
}

export const eventsImport: CommandSpec = {
  path: ['events', 'import'],
  changes: true,
  localBecause: 'it writes every column as it was, and no route takes that',
  summary: 'Read exported events back',
  description:
    'Reads what "events export" wrote. Every column comes back as it was, executions are created where they are missing. The same event again changes nothing, so an interrupted import is simply repeated. Nothing is published unless --publish is given. Refused lines are named on standard error and give exit code 1.',
  args: [{ name: 'file', help: 'NDJSON; default standard input', completes: 'file', optional: true }],
  options: [{ flags: '--publish', help: 'also publish the events that are new here' }],
  examples: [
    ['events import run.ndjson', 'from a file'],
    ['events export 320816801799737344 | noetl-cp events import --database-url postgres://…', 'into another database'],
  ],
  run: async (context, input) => {
    const source = openSource(context, input.args['file'])
    const publish = isSet(input, 'publish')
    return withCore(context, async (writing) => {
      const teller = createTeller(context, 'events', 'summary')
      for await (const batch of inBatches(readEntries(source, JSON_DEPTH_MAX), BATCH)) {
        const readable = batch.filter((entry) => entry.error === undefined)
        const answers = await importEvents(writing, readable.map(toLine), { publish })
        const byEntry = new Map(readable.map((entry, index) => [entry, answers[index]!]))
        teller.tell(batch.map((entry) => toldImport(entry, byEntry.get(entry))))
      }
      return teller.finish()
    })
  },
}

function toLine({ text, value = null }: Entry): ImportLine {
  return { document: value, text }
}

function toldImport({ line, error }: Entry, answer: Imported | undefined): Told {
  if (answer === undefined || answer.kind === 'refused') {
    return { line, status: 'refused', error: error ?? (answer as Extract<Imported, { kind: 'refused' }>).error }
  }
  return { line, status: answer.kind, executionId: answer.executionId, eventId: answer.eventId }
}

/** Says what became of each line, counts, and decides the exit code. */
function createTeller(context: CommandContext, what: string, plain: 'ids' | 'summary' = 'ids') {
  const progress = createProgress(context, what)
  const counts = { stored: 0, duplicate: 0, refused: 0 }
  let total = 0
  let lastError: CpError | undefined

  function tellOne(told: Told): void {
    total += 1
    if (told.error !== undefined) {
      // The server is gone: the lines behind this one are not wrong, they are just not written.
      if (isTransient(told.error)) throw interrupted(told.error, told.line)
      lastError = told.error
      counts.refused += 1
      progress.end()
      print(context.io.stderr, `line ${told.line}: ${told.error.message}`)
    } else if (told.status === 'stored') counts.stored += 1
    else counts.duplicate += 1
    if (context.isJson) printJson(context.io.stdout, toJson(told))
    else if (plain === 'ids' && told.eventId !== undefined) printLines(context.io.stdout, [told.eventId])
  }

  return {
    tell: (list: readonly Told[]): void => {
      for (const told of list) tellOne(told)
      progress.report(total)
    },
    finish: (): number => {
      progress.end()
      if (!context.isQuiet)
        print(
          context.io.stderr,
          `${counts.stored} stored, ${counts.duplicate} there already, ${counts.refused} refused`,
        )
      if (lastError === undefined) return EXIT.ok
      return total === 1 ? EXIT_OF[lastError.code] : EXIT.failed
    },
  }
}

function interrupted(error: CpError, line: number): CpError {
  return new CpError(error.code, `stopped at line ${line}: ${error.message}; run it again, what is stored stays`, {
    cause: error,
  })
}

function toJson(told: Told): JsonObject {
  const json: JsonObject = { line: told.line, status: told.status }
  if (told.executionId !== undefined) json['execution_id'] = told.executionId
  if (told.eventId !== undefined) json['event_id'] = told.eventId
  if (told.streamVersion !== undefined) json['stream_version'] = told.streamVersion
  if (told.error !== undefined) {
    json['error'] = told.error.message
    json['code'] = told.error.code
  }
  return json
}
