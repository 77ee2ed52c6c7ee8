import { parseJson } from '../../../domain/json/parse.js'
import type { JsonValue } from '../../../domain/json/value.js'
import { systemClock } from '../../../runtime/clock.js'
import { type ActionRow, activityOf } from '../../../services/access/activity.js'
import type { CommandSpec } from '../../command.js'
import { parseInstant } from '../../duration.js'
import { integerOption, textOption } from '../../options.js'
import { toned } from '../../output.js'
import { given, thereOrHere } from '../../remote.js'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 1_000

export const activity: CommandSpec = {
  path: ['activity'],
  summary: 'What people did through console, API and commands',
  description:
    'Newest first: who did what, when, why, and how it ended. An outcome that is still "intent" says that nobody knows: the daemon ended while it was at it.',
  options: [
    { flags: '--actor <name>', help: 'of one actor' },
    { flags: '--action <name>', help: 'one kind of act, such as outbox.redrive, or its first words' },
    { flags: '--target <id>', help: 'about one execution, row or subscription' },
    { flags: '--since <time>', help: 'not before: a time, a date, or a span before now such as 2h' },
    { flags: '--limit <n>', help: `at most so many, up to ${LIMIT_MAX}`, default: String(LIMIT_DEFAULT) },
  ],
  examples: [
    ['activity', 'the last acts'],
    ['activity --target 3801234567890123', 'who did something to this execution'],
  ],
  // Secrets were taken out before it was written; an actor named after its token only looks like one.
  showsAll: true,
  run: async (context, input) => {
    const since = textOption(input, 'since')
    const asked = {
      actor: textOption(input, 'actor') ?? null,
      action: textOption(input, 'action') ?? null,
      target: textOption(input, 'target') ?? null,
      since: since === undefined ? null : parseInstant(since, '--since', systemClock.now()),
      limit: integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? LIMIT_DEFAULT,
    }
    const actions = await thereOrHere(
      context,
      async (remote) => ((await remote.call('getActivity', { query: given(asked) })).activity ?? []) as ShownAct[],
      async () => {
        const { databases } = await context.deps()
        return (await activityOf({ databases }, { ...asked, beforeId: null })).actions.map(shownAct)
      },
    )
    return {
      json: actions.map((act) => ({ ...act })),
      blocks: [
        {
          kind: 'table',
          columns: ['at', 'actor', 'via', 'action', 'target', 'outcome', 'reason or error'],
          rows: actions.map((row) => [
            row.at,
            row.actor,
            row.via,
            row.action,
            row.target_id ?? '',
            toned(row.outcome, row.outcome === 'done' ? 'good' : 'warn'),
            row.error ?? row.reason ?? '',
          ]),
          empty: 'nobody did anything yet',
        },
      ],
    }
  },
}

interface ShownAct extends Omit<ActionRow, 'request'> {
  request: JsonValue
}

function shownAct({ request, ...act }: ActionRow): ShownAct {
  return { ...act, request: request === null ? null : parseJson(request) }
}
