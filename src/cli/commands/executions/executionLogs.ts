// What the tools of an execution printed.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { systemClock } from '../../../runtime/clock.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { followEvents } from '../../followEvents.js'
import { printJson, printLines } from '../../io.js'
import { isSet, textOption } from '../../options.js'

const ANSWERS: ReadonlySet<string> = new Set(['call.done', 'call.error'])

export const executionLogs: CommandSpec = {
  path: ['execution', 'logs'],
  summary: 'What the steps of an execution printed',
  description:
    'Prints standard output and standard error of the tools of an execution, line by line with the step before it, as their commands end. With --follow it waits for those to come until the execution ends. Up to 64 KB of each stream of a command are kept.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '--step <name>', help: 'of this step only' },
    { flags: '-f, --follow', help: 'wait for more until the execution ends' },
  ],
  examples: [
    ['execution logs 320816801799737344', 'of every step'],
    ['execution logs 320816801799737344 --step load --follow', 'of one step, as it goes on'],
  ],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const step = textOption(input, 'step')
    const { httpUrl, token } = await context.instance()
    const shutdown = listenForShutdown(context.io)
    const isFollowing = isSet(input, 'follow')
    try {
      await followEvents(
        {
          api: createApiClient(httpUrl, token),
          executionId,
          clock: systemClock,
          signal: shutdown.signal,
          untilQuiet: !isFollowing,
        },
        (event) => {
          if (ANSWERS.has(String(event['event_type'])) && (step === undefined || event['node_name'] === step)) {
            show(context, event)
          }
        },
      )
      return EXIT.ok
    } finally {
      shutdown.dispose()
    }
  },
}

function show(context: CommandContext, event: JsonObject): void {
  const envelope = mapAt(mapAt(mapAt(mapAt(event, 'result'), 'context'), 'result'), 'context')
  const step = String(event['node_name'])
  for (const stream of ['stdout', 'stderr'] as const) {
    const text = envelope[stream] ?? mapAt(envelope, 'data')[stream]
    if (typeof text !== 'string' || text === '') continue
    const lines = text.replace(/\n$/, '').split('\n')
    if (context.isJson) for (const line of lines) printJson(context.io.stdout, { step, stream, line })
    else
      printLines(
        context.io.stdout,
        lines.map((line) => `${step}${stream === 'stderr' ? ' !' : ' |'} ${line}`),
      )
  }
}

function mapAt(value: JsonValue | undefined, key: string): JsonObject {
  const inner = isJsonObject(value) ? value[key] : undefined
  return isJsonObject(inner) ? inner : {}
}
