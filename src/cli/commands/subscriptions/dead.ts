// Messages of subscriptions that were given up: look at them, start them again.

import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseInt64, parseSubscriptionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import { dropMessages, pageOfDead, type Redriven, redriveDead } from '../../../services/subscriptions/deadLetters.js'
import type { CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { integerOption, isSet, requireYes, textOption } from '../../options.js'
import { toned } from '../../output.js'
import { type DeadPage, deadRemotely, redriveRemotely } from '../../remote/subscriptions.js'
import { thereOrHere } from '../../remote.js'
import { withCore } from '../../writing.js'

const LIMIT_MAX = 1_000

export const subscriptionDeadList: CommandSpec = {
  path: ['subscription', 'dead', 'list'],
  summary: 'Messages that were given up, with their reasons',
  options: [
    { flags: '--subscription <id>', help: 'only of this one', completes: 'subscription' },
    { flags: '--limit <n>', help: `at most so many, up to ${LIMIT_MAX}`, default: '50' },
    { flags: '--after <id>', help: 'only those after this id' },
  ],
  examples: [
    ['subscription dead list', 'the first fifty'],
    ['subscription dead list --subscription 320816801799737344 --json', 'of one subscription, for programs'],
  ],
  run: async (context, input) => {
    const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 50
    const of = textOption(input, 'subscription')
    const subscription = of === undefined ? undefined : parseSubscriptionId(of, '--subscription')
    const after = parseInt64(textOption(input, 'after') ?? '0', '--after')
    const { page, hasMore } = await thereOrHere<DeadPage>(
      context,
      (remote) => deadRemotely(remote, subscription, after, limit),
      async () => {
        const found = await pageOfDead(await context.deps(), subscription, after, limit + 1)
        return { page: found.slice(0, limit), hasMore: found.length > limit }
      },
    )
    return {
      json: {
        dead_letters: page.map((row) => ({
          ...row,
          created_at: wireTimeFromPostgres(row.created_at, 'created_at'),
        })),
        has_more: hasMore,
      },
      blocks: [
        {
          kind: 'table',
          columns: ['id', 'subscription', 'message', 'subject', 'bytes', 'attempts', 'since', 'reason'],
          spare: ['bytes', 'attempts', 'since'],
          rows: page.map((row) => [
            row.dead_letter_id,
            row.subscription_id,
            // Without the times that only tell it from another of the same place.
            row.identity.replace(/@\d+\.\d+$/, ''),
            row.subject,
            row.bytes,
            row.attempts,
            wireTimeFromPostgres(row.created_at, 'created_at').slice(0, 19),
            toned(row.reason, 'warn'),
          ]),
          empty: 'no message was given up',
        },
      ],
      notes: hasMore ? [`there are more; go on with --after ${page[limit - 1]!.dead_letter_id}`] : [],
    }
  },
}

export const subscriptionDeadRedrive: CommandSpec = {
  path: ['subscription', 'dead', 'redrive'],
  changes: true,
  doing: 'starting messages again',
  summary: 'Start executions from given-up messages',
  description:
    'Each message starts one execution, as if it had just come, and leaves the list; one that was started meanwhile just leaves. What fails again stays (exit code 75). The subscription must be ACTIVE.',
  args: [{ name: 'ids', help: 'ids from the list', optional: true, variadic: true }],
  options: [
    { flags: '--subscription <id>', help: 'with --all: only of this one', completes: 'subscription' },
    { flags: '--all', help: 'every one of them' },
    { flags: '--reason <text>', help: 'why, for the record of acts', isWhy: true },
  ],
  examples: [
    ['subscription dead redrive 17', 'one of them'],
    ['subscription dead redrive --all --subscription 320816801799737344', 'after the cause was removed'],
  ],
  run: async (context, input) => {
    if (isSet(input, 'all') !== (input.rest.length === 0)) throw new CpError('invalid_input', 'name ids, or say --all')
    const of = textOption(input, 'subscription')
    const subscription = of === undefined ? undefined : parseSubscriptionId(of, '--subscription')
    const named = isSet(input, 'all') ? undefined : input.rest.map((id) => parseInt64(id, 'id'))
    const results = await thereOrHere(
      context,
      (remote) =>
        redriveAll(
          named,
          async (after) => (await deadRemotely(remote, subscription, after, LIMIT_MAX)).page,
          (ids) => redriveRemotely(remote, ids, textOption(input, 'reason')),
        ),
      () =>
        withCore(context, (writing) =>
          redriveAll(
            named,
            (after) => pageOfDead(writing, subscription, after, LIMIT_MAX),
            async (ids) => {
              const done: Redriven[] = []
              for (const id of ids) done.push(await redriveDead(writing, id))
              return done
            },
          ),
        ),
    )
    const failed = results.filter((result) => result.outcome === 'failed').length
    return {
      json: {
        results: results.map(({ id, outcome, executionId, reason }) => ({
          dead_letter_id: id,
          outcome,
          execution_id: executionId ?? null,
          reason: reason ?? null,
        })),
      },
      blocks: [
        {
          kind: 'table',
          columns: ['id', 'outcome', 'execution', 'reason'],
          isProse: true,
          rows: results.map(({ id, outcome, executionId, reason }) => [
            id,
            toned(outcome, outcome === 'failed' ? 'bad' : 'good'),
            executionId,
            reason,
          ]),
          empty: 'no message was given up',
        },
      ],
      exitCode: failed > 0 ? EXIT.workRemains : EXIT.ok,
    }
  },
}

/** Those that were named, or every one, page by page. */
async function redriveAll(
  named: readonly string[] | undefined,
  pageAfter: (after: string) => Promise<readonly { dead_letter_id: string }[]>,
  redrive: (ids: readonly string[]) => Promise<Redriven[]>,
): Promise<Redriven[]> {
  if (named !== undefined) return redrive(named)
  const results: Redriven[] = []
  for (let after = '0'; ; ) {
    const ids = (await pageAfter(after)).map((row) => row.dead_letter_id)
    if (ids.length === 0) return results
    results.push(...(await redrive(ids)))
    after = ids[ids.length - 1]!
  }
}

export const subscriptionDeadDrop: CommandSpec = {
  path: ['subscription', 'dead', 'drop'],
  changes: true,
  doing: 'dropping messages',
  localBecause: 'what cannot be taken back is done where the database is',
  summary: 'Forget given-up messages for good',
  description:
    'They are removed from the list and start nothing; what the stream still holds is not delivered again. Exit code 3 when one of the named ids is not there.',
  args: [{ name: 'ids', help: 'ids from the list', optional: true, variadic: true }],
  options: [
    { flags: '--subscription <id>', help: 'with --all: only of this one', completes: 'subscription' },
    { flags: '--all', help: 'every one of them' },
    { flags: '--yes', help: 'really' },
  ],
  examples: [
    ['subscription dead drop 17 --yes', 'one of them'],
    ['subscription dead drop --all --subscription 320816801799737344 --yes', 'all of one subscription'],
  ],
  run: async (context, input) => {
    if (isSet(input, 'all') !== (input.rest.length === 0)) throw new CpError('invalid_input', 'name ids, or say --all')
    requireYes(input, 'these messages will never be started')
    const deps = await context.deps()
    const dropped: string[] = []
    if (!isSet(input, 'all')) {
      const ids = input.rest.map((id) => parseInt64(id, 'id'))
      dropped.push(...(await dropMessages(deps, ids)))
      const missing = ids.filter((id) => !dropped.includes(id))
      if (missing.length > 0) {
        throw new CpError(
          'not_found',
          `${dropped.length} message(s) dropped; there is no given-up message ${missing.join(', ')}, or it is being started; see "noetl-cp subscription dead list"`,
        )
      }
    } else {
      const of = textOption(input, 'subscription')
      const subscription = of === undefined ? undefined : parseSubscriptionId(of, '--subscription')
      for (let after = '0'; ; ) {
        const ids = (await pageOfDead(deps, subscription, after, LIMIT_MAX)).map((row) => row.dead_letter_id)
        if (ids.length === 0) break
        dropped.push(...(await dropMessages(deps, ids)))
        after = ids[ids.length - 1]!
      }
    }
    return {
      json: { dropped: dropped.length },
      blocks: [{ kind: 'text', text: `${dropped.length} message(s) dropped` }],
    }
  },
}
