// Walks through an execution event by event.

import { parseExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { isJsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { inIdOrder } from '../../../domain/replay/eventIntake.js'
import { CpError } from '../../../errors.js'
import { printable } from '../../../runtime/printable.js'
import { createWalk, loadEvents, WALK_EVENTS_MAX, type Walk, type WalkStep } from '../../../services/replay/walk.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { print } from '../../io.js'
import { integerOption, textOption } from '../../options.js'
import { differenceJson, shortValue } from '../../replay/changes.js'
import { readEventFile } from '../../replay/eventFile.js'
import { FILE_OPTIONS, OWNER_OPTIONS, requestOf, requestOfEvents } from '../../replay/options.js'
import { text } from '../../replay/report.js'
import { walkOnTerminal } from '../../replay/walkScreen.js'
import { openSink } from '../../sink.js'

export const replayStep: CommandSpec = {
  path: ['replay', 'step'],
  localBecause: 'it walks through the log itself; the console does the same over HTTP',
  summary: 'Walk through an execution event by event, forward and back',
  description:
    'On a terminal: one screen per event with what it changed; arrow keys or n and p move, q ends. In a pipe, or with --json, every event is printed in order with its changes, one JSON object per line with --json.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution', optional: true }],
  options: [
    { flags: '--limit <n>', help: 'in a pipe: at most so many events' },
    { flags: '--from <n>', help: 'in a pipe: start at this event, counted from 1' },
    ...OWNER_OPTIONS,
    ...FILE_OPTIONS,
  ],
  examples: [
    ['replay step 320816801799737344', 'walk with the arrow keys'],
    ['replay step 320816801799737344 --json', 'every step for programs'],
  ],
  run: async (context, input) => {
    const walk = await openWalk(context, input)
    if (walk.truncated) print(context.io.stderr, `the log is longer; only its first ${WALK_EVENTS_MAX} events are here`)
    const isTerminal = context.io.stdin.isTTY === true && context.io.stdout.isTTY === true
    if (isTerminal && !context.isJson) await walkOnTerminal(context, walk)
    else await printSteps(context, input, walk)
    return EXIT.ok
  },
}

async function openWalk(context: CommandContext, input: Input): Promise<Walk> {
  const file = textOption(input, 'file')
  const bare = { ...input, options: { ...input.options, limit: undefined } }
  if (file !== undefined) {
    const events = await readEventFile(context, file)
    const { profile, query } = requestOfEvents(context, bare, events)
    const executionId = String(query.executionId)
    const own = events.filter((event) => text(event['execution_id'] ?? executionId) === executionId)
    return createWalk(profile, query, inIdOrder(own), false)
  }
  if (input.args['id'] === undefined) throw new CpError('invalid_input', 'name an execution, or a file with --file')
  const id = parseExecutionId(input.args['id'], 'id')
  const { deps, request } = await requestOf(context, bare, id)
  const { events, truncated } = await loadEvents(deps, request.query)
  return createWalk(request.profile, request.query, events, truncated, deps.secretNames)
}

async function printSteps(context: CommandContext, input: Input, walk: Walk): Promise<void> {
  const from = integerOption(input, 'from', { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? 1
  const limit = integerOption(input, 'limit', { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? walk.length
  const sink = openSink(context, undefined)
  for (let index = from; index <= Math.min(walk.length, from + limit - 1); index++) {
    const step = walk.step(index)
    const line = context.isJson ? `${writeJson(stepJson(step, walk))}\n` : stepText(step, walk)
    if (!(await sink.write(line))) return
  }
}

function stepJson(step: WalkStep, walk: Walk): JsonObject {
  const execution = isJsonObject(step.state['execution']) ? step.state['execution'] : {}
  return {
    index: step.index,
    of: walk.length,
    event: step.event,
    status: execution['status'] ?? null,
    checksum: step.state['checksum'] ?? null,
    changes: step.changes.map(differenceJson),
  }
}

function stepText(step: WalkStep, walk: Walk): string {
  const event = step.event ?? {}
  const words = [event['event_id'], event['event_type'], event['node_name'], event['status'], event['created_at']]
  const lines = [
    `${step.index}/${walk.length} ${words
      .map(text)
      .filter((word) => word !== '')
      .join('  ')}`,
  ]
  for (const change of step.changes) {
    const mark = change.kind === 'added' ? '+' : change.kind === 'removed' ? '-' : '~'
    const from = 'from' in change ? shortValue(change.from) : ''
    const to = 'to' in change ? shortValue(change.to) : ''
    lines.push(`  ${mark} ${change.pointer}  ${change.kind === 'changed' ? `${from} → ${to}` : from + to}`)
  }
  return lines.map((line) => `${printable(line)}\n`).join('')
}
