// Writing events from files and pipes: new ones as the HTTP route takes them, and exported ones back.
import { isJsonObject, JSON_DEPTH_MAX, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError, isTransient, toCpError } from '../../errors.js'
import type { AppendOutcome } from '../../services/append/appendInTx.js'
import { type Imported, importEvents } from '../../services/eventImport.js'
import { clashMessage, type IngestDeps, ingestBatch, ingestEvent } from '../../services/ingest.js'
import type { CommandContext, CommandSpec } from '../command.js'
import { type Entry, readEntries } from '../eventLines.js'
import { EXIT, EXIT_OF } from '../exit.js'
import { print } from '../io.js'
import { isSet } from '../options.js'
import { createProgress } from '../progress.js'
import { openSource } from '../source.js'
import { withCore } from '../writing.js'

const WINDOW = 256
// As deep as the HTTP server takes it.
const APPEND_DEPTH_MAX = 200
const IMPORT_BATCH = 500

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
  summary: 'Append events from a file or from standard input',
  description:
    'Reads one event per line (NDJSON), a JSON array of events, or a batch {"execution_id", "events"}, with the fields of POST /api/events and the same checks. Prints the event ids. Lines that are refused are named on standard error; the others are stored. Exit code 1 when some of several were refused; for a single event the code of its error.',
  args: [{ name: 'file', help: 'NDJSON or JSON; default standard input', optional: true }],
  examples: [
    ['events append events.ndjson', 'from a file'],
    [
      `events append <<< '{"execution_id": "320816801799737344", "event_type": "step.enter", "step": "a"}'`,
      'one event',
    ],
  ],
  run: async (context, { args }) => {
    const source = openSource(context, args['file'])
    return withCore(context, async (writing) => {
      const teller = createTeller(context, 'events')
      const waiting: Promise<Told[]>[] = []
      const lanes = new Map<string, Promise<unknown>>()
      for await (const entry of readEntries(source, APPEND_DEPTH_MAX)) {
        // Events of one execution wait for each other; those of different ones share transactions.
        const lane = laneOf(entry.value)
        const told = (lanes.get(lane) ?? Promise.resolve()).then(() => appendEntry(writing, entry))
        lanes.set(lane, told)
        void told.then(() => {
          if (lanes.get(lane) === told) lanes.delete(lane)
        })
        waiting.push(told)
        if (waiting.length >= WINDOW) teller.tell(await waiting.shift()!)
      }
      for (const told of waiting) teller.tell(await told)
      return teller.finish()
    })
  },
}

function laneOf(value: JsonValue | undefined): string {
  return isJsonObject(value) ? String(value['execution_id']) : ''
}

/** Never rejects: what went wrong is part of the answer. */
async function appendEntry(deps: IngestDeps, { line, value, error }: Entry): Promise<Told[]> {
  if (error !== undefined) return [{ line, status: 'refused', error }]
  try {
    if (!isJsonObject(value)) throw new CpError('invalid_input', 'an event must be a JSON object')
    if (!Array.isArray(value['events'])) return [toTold(line, value['execution_id'], await ingestEvent(deps, value))]
    const outcomes = await ingestBatch(deps, value)
    return outcomes.map((outcome) => toTold(line, value['execution_id'], outcome))
  } catch (thrown) {
    return [{ line, status: 'refused', error: toCpError(thrown) }]
  }
}

function toTold(line: number, executionId: JsonValue | undefined, outcome: AppendOutcome): Told {
  if (outcome.kind === 'conflict')
    return { line, status: 'refused', error: new CpError('conflict', clashMessage(outcome.eventId)) }
  if (outcome.kind === 'unknownExecution')
    return { line, status: 'refused', error: new CpError('not_found', `execution ${outcome.executionId} is unknown`) }
  return {
    line,
    status: outcome.kind,
    executionId: String(executionId),
    eventId: outcome.eventId,
    streamVersion: 'streamVersion' in outcome ? outcome.streamVersion : undefined,
  }
}

export const eventsImport: CommandSpec = {
  path: ['events', 'import'],
  summary: 'Read exported events back',
  description:
    'Reads what "events export" wrote. Ids, times and columns are kept, executions are created where they are missing. The same event again changes nothing, so an interrupted import is simply repeated. Nothing is published unless --publish is given. Refused lines are named on standard error and give exit code 1.',
  args: [{ name: 'file', help: 'NDJSON; default standard input', optional: true }],
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
      let batch: Entry[] = []
      const flush = async (): Promise<void> => {
        const readable = batch.filter((entry) => entry.error === undefined)
        const documents = readable.map((entry) => entry.value ?? null)
        const answers = documents.length === 0 ? [] : await importEvents(writing, documents, { publish })
        const byEntry = new Map(readable.map((entry, index) => [entry, answers[index]!]))
        teller.tell(batch.map((entry) => toldImport(entry, byEntry.get(entry))))
        batch = []
      }
      for await (const entry of readEntries(source, JSON_DEPTH_MAX)) {
        batch.push(entry)
        if (batch.length >= IMPORT_BATCH) await flush()
      }
      if (batch.length > 0) await flush()
      return teller.finish()
    })
  },
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
    if (context.isJson) context.io.stdout.write(`${writeJson(toJson(told))}\n`)
    else if (plain === 'ids' && told.eventId !== undefined) context.io.stdout.write(`${told.eventId}\n`)
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
