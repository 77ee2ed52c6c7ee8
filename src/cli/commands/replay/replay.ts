// Rebuilds an execution from its events: from the database, or from a file without any server.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { type Extent, withoutSecrets } from '../../../domain/replay/answer.js'
import { SEED_PROBLEMS } from '../../../domain/replay/replaySeed.js'
import { CpError } from '../../../errors.js'
import { type ReplayOutput, replayExecution, verifyExecution } from '../../../services/replay/replay.js'
import { type ParsedRequest, parseReplayRequest } from '../../../services/replay/request.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { print } from '../../io.js'
import { isSet, textOption } from '../../options.js'
import type { Cell, Output } from '../../output.js'
import { given, notOverHttp, type RemoteClient, remoteClient } from '../../remote.js'
import { MAY_CHANGE } from '../../replay/changes.js'
import { foldFile } from '../../replay/foldFile.js'
import {
  CUTOFF_OPTIONS,
  FILE_OPTIONS,
  OWNER_OPTIONS,
  parametersOf,
  profileOf,
  requestOf,
} from '../../replay/options.js'
import { replayReport } from '../../replay/report.js'
import { verifyOutput } from '../../replay/verification.js'
import { watching } from '../../replay/watching.js'
import { openSink } from '../../sink.js'

export const replay: CommandSpec = {
  path: ['replay'],
  summary: 'Rebuild an execution from its events, as it is or as it was',
  description:
    'Folds the events of an execution into its state and shows it; --json prints the exact state document. The same events give the same bytes, from the database, from a file, from a snapshot, at any time. --verify compares the full fold with the stored snapshot and with the read model; exit code 5 when something differs.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution', optional: true }],
  options: [
    { flags: '--projection <name>', help: 'execution, stage, frame, command, business_object, loop or all' },
    ...CUTOFF_OPTIONS,
    { flags: '--limit <n>', help: 'fold the oldest n events only; the answer says that it is partial' },
    { flags: '--from-snapshot', help: 'start from the stored snapshot if there is a usable one' },
    { flags: '--verify', help: 'compare full fold, snapshot and read model' },
    {
      flags: '--ids <form>',
      help: 'number or string: how ids are written with --json',
      completes: ['number', 'string'],
    },
    { flags: '--resolve-payloads', help: 'read what the events refer to, and report its size, rows and checksum' },
    ...OWNER_OPTIONS,
    ...FILE_OPTIONS,
  ],
  examples: [
    ['replay 320816801799737344', 'the execution as it is'],
    ['replay 320816801799737344 --as-of-time 2026-11-16T02:22:39Z', 'as it was'],
    ['replay 320816801799737344 --verify', 'does everything agree?'],
    ['replay --file events.ndjson --json', 'the state of an exported log, without a server'],
  ],
  run: async (context, input) => {
    const file = textOption(input, 'file')
    if (file !== undefined) return replayFile(context, input, file)
    if (input.args['id'] === undefined) {
      throw new CpError('invalid_input', 'name an execution, or a file with --file; see "noetl-cp help replay"')
    }
    const id = parseExecutionId(input.args['id'], 'id')
    const remote = remoteClient(context)
    if (remote !== undefined) return replayRemotely(context, input, remote, id)
    const { deps, request } = await requestOf(context, input, id)
    if (isSet(input, 'verify')) {
      const output = await watching(context, (progress) => verifyExecution(deps, request, { progress }))
      return verifyOutput(id, output)
    }
    const output = await watching(context, (progress) =>
      replayExecution(deps, { ...request, remarks: 'whenNeeded', timeline: !context.isJson }, { progress }),
    )
    const notes = notesOf(request, output)
    if (context.isJson) return printDocument(context, output.document, notes)
    return {
      json: null,
      blocks: replayReport({
        state: parseJson(Buffer.from(output.document).toString('utf8')) as JsonObject,
        timeline: output.timeline!,
        warnings: parseJson(output.warnings) as JsonObject[],
        origin: originOf(request, output),
      }),
      notes,
    }
  },
}

/** The document comes from the daemon; how long steps took is not in it. */
async function replayRemotely(context: CommandContext, input: Input, remote: RemoteClient, executionId: string) {
  if (isSet(input, 'verify')) throw notOverHttp('replay --verify', 'it reads the log, the snapshots and the read model')
  const parameters = { ...parametersOf(input), execution_id: executionId }
  const { query } = parseReplayRequest(profileOf(context, input), parameters)
  const profile = textOption(input, 'profile')
  const { answer, headers, text } = await remote.ask('getReplayState', {
    query: { ids: 'number', ...parameters, ...given({ profile }) } as never,
  })
  const state = answer as JsonObject
  const extent = {
    truncated: headers.get('x-noetl-truncated') === 'true',
    nextEventId: headers.get('x-noetl-next-event-id'),
    mayChange: headers.get('x-noetl-may-change') === 'true',
  }
  // An unknown execution has an empty state: a person who mistypes an id should learn it.
  if (state['event_count'] === 0)
    await remote.call('getExecutionsByExecutionIdStatus', { params: { execution_id: executionId } })
  const notes = notesOf({ query }, extent)
  if (context.isJson) return printDocument(context, Buffer.from(text), notes)
  const seed = headers.get('x-noetl-seed')
  const warnings = (state['warnings'] ?? []) as JsonObject[]
  const origin: [string, Cell][] = [
    ...cutoffLine({ query }),
    ...(seed === null ? [] : [['snapshot', seed] as [string, Cell]]),
  ]
  return { json: null, blocks: replayReport({ state, timeline: undefined, warnings, origin }), notes }
}

async function replayFile(context: CommandContext, input: Input, path: string): Promise<Output | number> {
  for (const option of ['verify', 'from-snapshot', 'resolve-payloads']) {
    if (isSet(input, option)) throw new CpError('invalid_input', `--${option} needs the database, not a file`)
  }
  const { request, replayed } = await foldFile(context, input, path)
  const notes = notesOf(request, replayed)
  if (context.isJson) return printDocument(context, replayed.document(), notes)
  return {
    json: null,
    blocks: replayReport({
      state: withoutSecrets(replayed.result.state, []),
      timeline: replayed.timeline(),
      warnings: replayed.warnings,
      origin: [['file', path], ...cutoffLine(request)],
    }),
    notes,
  }
}

/** The bytes as they were made: nothing in between may change them. */
async function printDocument(context: CommandContext, document: Uint8Array, notes: readonly string[]): Promise<number> {
  const sink = openSink(context, undefined)
  await sink.write(`${Buffer.from(document.buffer, document.byteOffset, document.byteLength).toString('utf8')}\n`)
  if (!context.isQuiet) for (const note of notes) print(context.io.stderr, note)
  return EXIT.ok
}

function notesOf(request: Pick<ParsedRequest, 'query'>, { truncated, nextEventId, mayChange }: Extent): string[] {
  const notes: string[] = []
  if (truncated) notes.push(`partial: stopped after ${request.query.limit} events; the next one is ${nextEventId}`)
  if (mayChange) notes.push(MAY_CHANGE)
  return notes
}

function originOf(request: ParsedRequest, output: ReplayOutput): [string, Cell][] {
  const { seed } = output
  const lines = cutoffLine(request)
  if (!request.fromSnapshot) return lines
  const seedText =
    seed.version !== null
      ? `continued from event ${seed.version} with ${output.eventsRead} events`
      : seed.problem !== null
        ? `not used: ${SEED_PROBLEMS[seed.problem]}`
        : 'none there'
  return [...lines, ['snapshot', seedText]]
}

function cutoffLine({ query }: Pick<ParsedRequest, 'query'>): [string, Cell][] {
  const { cutoff } = query
  if (cutoff === null) return []
  if (cutoff.kind === 'event_id') return [['as of', `event ${cutoff.eventId}`]]
  return [['as of', cutoff.kind === 'version' ? `version ${cutoff.version}` : cutoff.time]]
}
