// Fills a running instance with something to look at, and says how to look at it.
import { CpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { endDemo, findForeign, type Performed, performDemo } from '../../demo/perform.js'
import { PLAYS } from '../../demo/plays.js'
import { howToCall } from '../../howToCall.js'
import { isSet } from '../../options.js'
import { type Block, type Output, type Tone, toned } from '../../output.js'
import { tellWaiting } from '../../progress.js'

const TONES: Readonly<Record<string, Tone>> = { COMPLETED: 'good', FAILED: 'bad', RUNNING: 'warn', CANCELLED: 'dim' }

export const demo: CommandSpec = {
  path: ['demo'],
  summary: 'Fill a running instance with a few executions to look at',
  description:
    'Registers playbooks under demo/ and runs seven of them: completed, with a loop, with playbooks inside, mended by an arc, failed, cancelled, and one that is stuck. They need neither code nor a network. Takes about two seconds and prints what to try next. Again makes seven more. An instance with executions of its own is left alone unless --yes is given. --end cancels what is still running and deactivates the subscription; the history stays, as in every log.',
  options: [
    { flags: '--yes', help: 'also on an instance that has executions of its own' },
    { flags: '--end', help: 'end what the demo left running instead' },
  ],
  examples: [
    ['demo', 'make something to look at'],
    ['demo --end', 'end the execution that is stuck'],
  ],
  run: async (context, input) => {
    const { httpUrl, token } = await context.instance()
    const api = createApiClient(httpUrl, token)
    if (isSet(input, 'end')) return endedOutput(await endDemo(api))
    const foreign = isSet(input, 'yes') ? undefined : await findForeign(api)
    if (foreign !== undefined) {
      throw new CpError(
        'refused',
        `this instance has executions of its own, such as ${String(foreign['execution_id'])} (${String(foreign['path'])}); add --yes to put the demo beside them`,
      )
    }
    let ended = 0
    const endWaiting = tellWaiting(context, () => `${ended} of ${PLAYS.length} playbooks are as announced`)
    try {
      const performed = await performDemo(api, systemClock, () => {
        ended += 1
      })
      return performedOutput(context, performed)
    } finally {
      endWaiting()
    }
  },
}

function performedOutput(context: CommandContext, { executions, subscriptionId }: Performed): Output {
  const next = nextCommands(context, executions, subscriptionId)
  return {
    json: {
      executions: executions.map(({ id, play, status }) => ({
        execution_id: id,
        path: play.path,
        status,
        about: play.about,
      })),
      subscription_id: subscriptionId,
      next: next.map(([command]) => command),
    },
    blocks: [
      {
        kind: 'table',
        columns: ['execution', 'status', 'path', 'what'],
        isProse: true,
        rows: executions.map(({ id, play, status }) => [
          id,
          toned(status, TONES[status] ?? 'dim'),
          play.path,
          play.about,
        ]),
      },
      tryNext(next),
    ],
  }
}

type Next = readonly (readonly [command: string, what: string])[]

function nextCommands(context: CommandContext, executions: Performed['executions'], subscriptionId: string): Next {
  const idOf = (ends: string, path = '') =>
    executions.find(({ play }) => play.ends === ends && play.path.includes(path))!.id
  const loop = idOf('COMPLETED', 'thumbnails')
  const next: Next = [
    ['execution list', 'all of them'],
    [`replay ${loop}`, 'a run with a loop, folded from its events'],
    [`replay diff ${loop} --from version:10 --to version:20`, 'what ten events changed'],
    [`replay step ${loop}`, 'event by event, with the arrow keys'],
    [`state why-stuck ${idOf('RUNNING')}`, 'what the stuck one waits for'],
    [`execution watch ${idOf('COMPLETED', 'weekly')}`, 'one that started others, step by step'],
    [`execution show ${idOf('FAILED')}`, 'the failed one and its last events'],
    ['outbox status', 'what went to NATS'],
    [`subscription show ${subscriptionId}`, 'a subscription, registered and not active'],
    ['demo --end', 'end what is still running'],
  ]
  return next.map(([command, what]) => [howToCall(context, command), what])
}

function tryNext(next: Next): Block {
  const lines = next.flatMap(([command, what]) => [`  # ${what}`, `  ${command}`])
  return { kind: 'lines', lines: ['Try next:', ...lines] }
}

function endedOutput({ executions, subscriptions }: { executions: string[]; subscriptions: string[] }): Output {
  return {
    json: { cancelled: executions, deactivated: subscriptions },
    blocks: [
      {
        kind: 'text',
        text: `${executions.length} execution(s) cancelled, ${subscriptions.length} subscription(s) deactivated`,
      },
    ],
    notes: ['the history stays: "noetl-cp retention" forgets what ended long ago'],
  }
}
