// Starting and ending executions: each writes an event with its outbox row.
import { readLabelTexts } from '../../../domain/executions/labels.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { parseJsonStrict } from '../../../domain/json/parse.js'
import { isJsonObject, JSON_DEPTH_MAX, type JsonObject } from '../../../domain/json/value.js'
import { CpError, toCpError } from '../../../errors.js'
import { type Cancelled, cancelExecution } from '../../../services/executions/cancellation.js'
import {
  endExecution,
  type Started,
  type StartRequest,
  startExecution,
} from '../../../services/executions/executions.js'
import type { CommandSpec, Input } from '../../command.js'
import { integerOption, isSet, listOption, textOption } from '../../options.js'
import { given, type RemoteClient, remoteClient, thereOrHere } from '../../remote.js'
import { readOptionFile } from '../../source.js'
import { withCore } from '../../writing.js'
import { watchToEnd } from './executionWatch.js'

const WINDOW_SECONDS_MAX = 31_536_000
const VERSION_MAX = 2_147_483_647

export const executionStart: CommandSpec = {
  path: ['execution', 'start'],
  changes: true,
  summary: 'Start an execution of a catalog entry',
  description:
    'Writes the start event of a new execution and prints its id. With a dedup key the second start within the window gets the id of the first.',
  args: [{ name: 'entry', help: 'catalog path, or catalog id', completes: 'path' }],
  options: [
    { flags: '--payload <json>', help: 'JSON object laid over the workload of the entry, or @file' },
    { flags: '--entry-version <n>', help: 'version of the entry; default the newest' },
    { flags: '--dedup-key <key>', help: 'start only once per key' },
    { flags: '--dedup-window <seconds>', help: 'how long the key counts', default: '86400' },
    { flags: '--parent <id>', help: 'execution that this one belongs to', completes: 'execution' },
    { flags: '--label <key=value>', help: 'a label to find it by', isRepeatable: true },
    { flags: '--wait', help: 'watch it to its end; the exit code is that of "run"' },
  ],
  examples: [
    ['execution start demo/hello', 'with the workload of the entry'],
    [`execution start demo/hello --payload '{"n": 3}'`, 'with values of its own'],
    ['execution start demo/hello --dedup-key order-17', 'at most once a day'],
    ['execution start demo/hello --label team=payments', 'to be found by "execution list --label team=payments"'],
  ],
  run: async (context, input) => {
    const request = await readStart(input)
    const remote = remoteClient(context)
    const started =
      remote === undefined
        ? await withCore(context, (writing) => startExecution(writing, request))
        : await startRemotely(remote, request)
    if (isSet(input, 'wait')) return watchToEnd(context, started.executionId)
    return {
      json: { execution_id: started.executionId, status: started.status },
      blocks: [{ kind: 'text', text: started.executionId }],
      notes: [started.status === 'started' ? 'started' : 'this key has started it already'],
    }
  },
}

async function startRemotely(remote: RemoteClient, request: StartRequest): Promise<Started> {
  const { path, catalogId, version, payload, parentExecutionId, labels, dedup } = request
  const answer = await remote.call('postExecute', {
    body: {
      ...(path === undefined ? {} : { path }),
      ...(catalogId === undefined ? {} : { catalog_id: catalogId }),
      ...(version === undefined ? {} : { version }),
      ...(payload === undefined ? {} : { payload }),
      ...(parentExecutionId === undefined ? {} : { parent_execution_id: parentExecutionId }),
      ...(labels === undefined ? {} : { labels }),
      ...(dedup === undefined ? {} : { dedup: { key: dedup.key, window_secs: dedup.windowSeconds } }),
    },
  })
  return { executionId: answer.execution_id!, status: answer.status! }
}

async function readStart(input: Input): Promise<StartRequest> {
  const entry = input.args['entry']!
  const isId = /^\d+$/.test(entry)
  const key = textOption(input, 'dedup-key')
  const parent = textOption(input, 'parent')
  if (key === '') throw new CpError('invalid_input', '--dedup-key must not be empty')
  return {
    path: isId ? undefined : entry,
    catalogId: isId ? entry : undefined,
    version: integerOption(input, 'entry-version', { min: 1, max: VERSION_MAX }),
    payload: await readPayload(textOption(input, 'payload')),
    parentExecutionId: parent === undefined ? undefined : parseExecutionId(parent, '--parent'),
    labels: readLabelTexts(listOption(input, 'label'), '--label'),
    dedup:
      key === undefined
        ? undefined
        : { key, windowSeconds: integerOption(input, 'dedup-window', { min: 1, max: WINDOW_SECONDS_MAX }) ?? 86_400 },
  }
}

async function readPayload(text: string | undefined): Promise<JsonObject | undefined> {
  if (text === undefined) return undefined
  const source = text.startsWith('@') ? await readOptionFile(text.slice(1)) : text
  let value: ReturnType<typeof parseJsonStrict>
  try {
    value = parseJsonStrict(source, { maxDepth: JSON_DEPTH_MAX })
  } catch (error) {
    throw new CpError('invalid_input', `--payload is not JSON: ${toCpError(error).message}`, { cause: error })
  }
  if (!isJsonObject(value)) throw new CpError('invalid_input', '--payload must be a JSON object')
  return value
}

export const executionCancel: CommandSpec = {
  path: ['execution', 'cancel'],
  changes: true,
  summary: 'Cancel an execution',
  description:
    'Writes the event that cancels an execution, with --cascade also everything that runs below it, whether it has ended itself or not; repeat the command if it was interrupted. Refused when nothing was left to cancel (exit code 4).',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '--reason <text>', help: 'kept in the event', isWhy: true },
    { flags: '--cascade', help: 'its children, and theirs, too' },
  ],
  examples: [
    ['execution cancel 320816801799737344', 'this one'],
    ['execution cancel 320816801799737344 --cascade --reason "wrong input"', 'with its children'],
  ],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const reason = textOption(input, 'reason')
    const cascade = isSet(input, 'cascade')
    const remote = remoteClient(context)
    const { status, children } =
      remote === undefined
        ? await withCore(context, (writing) => cancelExecution(writing, { executionId, reason, cascade }))
        : await cancelRemotely(remote, executionId, { cascade, ...(reason === undefined ? {} : { reason }) })
    return {
      json: { execution_id: executionId, status, cancelled_children: children },
      blocks: [
        {
          kind: 'table',
          columns: ['execution', 'now'],
          isProse: true,
          rows: [[executionId, status], ...children.map((id) => [id, 'CANCELLED'])],
        },
      ],
    }
  },
}

async function cancelRemotely(
  remote: RemoteClient,
  executionId: string,
  body: { reason?: string; cascade: boolean },
): Promise<Cancelled> {
  const answer = await remote.call('postExecutionsByExecutionIdCancel', { params: { execution_id: executionId }, body })
  const cancelled = answer.cancelled_executions ?? []
  const status = String(answer.status).toUpperCase()
  if (cancelled.length === 0) throw new CpError('refused', `execution ${executionId} is already ${status}`)
  return { status, children: cancelled.filter((id) => id !== executionId) }
}

const OUTCOMES = ['COMPLETED', 'FAILED'] as const

export const executionFinalize: CommandSpec = {
  path: ['execution', 'finalize'],
  changes: true,
  summary: 'End an execution by hand',
  description:
    'Writes the event that completes or fails an execution whose workers will not do it any more. One that has ended is refused (exit code 4).',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '--status <status>', help: OUTCOMES.join(' or '), completes: OUTCOMES },
    { flags: '--error <text>', help: 'why it failed' },
    { flags: '--reason <text>', help: 'kept in the event', isWhy: true },
  ],
  examples: [
    ['execution finalize 320816801799737344 --status COMPLETED', 'declare it done'],
    ['execution finalize 320816801799737344 --status FAILED --error "lost worker"', 'or failed'],
  ],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const outcome = OUTCOMES.find((one) => one === textOption(input, 'status')?.toUpperCase())
    if (outcome === undefined) throw new CpError('invalid_input', `--status must be ${OUTCOMES.join(' or ')}`)
    const request = { error: textOption(input, 'error'), reason: textOption(input, 'reason') }
    const eventId = await thereOrHere(
      context,
      async (remote) => {
        const params = { execution_id: executionId }
        const body = { status: outcome, ...given(request) }
        return (await remote.call('postExecutionsByExecutionIdFinalize', { params, body })).event_id!
      },
      async () =>
        (await withCore(context, (writing) => endExecution(writing, { executionId, outcome, ...request }))).eventId,
    )
    return {
      json: { execution_id: executionId, status: outcome, event_id: eventId },
      blocks: [
        {
          kind: 'record',
          entries: [
            ['execution', executionId],
            ['now', outcome],
            ['event', eventId],
          ],
        },
      ],
    }
  },
}
