// Looking at live states: what is known of an execution, and what it waits for.
import { type ExecutionId, parseExecutionId } from '../../../domain/ids/ids.js'
import { parseJson } from '../../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { assertNoSubscription } from '../../../services/executions/lookups.js'
import { type StuckFinding, span } from '../../../services/state/stuckFinding.js'
import { whyStuck } from '../../../services/state/whyStuck.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { stateWithTextIds } from '../../idsAsText.js'
import { type Cell, type Tone, toned } from '../../output.js'
import { numberOf, type RemoteClient, thereOrHere } from '../../remote.js'
import { withStates } from '../../states.js'

export const stateShow: CommandSpec = {
  path: ['state', 'show'],
  doing: 'building the state',
  summary: 'The live state of an execution: its steps and what they are doing',
  description:
    'Builds the state from the newest usable snapshot and the events after it, as the daemon does. Every event that is visible now is in it; "version" says how many there are.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  examples: [
    ['state show 320816801799737344', 'status and steps'],
    ["state show 320816801799737344 --json | jq '.steps'", 'the whole document, for programs'],
  ],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const { document, version } = await thereOrHere(
      context,
      (remote) => stateRemotely(remote, executionId),
      () => stateHere(context, executionId),
    )
    const steps = isJsonObject(document['steps']) ? document['steps'] : {}
    const entries: [string, Cell][] = [['version', version]]
    for (const key of ['path', 'catalog_id', 'parent_execution_id', 'started_at', 'completed_at']) {
      if (document[key] !== undefined) entries.push([key.replace('_', ' '), text(document[key])])
    }
    if (isJsonObject(document['ctx'])) entries.push(['ctx', Object.keys(document['ctx']).join(', ')])
    return {
      json: stateWithTextIds(document),
      blocks: [
        {
          kind: 'record',
          title: `Execution ${executionId}`,
          entries: [['state', toned(text(document['state']), toneOf(text(document['state'])))], ...entries],
        },
        {
          kind: 'table',
          title: 'Steps',
          columns: ['step', 'state', 'attempt', 'items', 'entered', 'completed', 'error'],
          rows: Object.values(steps).map((step) => stepRow(step as JsonObject)),
          empty: 'none was entered yet',
        },
      ],
    }
  },
}

export const stateWhyStuck: CommandSpec = {
  path: ['state', 'why-stuck'],
  doing: 'looking for reasons',
  summary: 'Names what an execution waits for, and what to do about it',
  description:
    'Looks at the live state, the outbox, worker heartbeats, lanes, subscriptions and open transactions. The first line is the most likely reason. Changes nothing.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  examples: [
    ['state why-stuck 320816801799737344', 'the reasons, most likely first'],
    ["state why-stuck 320816801799737344 --json | jq -r '.findings[0].reason'", 'just the first one'],
  ],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const { status, version, findings } = await thereOrHere(
      context,
      (remote) => whyStuckRemotely(remote, executionId),
      async () => {
        const found = await withStates(context, ({ state, deps }) =>
          whyStuck({ databases: deps.databases, state }, executionId),
        )
        return { ...found, status: found.row.status }
      },
    )
    return {
      json: {
        execution_id: executionId,
        status,
        version,
        findings: findings.map(({ reason, what, seconds, next, target, actions }) => ({
          reason,
          what,
          seconds: seconds === undefined ? null : Math.round(seconds),
          next,
          target: { ...target },
          actions,
        })),
      },
      blocks: [
        {
          kind: 'table',
          title: `Execution ${executionId} is ${status}, at version ${version}`,
          columns: ['reason', 'what', 'for', 'next'],
          isProse: true,
          rows: findings.map(({ reason, what, seconds, next }) => [
            toned(reason, reason === 'ended' || reason === 'running command' ? 'dim' : 'warn'),
            what,
            seconds === undefined ? null : span(seconds),
            next,
          ]),
        },
      ],
    }
  },
}

interface StateShown {
  document: JsonObject
  version: number
}

async function stateHere(context: CommandContext, executionId: ExecutionId): Promise<StateShown> {
  const { view, version } = await withStates(context, async ({ state, deps }) => {
    await assertNoSubscription(deps, executionId)
    return state.ask(executionId, { view: true })
  })
  return { document: parseJson(Buffer.from(view!).toString('utf8')) as JsonObject, version }
}

async function stateRemotely(remote: RemoteClient, executionId: string): Promise<StateShown> {
  const params = { execution_id: executionId }
  const { answer, headers } = await remote.ask('getExecutionsByExecutionIdState', { params })
  return { document: answer as JsonObject, version: Number(headers.get('x-noetl-state-version')) }
}

interface StuckShown {
  status: string
  version: number
  findings: readonly StuckFinding[]
}

async function whyStuckRemotely(remote: RemoteClient, executionId: string): Promise<StuckShown> {
  const params = { execution_id: executionId }
  const answer = await remote.call('getExecutionsByExecutionIdWhyStuck', { params })
  const findings = (answer.findings ?? []).map((one) => ({
    ...one,
    seconds: one.seconds === null ? undefined : numberOf(one.seconds),
  }))
  return { status: answer.status!, version: answer.version!, findings: findings as unknown as StuckFinding[] }
}

function stepRow(step: JsonObject) {
  const state = text(step['state'])
  const expected = step['iterations_expected']
  const done = step['iteration_command_ids']
  return [
    text(step['name']),
    toned(step['pending_callback'] === true ? `${state}, parked` : state, toneOf(state)),
    text(step['attempt']),
    // Those of playbooks that run here are counted by their decisions, not one by one.
    expected !== undefined && Array.isArray(done) ? `${done.length}/${text(expected)}` : text(expected),
    text(step['entered_at']),
    text(step['completed_at']),
    text(step['error']),
  ]
}

function text(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : writeJson(value)
}

function toneOf(state: string): Tone {
  if (state === 'completed') return 'good'
  if (state === 'failed') return 'bad'
  return state === 'skipped' || state === 'cancelled' ? 'dim' : 'warn'
}
