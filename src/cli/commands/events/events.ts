// Reading the log of one execution: its end, as it grows, or all of it.

import { parseExecutionId } from '../../../domain/ids/ids.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { redact } from '../../../domain/secrets/redact.js'
import type { SecretRules } from '../../../domain/secrets/secretNames.js'
import { isTransient, toCpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import { printable } from '../../../runtime/printable.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import { type EventReader, readEvents, tailEvents } from '../../../services/events/eventReading.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { followEvents } from '../../followEvents.js'
import { print, printJson, printLines } from '../../io.js'
import { integerOption, isSet, textOption } from '../../options.js'
import { createProgress } from '../../progress.js'
import { type RemoteClient, remoteClient } from '../../remote.js'
import { openSink, type Sink } from '../../sink.js'
import { millisecondTime } from '../../tableTime.js'

const LIMIT_MAX = 10_000
const FOLLOW_MS = 300
const RETRY_MS = 2_000

export const eventsTail: CommandSpec = {
  path: ['events', 'tail'],
  summary: 'The last events of an execution, and those to come',
  description:
    'Prints the last events of an execution, one per line; with --follow it waits for more until it is interrupted. --json prints each as a JSON document.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '-f, --follow', help: 'wait for more' },
    { flags: '--limit <n>', help: 'how many of the last events', default: '20' },
  ],
  examples: [
    ['events tail 320816801799737344', 'the last twenty'],
    ['events tail 320816801799737344 --follow', 'and what comes after'],
    ['events tail 320816801799737344 --json | jq .event_type', 'for programs'],
  ],
  run: async (context, input) => {
    const id = parseExecutionId(input.args['id'], 'id')
    const limit = integerOption(input, 'limit', { min: 0, max: LIMIT_MAX }) ?? 20
    const remote = remoteClient(context)
    if (remote !== undefined) return tailRemotely(context, remote, { id, limit, follows: isSet(input, 'follow') })
    const { last, reader } = await tailEvents(await context.deps(), id, limit)
    const rules = context.secretRules()
    const sink = openSink(context, undefined)
    const show = (lines: readonly string[]): Promise<boolean> =>
      sink.write(
        lines
          .map((line) => shown(parseJson(line) as JsonObject, rules))
          .map((event) => `${context.isJson ? writeJson(event) : lineOf(event, context.io.stdout.columns)}\n`)
          .join(''),
      )
    if (last.length > 0) await show(last)
    if (isSet(input, 'follow')) await follow(context, reader, sink, show)
    return EXIT.ok
  },
}

async function tailRemotely(
  context: CommandContext,
  remote: RemoteClient,
  { id, limit, follows }: { id: string; limit: number; follows: boolean },
): Promise<number> {
  const { httpUrl, token } = await context.instance()
  const rules = context.secretRules()
  const shutdown = listenForShutdown(context.io)
  const { total = 0 } = await remote.call('getExecutionsByExecutionIdEvents', {
    params: { execution_id: id },
    query: { limit: 1 },
  })
  const afterVersion = String(Math.max(0, total - limit))
  const options = { executionId: id, afterVersion, clock: systemClock, signal: shutdown.signal, untilQuiet: !follows }
  try {
    await followEvents({ ...options, api: createApiClient(httpUrl, token) }, (event) => {
      const one = shown(event, rules)
      if (context.isJson) printJson(context.io.stdout, one)
      else printLines(context.io.stdout, [lineOf(one, context.io.stdout.columns)])
    })
    return EXIT.ok
  } finally {
    shutdown.dispose()
  }
}

async function follow(
  context: CommandContext,
  reader: EventReader,
  sink: Sink,
  show: (lines: readonly string[]) => Promise<boolean>,
): Promise<void> {
  const { clock } = await context.deps()
  const shutdown = listenForShutdown(context.io)
  let isDown = false
  try {
    while (!shutdown.signal.aborted && !sink.isClosed()) {
      try {
        for await (const lines of reader.pages(shutdown.signal)) if (!(await show(lines))) return
        if (isDown) print(context.io.stderr, 'noetl-cp: the database is back')
        isDown = false
      } catch (error) {
        // Whoever follows wants to see what comes after the outage, too.
        if (!isTransient(error)) throw error
        if (!isDown) print(context.io.stderr, `noetl-cp: ${toCpError(error).message}; trying again`)
        isDown = true
      }
      await clock.sleep(isDown ? RETRY_MS : FOLLOW_MS, shutdown.signal)
    }
  } finally {
    shutdown.dispose()
  }
}

/** Sealed secrets are for exports, which must not lose anything. */
function shown({ sealed, ...event }: JsonObject, rules: SecretRules | null): JsonObject {
  return rules === null ? event : (redact(event, rules) as JsonObject)
}

/** For people: time, number, type, step, status, and the error if there is one. */
function lineOf(event: JsonObject, width: number | undefined): string {
  const version = event['stream_version'] === undefined ? '-' : String(event['stream_version'])
  const parts = [
    width === undefined ? String(event['timestamp']) : millisecondTime(String(event['timestamp'])),
    version.padStart(4),
    text(event['event_type']).padEnd(18),
    text(event['node_name']).padEnd(12),
    text(event['status']),
    text(event['error']),
  ]
  return parts.join('  ').trimEnd()
}

function text(value: JsonValue | undefined): string {
  // One event is one line, and a terminal must not be steered by what an event says.
  return typeof value === 'string' ? printable(value) : ''
}

export const eventsExport: CommandSpec = {
  path: ['events', 'export'],
  localBecause: 'it writes every column, sealed secrets included, and no route gives those out',
  summary: 'Write all events of an execution as NDJSON',
  description:
    'Writes every event of an execution as one JSON document per line: every column under its name, ids as bare integers, in the order they were appended. "events import" reads it back exactly. Memory stays small whatever the length.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [{ flags: '-o, --output <file>', help: 'file to write; it appears when it is complete', completes: 'file' }],
  examples: [
    ['events export 320816801799737344 > run.ndjson', 'to standard output'],
    ['events export 320816801799737344 --output run.ndjson', 'to a file, with progress on a terminal'],
  ],
  run: async (context, input) => {
    const id = parseExecutionId(input.args['id'], 'id')
    const reader = await readEvents(await context.deps(), id)
    const path = textOption(input, 'output')
    const sink = openSink(context, path)
    const progress = createProgress(context, 'events')
    let count = 0
    try {
      for await (const lines of reader.pages()) {
        if (!(await sink.write(lines.map((line) => `${line}\n`).join('')))) break
        count += lines.length
        progress.report(count)
      }
      await sink.finish()
    } catch (error) {
      await sink.discard()
      throw error
    } finally {
      progress.end()
    }
    if (!context.isQuiet && !sink.isClosed() && (path !== undefined || context.io.stderr.isTTY === true)) {
      print(context.io.stderr, `${count} event(s) of execution ${id}${path === undefined ? '' : ` in ${path}`}`)
    }
    return EXIT.ok
  },
}
