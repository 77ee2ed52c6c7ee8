// Looking at subscriptions: the list, one of them, its history, and the list as it changes.

import type { WireTime } from '../../../domain/events/wireTime.js'
import { pathPattern } from '../../../domain/executions/executionPage.js'
import { parseSubscriptionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { SHOWN_STATES } from '../../../domain/subscriptions/subscription.js'
import { CpError, isTransient, toCpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import { printable } from '../../../runtime/printable.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import { findSubscription } from '../../../services/subscriptions/lifecycle.js'
import {
  backlogOrTrouble,
  type HistoryItem,
  historyOf,
  pageOfSubscriptions,
  shownHistoryItem,
  verboseStatusOf,
} from '../../../services/subscriptions/views.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { formatAge } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { print } from '../../io.js'
import { integerOption, textOption } from '../../options.js'
import { type Cell, type ToneCell, toned } from '../../output.js'
import { historyRemotely, listRemotely, type SubscriptionShown, showRemotely } from '../../remote/subscriptions.js'
import { thereOrHere } from '../../remote.js'
import { openSink } from '../../sink.js'
import { toneOfState } from './subscription.js'

const LIMIT_MAX = 10_000
const WATCH_MS = 300
const RETRY_MS = 2_000
const BACKLOG_WAIT_MS = 3_000
const ID = '320816801799737344'

export const subscriptionList: CommandSpec = {
  path: ['subscription', 'list'],
  summary: 'Subscriptions, newest first',
  options: [
    { flags: '--state <state>', help: SHOWN_STATES.join(', '), completes: SHOWN_STATES },
    { flags: '--path <path>', help: 'catalog path; a star at the end stands for any rest', completes: 'path' },
    { flags: '--kind <kind>', help: 'pull or push', completes: ['pull', 'push'] },
    { flags: '--limit <n>', help: `page size, up to ${LIMIT_MAX}`, default: '50' },
    { flags: '--cursor <id>', help: 'where the page before ended' },
  ],
  examples: [
    ['subscription list', 'all of them'],
    ['subscription list --state PAUSED', 'who is paused, since when and why'],
    ["subscription list --json | jq -r '.subscriptions[].subscription_id'", 'just the ids'],
  ],
  run: async (context, input) => {
    const cursor = textOption(input, 'cursor')
    const asked = {
      state: oneOf(input, 'state', SHOWN_STATES),
      path: textOption(input, 'path'),
      mode: oneOf(input, 'kind', ['pull', 'push']),
      cursor: cursor === undefined ? null : parseSubscriptionId(cursor, '--cursor'),
      limit: integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 50,
    }
    const { rows, next } = await thereOrHere(
      context,
      (remote) => listRemotely(remote, asked),
      async () => {
        const filter = { ...asked, pathPattern: pathPattern(asked.path), order: 'newest' as const }
        const page = await pageOfSubscriptions(await context.deps(), filter)
        return { rows: page.rows.map(verboseStatusOf), next: page.next }
      },
    )
    return {
      json: { subscriptions: rows, next_cursor: next ?? null },
      blocks: [
        {
          kind: 'table',
          columns: ['subscription', 'state', 'path', 'kind', 'source', 'changed', 'remark'],
          spare: ['changed', 'source', 'kind'],
          rows: rows.map((row) => [
            row['subscription_id'] as string,
            stateCell(row),
            row['path'] as string,
            row['mode'] as string | null,
            row['source'] as string | null,
            typeof row['updated_at'] === 'string' ? formatAge(row['updated_at'] as WireTime, systemClock.now()) : null,
            remarkOf(row),
          ]),
          empty: 'no subscriptions',
        },
      ],
      notes: next === undefined ? [] : [`more: --cursor ${next}`],
    }
  },
}

function stateCell(status: JsonObject): ToneCell {
  const state = String(status['state'])
  return toned(state, toneOfState(state))
}

/** What an operator wants to know first: what is wrong, or why and until when it stands still. */
function remarkOf({ trouble, reason, actor, paused_until: end }: JsonObject): Cell | ToneCell {
  if (typeof trouble === 'string') return toned(trouble, 'bad')
  const until = typeof end === 'string' ? ` until ${end.slice(0, 19)}` : ''
  const by = typeof actor === 'string' && typeof reason === 'string' ? ` (${actor})` : ''
  return `${reason ?? ''}${by}${until}`.trim()
}

export const subscriptionShow: CommandSpec = {
  path: ['subscription', 'show'],
  summary: 'One subscription: state, runtime, backlog',
  args: [{ name: 'id', help: 'subscription id', completes: 'subscription' }],
  examples: [
    [`subscription show ${ID}`, 'everything about it'],
    [`subscription show ${ID} --json`, 'for programs'],
  ],
  run: async (context, input) => {
    const id = parseSubscriptionId(input.args['id'], 'id')
    const { status, backlog, trouble, shard } = await thereOrHere(
      context,
      (remote) => showRemotely(remote, id),
      () => showHere(context, id),
    )
    const { spec } = status
    return {
      json: { ...status, backlog },
      blocks: [
        {
          kind: 'record',
          title: `Subscription ${id}`,
          entries: present([
            ['state', stateCell(status)],
            ['path', status['path'] as Cell],
            ['entry', `${status['catalog_id']} (version ${status['catalog_version'] ?? '?'})`],
            ['kind', status['mode'] as Cell],
            ['source', status['source'] as Cell],
            ['listener', status['listener'] as Cell],
            ['playbook', isJsonObject(spec) ? (spec['playbook'] as Cell) : null],
            ['since', status['updated_at'] as Cell],
            ['by', status['actor'] as Cell],
            ['reason', status['reason'] as Cell],
            ['until', status['paused_until'] as Cell],
            ['runtime', status['driver'] === 'external' ? 'external' : (status['runtime'] as Cell)],
            ['waiting', backlog?.pending],
            ['in flight', backlog?.ack_pending],
            ['oldest', backlog?.oldest_age_seconds == null ? null : `${backlog.oldest_age_seconds} s`],
            ['trouble', (status['trouble'] as Cell) ?? trouble],
            ['shard', shard],
          ]),
        },
      ],
    }
  },
}

async function showHere(context: CommandContext, id: string): Promise<SubscriptionShown> {
  const deps = await context.deps()
  const row = await findSubscription(deps, id)
  await deps.bus?.untilConnected(BACKLOG_WAIT_MS).catch(() => undefined) // told below, as the trouble of the backlog
  const found = await backlogOrTrouble(deps, row)
  const about = { status: verboseStatusOf(row), shard: deps.databases.shardOf(id) }
  if ('trouble' in found) return { ...about, backlog: null, trouble: found.trouble }
  const { pending, ackPending, redelivered, oldestSeconds } = found
  return {
    ...about,
    backlog: { pending, ack_pending: ackPending, redelivered, oldest_age_seconds: oldestSeconds },
    trouble: null,
  }
}

export const subscriptionHistory: CommandSpec = {
  path: ['subscription', 'history'],
  summary: 'What happened to a subscription, from the log',
  args: [{ name: 'id', help: 'subscription id', completes: 'subscription' }],
  options: [{ flags: '--limit <n>', help: 'at most so many', default: '1000' }],
  examples: [[`subscription history ${ID}`, 'who did what, when and why']],
  run: async (context, input) => {
    const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 1_000
    const id = parseSubscriptionId(input.args['id'], 'id')
    const items = await readHistory(context, id, '0', limit)
    return {
      json: { subscription_id: id, events: items.map(shownHistoryItem) },
      blocks: [
        {
          kind: 'table',
          columns: ['at', 'event', 'state', 'by', 'reason', 'until'],
          rows: items.map((item) => [
            item.at.slice(0, 19),
            item.eventType,
            item.state === null ? null : toned(item.state, toneOfState(item.state)),
            item.actor,
            item.reason,
            item.until?.slice(0, 19),
          ]),
        },
      ],
    }
  },
}

export const subscriptionWatch: CommandSpec = {
  path: ['subscription', 'watch'],
  summary: 'The changes of a subscription as they happen',
  description: 'Prints the history, one change per line, and waits for more until it is interrupted.',
  args: [{ name: 'id', help: 'subscription id', completes: 'subscription' }],
  examples: [
    [`subscription watch ${ID}`, 'one line per change'],
    [`subscription watch ${ID} --json`, 'each as a JSON document'],
  ],
  run: async (context, input) => {
    const id = parseSubscriptionId(input.args['id'], 'id')
    const sink = openSink(context, undefined)
    const shutdown = listenForShutdown(context.io)
    let after = '0'
    try {
      while (!shutdown.signal.aborted && !sink.isClosed()) {
        let pauseMs = WATCH_MS
        try {
          const items = await readHistory(context, id, after, HISTORY_PAGE)
          if (items.length > 0) after = items[items.length - 1]!.eventId
          const text = items
            .map((item) => `${context.isJson ? writeJson(shownHistoryItem(item)) : lineOf(item)}\n`)
            .join('')
          if (text !== '' && !(await sink.write(text))) break
        } catch (error) {
          if (!isTransient(error)) throw error
          print(context.io.stderr, `noetl-cp: ${toCpError(error).message}; trying again`)
          pauseMs = RETRY_MS
        }
        await systemClock.sleep(pauseMs, shutdown.signal)
      }
    } finally {
      shutdown.dispose()
    }
    return EXIT.ok
  },
}

const HISTORY_PAGE = 1_000

function readHistory(context: CommandContext, id: string, after: string, limit: number): Promise<HistoryItem[]> {
  return thereOrHere(
    context,
    (remote) => historyRemotely(remote, id, after, limit),
    async () => historyOf(await context.deps(), id, { after, limit }),
  )
}

function lineOf(item: HistoryItem): string {
  const by = [item.actor, item.reason, item.until === null ? null : `until ${item.until}`]
  const remark = by.filter((text) => text !== null).join(', ')
  return printable(`${item.at}  ${item.eventType.padEnd(24)}  ${(item.state ?? '').padEnd(11)}  ${remark}`.trimEnd())
}

function present(entries: readonly (readonly [string, Cell | ToneCell])[]): (readonly [string, Cell | ToneCell])[] {
  return entries.filter(([, value]) => value !== null && value !== undefined)
}

function oneOf(input: Input, name: string, allowed: readonly string[]): string | null {
  const text = textOption(input, name)
  if (text === undefined) return null
  const found = allowed.find((one) => one.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new CpError('invalid_input', `--${name} must be one of ${allowed.join(', ')}, not ${JSON.stringify(text)}`)
}
