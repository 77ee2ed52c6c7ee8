// Envelopes that the projector could not store: look at them, try them again, drop them.

import { buildCore } from '../../../daemon/core.js'
import { payloadFetch } from '../../../daemon/payloadFetch.js'
import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseInt64 } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import {
  dropQuarantined,
  everyQuarantinedId,
  pageOfQuarantine,
  type QuarantinedEnvelope,
  type Retried,
  retryQuarantined,
} from '../../../services/projector/quarantine.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { integerOption, isSet, requireYes, textOption } from '../../options.js'
import { toned } from '../../output.js'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 1_000

const idsArgument = { name: 'ids', help: 'ids from the list', optional: true, variadic: true }

export const quarantineList: CommandSpec = {
  path: ['projector', 'quarantine', 'list'],
  localBecause: 'what was set aside lies in the database, and no route gives it out',
  summary: 'Envelopes that could not be stored, with their reasons',
  options: [
    { flags: '--limit <n>', help: `at most so many, up to ${LIMIT_MAX}`, default: String(LIMIT_DEFAULT) },
    { flags: '--after <id>', help: 'only those after this id' },
    { flags: '--envelopes', help: 'with --json: the envelopes themselves, too' },
  ],
  examples: [
    ['projector quarantine list', 'the first fifty'],
    ['projector quarantine list --json --envelopes > aside.json', 'everything that is known about them'],
  ],
  run: async (context, input) => {
    const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? LIMIT_DEFAULT
    const after = parseInt64(textOption(input, 'after') ?? '0', '--after')
    const { databases } = await context.deps()
    const found = await pageOfQuarantine(databases, after, limit + 1)
    const page = found.slice(0, limit)
    return {
      json: { quarantined: page.map((row) => toJson(row, isSet(input, 'envelopes'))), has_more: found.length > limit },
      blocks: [
        {
          kind: 'table',
          columns: ['id', 'execution', 'event', 'from', 'tries', 'bytes', 'since', 'reason'],
          spare: ['bytes', 'tries', 'from', 'since', 'event'],
          rows: page.map((row) => [
            row.quarantine_id,
            row.execution_id,
            row.event_id,
            row.source,
            row.attempts,
            row.envelope.length,
            wireTimeFromPostgres(row.created_at, 'created_at').slice(0, 19),
            toned(row.reason, 'warn'),
          ]),
          empty: 'nothing is set aside',
        },
      ],
      notes: found.length > limit ? [`there are more; go on with --after ${page[limit - 1]!.quarantine_id}`] : [],
    }
  },
}

export const quarantineRetry: CommandSpec = {
  path: ['projector', 'quarantine', 'retry'],
  changes: true,
  doing: 'trying envelopes again',
  localBecause: 'what was set aside lies in the database, and no route works on it',
  summary: 'Try to store set-aside envelopes again',
  description:
    'What can be stored now, or is there already, leaves the quarantine. What fails again stays with its newest reason (exit code 75).',
  args: [idsArgument],
  options: [{ flags: '--all', help: 'every one of them' }],
  examples: [
    ['projector quarantine retry 17', 'one of them'],
    ['projector quarantine retry --all', 'after the cause was removed'],
  ],
  run: async (context, input) => {
    const ids = await chosen(context, input)
    const deps = await context.deps()
    const { appender } = buildCore(deps, 'oneShot')
    const results: Retried[] = []
    for (const id of ids) {
      const projector = {
        databases: deps.databases,
        clock: deps.clock,
        appender,
        fetchPayload: payloadFetch(deps.config),
      }
      results.push(await retryQuarantined(projector, id))
    }
    const failed = results.filter((result) => result.outcome === 'failed').length
    return {
      json: {
        results: results.map(({ id, outcome, reason }) => ({
          quarantine_id: id,
          outcome,
          reason: reason ?? null,
        })),
      },
      blocks: [
        {
          kind: 'table',
          columns: ['id', 'outcome', 'reason'],
          isProse: true,
          rows: results.map(({ id, outcome, reason }) => [
            id,
            toned(outcome, outcome === 'failed' ? 'bad' : 'good'),
            reason ?? '',
          ]),
          empty: 'nothing is set aside',
        },
      ],
      exitCode: failed > 0 ? EXIT.workRemains : EXIT.ok,
    }
  },
}

export const quarantineDrop: CommandSpec = {
  path: ['projector', 'quarantine', 'drop'],
  changes: true,
  localBecause: 'what cannot be taken back is done where the database is',
  summary: 'Forget set-aside envelopes',
  description: 'The envelopes are gone for good. "projector quarantine list --json --envelopes" saves them first.',
  args: [idsArgument],
  options: [
    { flags: '--all', help: 'every one of them' },
    { flags: '--yes', help: 'really' },
  ],
  examples: [['projector quarantine drop 17 18 --yes', 'two of them']],
  run: async (context, input) => {
    requireYes(input, 'this forgets what could not be stored')
    const ids = await chosen(context, input)
    const { databases } = await context.deps()
    const dropped = await dropQuarantined(databases, ids)
    if (dropped === 0 && ids.length > 0)
      throw new CpError('not_found', `there is no quarantined envelope ${ids.join(', ')}`)
    return { json: { dropped }, blocks: [{ kind: 'text', text: `${dropped} dropped` }] }
  },
}

async function chosen(context: CommandContext, input: Input): Promise<string[]> {
  const all = isSet(input, 'all')
  if (all !== (input.rest.length === 0)) throw new CpError('invalid_input', 'name ids, or say --all')
  if (!all) return input.rest.map((id) => parseInt64(id, 'id'))
  return everyQuarantinedId((await context.deps()).databases)
}

function toJson(row: QuarantinedEnvelope, withEnvelope: boolean): JsonObject {
  return {
    quarantine_id: row.quarantine_id,
    event_id: row.event_id,
    execution_id: row.execution_id,
    source: row.source,
    attempts: row.attempts,
    bytes: row.envelope.length,
    created_at: wireTimeFromPostgres(row.created_at, 'created_at'),
    updated_at: wireTimeFromPostgres(row.updated_at, 'updated_at'),
    reason: row.reason,
    // Base64: not everything received is text.
    ...(withEnvelope ? { envelope_base64: row.envelope.toString('base64') } : {}),
  }
}
