// Reading executions: the list and one of them, from the read model.

import type { Deps } from '../../../daemon/deps.js'
import { type WireTime, wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { formatCursor, parseCursor, pathPattern } from '../../../domain/executions/executionPage.js'
import { textFilter } from '../../../domain/executions/listFilter.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { CpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import { searchExecutions } from '../../../services/executions/executionPages.js'
import { executionDetail, latestEvents } from '../../../services/executions/executionQueries.js'
import type { CommandSpec } from '../../command.js'
import { formatAge } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { NOT_ANSWERED } from '../../notAnswered.js'
import { integerOption, textOption } from '../../options.js'
import { type Cell, type Tone, type ToneCell, toned } from '../../output.js'
import {
  type DetailShown,
  type ExecutionList,
  type ListAsked,
  listRemotely,
  type ShownExecution,
  showRemotely,
} from '../../remote/executions.js'
import { thereOrHere } from '../../remote.js'
import { FILTER_OPTIONS, readFilter } from './filterOptions.js'

const LIMIT_MAX = 1_000
const EVENTS_DEFAULT = 20
const EVENTS_MAX = 2_000

export const executionList: CommandSpec = {
  path: ['execution', 'list'],
  doing: 'reading executions',
  summary: 'Executions, newest first',
  description:
    'Lists executions from the read model, newest first. The next page starts at the cursor that a page ends with. A shard that does not answer is named, the others are shown, and the exit code is 69.',
  options: [
    ...FILTER_OPTIONS,
    { flags: '--oldest-first', help: 'by when they began, the other way round' },
    { flags: '--limit <n>', help: `page size, up to ${LIMIT_MAX}`, default: '50' },
    { flags: '--cursor <cursor>', help: 'where the page before ended' },
  ],
  examples: [
    ['execution list --status FAILED --since 24h', 'what failed since yesterday'],
    ['execution list --status RUNNING --oldest-first', 'what has been running for longest'],
    ["execution list --path 'demo/*' --limit 10", 'the newest ten below a path'],
    ['execution list --label team=payments --label env=prod', 'with both labels'],
    ["execution list --json | jq -r '.executions[].execution_id'", 'just the ids'],
  ],
  run: async (context, input) => {
    const nowMs = systemClock.now()
    const asked = {
      ...readFilter(input, nowMs),
      isOldestFirst: input.options['oldestFirst'] === true,
      cursor: textOption(input, 'cursor'),
      limit: integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 50,
    }
    const list = await thereOrHere(
      context,
      (remote) => listRemotely(remote, asked),
      async () => listHere(await context.deps(), asked),
    )
    const { failed } = list
    const { rows, next = null } = list
    const { tenantId } = asked
    if (rows.length === 0 && failed.length === 0 && tenantId !== null && !list.knowsTenant)
      throw new CpError('not_found', `no execution belongs to the tenant ${tenantId}`)
    return {
      json: { executions: rows.map(toJson), next_cursor: next, failed_shards: failed },
      blocks: [
        {
          kind: 'table',
          columns: ['execution', 'status', 'path', 'started', 'events', 'last event', 'step'],
          spare: ['last event', 'events', 'step'],
          rows: rows.map((row) => {
            const started = timeOf(row.start_time)
            return [
              row.execution_id,
              toned(row.status, toneOf(row.status)),
              row.path,
              started === null ? null : formatAge(started, nowMs),
              row.event_count,
              row.last_event_type,
              row.last_node_name,
            ]
          }),
          empty: failed.length === 0 ? 'no executions' : NOT_ANSWERED,
        },
      ],
      notes: [
        ...failed.map(({ shard, error }) => `shard ${shard} did not answer: ${error}`),
        ...(next === null ? [] : [`more: --cursor ${next}`]),
      ],
      exitCode: failed.length === 0 ? EXIT.ok : EXIT.unavailable,
    }
  },
}

export const executionShow: CommandSpec = {
  path: ['execution', 'show'],
  summary: 'One execution with its latest events',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [{ flags: '--events <n>', help: 'how many of the latest events', default: String(EVENTS_DEFAULT) }],
  examples: [
    ['execution show 320816801799737344', 'state and latest events'],
    ['execution show 320816801799737344 --json', 'with the workload, for programs'],
  ],
  run: async (context, input) => {
    const id = parseExecutionId(input.args['id'], 'id')
    const limit = integerOption(input, 'events', { min: 0, max: EVENTS_MAX }) ?? EVENTS_DEFAULT
    const { row, workload, events, shard } = await thereOrHere<DetailShown>(
      context,
      (remote) => showRemotely(remote, id, limit),
      async () => {
        const deps = await context.deps()
        return { ...(await executionDetail(deps, id, latestEvents(limit))), shard: deps.databases.shardOf(id) }
      },
    )
    const inOrder = [...events].reverse()
    return {
      json: {
        ...toJson(row),
        workload,
        events: inOrder.map((event) => ({ ...event, created_at: timeOf(event.created_at) })),
      },
      blocks: [
        {
          kind: 'record',
          title: `Execution ${row.execution_id}`,
          entries: present([
            ['status', toned(row.status, toneOf(row.status))],
            ['path', row.path],
            ['catalog', row.catalog_id],
            ['parent', row.parent_execution_id],
            ['started', timeOf(row.start_time)],
            ['ended', timeOf(row.end_time)],
            ['step', row.last_node_name],
            ['labels', labelText(row)],
            ['events', row.event_count],
            ['version', row.stream_version ?? null],
            ['shard', shard ?? null],
            ['error', row.error],
            ['workload', workload === null ? null : writeJson(workload)],
          ]),
        },
        {
          kind: 'table',
          title: 'Latest events',
          columns: ['event', 'type', 'step', 'status', 'time', 'error'],
          rows: inOrder.map((event) => [
            event.event_id,
            event.event_type,
            event.node_name,
            event.status,
            timeOf(event.created_at),
            event.error,
          ]),
          empty: 'none asked for, or none there',
        },
      ],
    }
  },
}

function labelText({ labels }: ShownExecution): string | null {
  return labels === null
    ? null
    : Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ')
}

/** What an execution does not have is not worth a line. */
function present(entries: readonly (readonly [string, Cell | ToneCell])[]) {
  return entries.filter(([, value]) => value !== null)
}

async function listHere(deps: Deps, { text, path, cursor, ...asked }: ListAsked): Promise<ExecutionList> {
  const page = await searchExecutions(deps, {
    ...asked,
    catalogId: null,
    ...textFilter(text),
    pathPattern: pathPattern(path),
    after: cursor === undefined ? null : parseCursor(cursor),
  })
  return {
    rows: page.rows,
    next: page.next === undefined ? undefined : formatCursor(page.next),
    failed: page.failures.map(({ shard, error }) => ({ shard, error: error.message })),
    knowsTenant: page.rows.length > 0 || (await hasTenant(deps, asked.tenantId)),
  }
}

/** An empty list of a tenant that nobody has ever heard of would be taken for good news. */
async function hasTenant(deps: Deps, tenantId: string | null): Promise<boolean> {
  if (tenantId === null) return true
  const { rows } = await searchExecutions(deps, { ...EVERY_ONE, tenantId, limit: 1 })
  return rows.length > 0
}

const EVERY_ONE = {
  statuses: null,
  catalogId: null,
  parentExecutionId: null,
  step: null,
  secondsMin: null,
  secondsMax: null,
  ...textFilter(undefined),
  pathPattern: null,
  since: null,
  until: null,
  after: null,
}

function toJson({ updated_at: updatedAt, ...row }: ShownExecution): JsonObject {
  return {
    ...row,
    start_time: timeOf(row.start_time),
    end_time: timeOf(row.end_time),
    ...(updatedAt === undefined ? {} : { updated_at: timeOf(updatedAt) }),
  }
}

function timeOf(text: string | null): WireTime | null {
  return text === null ? null : wireTimeFromPostgres(text, 'time')
}

function toneOf(status: string): Tone {
  if (status === 'COMPLETED') return 'good'
  if (status === 'FAILED') return 'bad'
  return status === 'RUNNING' ? 'warn' : 'dim'
}
