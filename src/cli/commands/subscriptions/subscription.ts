// The lifecycle of subscriptions from the command line: register them and move them from state to state.
import { userInfo } from 'node:os'
import { parseWireTime, type WireTime, wireTimeFromMillis } from '../../../domain/events/wireTime.js'
import { parseSubscriptionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { SUBSCRIPTION_TRANSITIONS, type SubscriptionAction } from '../../../domain/subscriptions/subscription.js'
import { systemClock } from '../../../runtime/clock.js'
import {
  type Changed,
  changeSubscription,
  findSubscription,
  registerSubscription,
  type SubscriptionRow,
} from '../../../services/subscriptions/lifecycle.js'
import { visibleObstacles } from '../../../services/subscriptions/obstacles.js'
import { rebuildSubscriptions } from '../../../services/subscriptions/rebuild.js'
import { verboseStatusOf } from '../../../services/subscriptions/views.js'
import type { CommandSpec, Input, OptionSpec } from '../../command.js'
import { parseDuration } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { textOption } from '../../options.js'
import type { Output, Tone } from '../../output.js'
import { toned } from '../../output.js'
import { type ChangeShown, changeRemotely, registerRemotely } from '../../remote/subscriptions.js'
import { thereOrHere } from '../../remote.js'
import { type Writing, withCore } from '../../writing.js'

const noteOptions: readonly OptionSpec[] = [
  { flags: '--reason <text>', help: 'kept in the log and shown with the state', isWhy: true },
  { flags: '--actor <name>', help: 'who did it; default the user of this process' },
]

export const subscriptionRegister: CommandSpec = {
  path: ['subscription', 'register'],
  changes: true,
  summary: 'Register a subscription of the catalog',
  description:
    'Gives the newest version of a catalog entry of kind subscription an id. A path has one live id: registering again answers the same one and makes it use a newer version of the entry, if there is one.',
  args: [{ name: 'path', help: 'catalog path', completes: 'path' }],
  options: noteOptions,
  examples: [
    ['subscription register demo/orders', 'prints its id and state'],
    ['subscription register demo/orders --json | jq -r .subscription_id', 'just the id'],
  ],
  run: async (context, input) => {
    const path = input.args['path']!
    const note = noteOf(input)
    const registered = await thereOrHere(
      context,
      (remote) => registerRemotely(remote, path, note),
      () => withCore(context, async (writing) => shownChange(await registerSubscription(writing, path, note))),
    )
    return answer(registered, 'registered')
  },
}

interface Words {
  summary: string
  description: string
  done: string
  examples: CommandSpec['examples']
}

const ID = '320816801799737344'

function actionCommand(action: SubscriptionAction, words: Words, options: readonly OptionSpec[] = []): CommandSpec {
  const { from } = SUBSCRIPTION_TRANSITIONS[action]
  return {
    path: ['subscription', action],
    changes: true,
    summary: words.summary,
    description: `${words.description} Allowed from ${from.join(', ')}; anything else is refused (exit code 4). Repeating it changes nothing.`,
    args: [{ name: 'id', help: 'subscription id', completes: 'subscription' }],
    options: [...options, ...noteOptions],
    examples: words.examples,
    run: async (context, input) => {
      const id = parseSubscriptionId(input.args['id'], 'id')
      const request = { id, action, until: readEnd(input, systemClock.now()), ...noteOf(input) }
      const { obstacles, ...change } = await thereOrHere(
        context,
        (remote) => changeRemotely(remote, request),
        () =>
          withCore(context, async (writing) => {
            const changed = await changeSubscription(writing, request)
            return { ...shownChange(changed), obstacles: await obstaclesTold(writing, changed.row) }
          }),
      )
      const output = answer(change, change.status['driver'] === 'external' ? `${words.done}; ${EXTERNAL}` : words.done)
      return {
        ...output,
        json: { ...(output.json as JsonObject), obstacles },
        notes: [...(output.notes ?? []), ...obstacles.map((text) => `it does not deliver yet: ${text}`)],
      }
    },
  }
}

export const subscriptionActivate = actionCommand('activate', {
  summary: 'Start deliveries',
  description: 'A daemon begins to start executions from the messages of the source.',
  done: 'active',
  examples: [[`subscription activate ${ID}`, 'from REGISTERED, PAUSED or DEACTIVATED']],
})

export const subscriptionPause = actionCommand(
  'pause',
  {
    summary: 'Stop deliveries until further notice',
    description:
      'When the command returns, no execution is started any more; what was being started is finished. The pause outlives restarts and ends by resume, or by its own --until, which a second pause may move.',
    done: 'paused: nothing is delivered any more',
    examples: [
      [`subscription pause ${ID} --reason "bad deploy"`, 'until somebody resumes it'],
      [`subscription pause ${ID} --until 30m`, 'resumes by itself'],
      [`subscription pause ${ID} --until 2026-12-01T06:00:00Z`, 'or at a certain time'],
    ],
  },
  [{ flags: '--until <time>', help: 'a time, or a span from now such as 30m' }],
)

export const subscriptionResume = actionCommand('resume', {
  summary: 'End a pause',
  description: 'Deliveries go on where they stopped.',
  done: 'active again',
  examples: [[`subscription resume ${ID}`, 'after a pause']],
})

export const subscriptionDrain = actionCommand(
  'drain',
  {
    summary: 'Finish what is in flight, then deactivate',
    description:
      'No new messages are taken; when everything taken is settled, a daemon deactivates the subscription. One that is delivered by a runtime of its own is deactivated by that runtime, or when the --timeout is over. Nothing but deactivate leaves DRAINING.',
    done: 'draining; it is deactivated when nothing is in flight',
    examples: [
      [`subscription drain ${ID}`, 'the orderly end'],
      [`subscription drain ${ID} --timeout 10m`, 'the end after ten minutes at the latest'],
    ],
  },
  [{ flags: '--timeout <span>', help: 'deactivate it after so long, whatever is in flight' }],
)

export const subscriptionDeactivate = actionCommand('deactivate', {
  summary: 'End a subscription',
  description: 'Deliveries stop at once, and the path and listener become free for another registration.',
  done: 'deactivated',
  examples: [[`subscription deactivate ${ID} --reason "replaced"`, 'from any state']],
})

export const subscriptionRebuild: CommandSpec = {
  path: ['subscription', 'rebuild'],
  changes: true,
  doing: 'reading the log',
  localBecause: 'it corrects rows from the log, with the rights of the database',
  summary: 'Rebuild the table of subscriptions from the log',
  description:
    'Reads the lifecycle events of every shard and corrects rows that are missing or say something else, one path at a time, and names the ids that a newer one of their path has superseded. The log is the truth; running this at any time is safe.',
  examples: [['subscription rebuild', 'after a restore, or when in doubt']],
  run: (context) =>
    withCore(context, async (writing) => {
      const { checked, corrected, superseded, failed } = await rebuildSubscriptions(writing)
      return {
        json: { checked, corrected, superseded, failed },
        blocks: [
          {
            kind: 'text',
            text: `${checked} subscription(s) in the log, ${corrected.length} row(s) corrected, ${superseded.length} superseded`,
          },
        ],
        notes: [
          ...superseded.map(
            (id) =>
              `subscription ${id} is superseded: its path has a newer id, and it delivers nothing; noetl-cp subscription deactivate ${id}`,
          ),
          ...failed.map(({ path, reason }) => `${path} could not be rebuilt: ${reason}`),
        ],
        exitCode: failed.length > 0 ? EXIT.workRemains : EXIT.ok,
      }
    }),
}

export function toneOfState(state: string): Tone {
  if (state === 'ACTIVE') return 'good'
  return state === 'DEACTIVATED' ? 'dim' : 'warn'
}

const VERDICT_MS = 1_000
const LOOK_MS = 100

/** What can be seen from here, and what a daemon sees that alone knows the secrets of listeners. */
async function obstaclesTold(writing: Writing, row: SubscriptionRow): Promise<string[]> {
  if (row.state !== 'ACTIVE' || row.external) return []
  const { bus } = writing.deps
  await bus?.untilConnected(VERDICT_MS).catch(() => undefined) // without NATS its streams cannot be looked at
  const seen = (await visibleObstacles({ ...writing, bus }, row)).map(({ text }) => text)
  if (seen.length > 0 || row.mode !== 'push') return seen
  for (let waited = 0; waited < VERDICT_MS; waited += LOOK_MS) {
    const { trouble } = await findSubscription(writing, row.subscription_id)
    if (trouble !== null) return [trouble]
    await writing.clock.sleep(LOOK_MS)
  }
  return []
}

function shownChange({ row, changed }: Changed): ChangeShown {
  return { status: verboseStatusOf(row), changed }
}

function answer({ status, changed }: ChangeShown, done: string): Output {
  const state = String(status['state'])
  return {
    json: { ...status, changed },
    blocks: [
      {
        kind: 'table',
        columns: ['subscription', 'state', 'path', 'entry version', 'reason', 'until'],
        isProse: true,
        rows: [
          [
            status['subscription_id'] as string,
            toned(state, toneOfState(state)),
            status['path'] as string,
            status['catalog_version'] as number | null,
            status['reason'] as string | null,
            status['paused_until'] as string | null,
          ],
        ],
      },
    ],
    notes: [changed ? done : `nothing changed: it was ${state} already`],
  }
}

function noteOf(input: Input): { reason?: string; actor: string } {
  const reason = textOption(input, 'reason')
  return { ...(reason === undefined ? {} : { reason }), actor: textOption(input, 'actor') ?? userName() }
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}

const EXTERNAL = 'it is delivered by a runtime of its own, not by a daemon of this installation'

function readEnd(input: Input, nowMs: number): WireTime | undefined {
  const timeout = textOption(input, 'timeout')
  if (timeout !== undefined) return wireTimeFromMillis(nowMs + parseDuration(timeout, '--timeout'))
  const text = textOption(input, 'until')
  if (text === undefined) return undefined
  if (/^[\d.]+(ms|s|m|h|d|w)$/.test(text.trim())) return wireTimeFromMillis(nowMs + parseDuration(text, '--until'))
  return parseWireTime(text.trim(), '--until')
}
