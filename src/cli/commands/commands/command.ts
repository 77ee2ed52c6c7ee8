// Commands of playbooks from the command line: what waits, who holds what, and taking one back.
import { buildCommands } from '../../../daemon/commands.js'
import { parseEventId, parseExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { CommandSpec, Input } from '../../command.js'
import { integerOption, textOption } from '../../options.js'
import { type Block, toned } from '../../output.js'
import { type CommandShown, commandRemotely, commandsRemotely, requeueRemotely } from '../../remote/commands.js'
import { thereOrHere } from '../../remote.js'
import { withCore } from '../../writing.js'

const LIMIT_DEFAULT = 50
const STATUSES = ['PENDING', 'CLAIMED', 'RUNNING', 'PARKED', 'COMPLETED', 'FAILED', 'CANCELLED']
const idArgument = {
  name: 'event_id',
  help: 'id of its command.issued event, as in "command list"',
  completes: 'command',
} as const

export const commandList: CommandSpec = {
  path: ['command', 'list'],
  summary: 'Commands in the order they were issued',
  options: [
    { flags: '--execution <id>', help: 'only of this execution', completes: 'execution' },
    { flags: '--status <status>', help: STATUSES.join(', '), completes: STATUSES },
    { flags: '--pool <name>', help: 'only of this pool', completes: 'pool' },
    { flags: '--after <event_id>', help: 'from the one after this' },
    { flags: '--limit <n>', help: `at most so many; default ${LIMIT_DEFAULT}` },
  ],
  examples: [
    ['command list --status PENDING', 'what waits for a worker'],
    ['command list --execution 380600494935949312', 'of one execution'],
  ],
  run: async (context, input) => {
    const execution = textOption(input, 'execution')
    const after = textOption(input, 'after')
    const limit = integerOption(input, 'limit', { min: 1, max: 1_000 }) ?? LIMIT_DEFAULT
    const filter = {
      executionId: execution === undefined ? undefined : parseExecutionId(execution, '--execution'),
      status: statusOption(input),
      pool: textOption(input, 'pool'),
      after: after === undefined ? '0' : parseEventId(after, '--after'),
      limit,
    }
    const found = await thereOrHere<readonly CommandShown[]>(
      context,
      (remote) => commandsRemotely(remote, filter),
      () => withCore(context, ({ core, deps }) => buildCommands(deps, core).list(filter)),
    )
    const last = found.at(-1)
    return {
      json: { commands: found.map(toJson) },
      blocks: [
        {
          kind: 'table',
          columns: ['event_id', 'execution', 'command', 'kind', 'pool', 'status', 'attempt', 'worker'],
          spare: ['worker', 'attempt', 'kind'],
          rows: found.map((row) => [
            row.command_id,
            row.execution_id,
            row.command_key.replace(`${row.execution_id}:`, ''),
            row.tool_kind,
            row.pool,
            tonedStatus(row),
            `${row.attempt}/${row.max_attempts}`,
            row.worker_id,
          ]),
          empty: 'no such command',
        },
      ],
      notes: found.length === limit && last !== undefined ? [`more with --after ${last.command_id}`] : [],
    }
  },
}

export const commandShow: CommandSpec = {
  path: ['command', 'show'],
  summary: 'Everything about one command',
  args: [idArgument],
  examples: [['command show 380600494935949313', 'who holds it, until when']],
  run: async (context, input) => {
    const eventId = parseEventId(input.args['event_id'], 'event_id')
    const row = await thereOrHere<CommandShown>(
      context,
      (remote) => commandRemotely(remote, eventId),
      () => withCore(context, ({ core, deps }) => buildCommands(deps, core).show(eventId)),
    )
    return { json: toJson(row), blocks: [factsOf(row)] }
  },
}

export const commandRequeue: CommandSpec = {
  path: ['command', 'requeue'],
  changes: true,
  summary: 'Take a command away from a worker that hangs, and give it to the next',
  description:
    'The command goes back to its pool with a higher attempt; answers of the worker that held it are ignored from now on. The tool may then have run twice.',
  args: [idArgument],
  examples: [['command requeue 380600494935949313', 'its worker hangs']],
  run: async (context, input) => {
    const eventId = parseEventId(input.args['event_id'], 'event_id')
    const row = await thereOrHere<CommandShown>(
      context,
      (remote) => requeueRemotely(remote, eventId),
      () => withCore(context, ({ core, deps }) => buildCommands(deps, core).requeue(eventId)),
    )
    return {
      json: toJson(row),
      blocks: [{ kind: 'text', text: `command ${row.command_key} waits for attempt ${row.attempt}` }],
    }
  },
}

function statusOption(input: Input): string | undefined {
  const status = textOption(input, 'status')?.toUpperCase()
  if (status === undefined || STATUSES.includes(status)) return status
  throw new CpError('invalid_input', `--status must be one of ${STATUSES.join(', ')}`)
}

function factsOf(row: CommandShown): Block {
  const facts: [string, string | number | null][] = [
    ['command', row.command_key],
    ['execution', row.execution_id],
    ['playbook', row.path ?? null],
    ['step', row.step_name],
    ['kind', row.tool_kind],
    ['pool', row.pool],
    ['status', row.status],
    ['priority', row.priority],
    ['attempt', `${row.attempt} of ${row.max_attempts}`],
    ['worker', row.worker_id],
    ['lease until', row.lease_until],
    ['given up at', row.deadline],
    ['issued', row.created_at],
    ['claimed', row.claimed_at],
    ['started', row.started_at],
    ['ended', row.completed_at],
    ['error', row.error],
  ]
  return {
    kind: 'table',
    isProse: true,
    columns: ['field', 'value'],
    rows: facts.filter(([, value]) => value !== null),
    empty: '',
  }
}

function tonedStatus({ status }: CommandShown) {
  const tone = status === 'FAILED' ? 'bad' : status === 'COMPLETED' ? 'good' : undefined
  return tone === undefined ? status : toned(status, tone)
}

function toJson(row: CommandShown): JsonObject {
  const { command_id: eventId, command_key: commandId, execution_id: executionId, ...rest } = row
  return {
    event_id: eventId,
    execution_id: executionId,
    command_id: commandId,
    ...rest,
  }
}
