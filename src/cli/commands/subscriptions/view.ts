// Looking at subscriptions: the list, one of them, its history, and the list as it changes.

import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { pathPattern } from '../../../domain/executions/executionPage.js'
import { parseSubscriptionId } from '../../../domain/ids/ids.js'
import { writeJson } from '../../../domain/json/write.js'
import { SHOWN_STATES } from '../../../domain/subscriptions/subscription.js'
import { CpError, isTransient, toCpError } from '../../../errors.js'
import { printable } from '../../../runtime/printable.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import { findSubscription, type SubscriptionRow } from '../../../services/subscriptions/lifecycle.js'
import {
  backlogOrTrouble,
  type HistoryItem,
  historyOf,
  pageOfSubscriptions,
  shownHistoryItem,
  verboseStatusOf,
} from '../../../services/subscriptions/views.js'
import type { CommandSpec, Input } from '../../command.js'
import { formatAge } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { print } from '../../io.js'
import { integerOption, textOption } from '../../options.js'
import { type Cell, type ToneCell, toned } from '../../output.js'
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
    const deps = await context.deps()
    const cursor = textOption(input, 'cursor')
    const { rows, next } = await pageOfSubscriptions(deps, {
      state: oneOf(input, 'state', SHOWN_STATES),
      pathPattern: pathPattern(textOption(input, 'path')),
      mode: oneOf(input, 'kind', ['pull', 'push']),
      order: 'newest',
      cursor: cursor === undefined ? null : parseSubscriptionId(cursor, '--cursor'),
      limit: integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 50,
    })
    return {
      json: { subscriptions: rows.map(verboseStatusOf), next_cursor: next ?? null },
      blocks: [
        {
          kind: 'table',
          columns: ['subscription', 'state', 'path', 'kind', 'source', 'changed', 'remark'],
          spare: ['changed', 'source', 'kind'],
          rows: rows.map((row) => [
            row.subscription_id,
            toned(row.state, toneOfState(row.state)),
            row.path,
            row.mode,
            row.source,
            row.updated_at === null
              ? null
              : formatAge(wireTimeFromPostgres(row.updated_at, 'updated_at'), deps.clock.now()),
            remarkOf(row),
          ]),
          empty: 'no subscriptions',
        },
      ],
      notes: next === undefined ? [] : [`more: --cursor ${next}`],
    }
  },
}

/** What an operator wants to know first: what is wrong, or why and until when it stands still. */
function remarkOf(row: SubscriptionRow): Cell | ToneCell {
  if (row.trouble !== null) return toned(row.trouble, 'bad')
  const until =
    row.paused_until === null ? '' : ` until ${wireTimeFromPostgres(row.paused_until, 'paused_until').slice(0, 19)}`
  const by = row.actor === null || row.reason === null ? '' : ` (${row.actor})`
  return `${row.reason ?? ''}${by}${until}`.trim()
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
    const deps = await context.deps()
    const row = await findSubscription(deps, parseSubscriptionId(input.args['id'], 'id'))
    await deps.bus?.untilConnected(BACKLOG_WAIT_MS).catch(() => undefined) // told below, as the trouble of the backlog
    const backlog = await backlogOrTrouble(deps, row)
    const status = verboseStatusOf(row)
    const lag = 'trouble' in backlog ? null : backlog
    return {
      json: {
        ...status,
        backlog:
          lag === null
            ? null
            : {
                pending: lag.pending,
                ack_pending: lag.ackPending,
                redelivered: lag.redelivered,
                oldest_age_seconds: lag.oldestSeconds,
              },
      },
      blocks: [
        {
          kind: 'record',
          title: `Subscription ${row.subscription_id}`,
          entries: present([
            ['state', toned(row.state, toneOfState(row.state))],
            ['path', row.path],
            ['entry', `${row.catalog_id} (version ${row.catalog_version ?? '?'})`],
            ['kind', row.mode],
            ['source', row.source],
            ['listener', row.listener],
            ['playbook', row.spec['playbook'] as Cell],
            ['since', status['updated_at'] as Cell],
            ['by', row.actor],
            ['reason', row.reason],
            ['until', status['paused_until'] as Cell],
            ['runtime', row.external ? 'external' : (status['runtime'] as Cell)],
            ['waiting', lag?.pending],
            ['in flight', lag?.ackPending],
            ['oldest', lag?.oldestSeconds == null ? null : `${lag.oldestSeconds} s`],
            ['trouble', row.trouble ?? ('trouble' in backlog ? backlog.trouble : null)],
            ['shard', deps.databases.shardOf(row.subscription_id)],
          ]),
        },
      ],
    }
  },
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
    const items = await historyOf(await context.deps(), id, '0', limit)
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
    const deps = await context.deps()
    const sink = openSink(context, undefined)
    const shutdown = listenForShutdown(context.io)
    let after = '0'
    try {
      while (!shutdown.signal.aborted && !sink.isClosed()) {
        let pauseMs = WATCH_MS
        try {
          const items = await historyOf(deps, id, after)
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
        await deps.clock.sleep(pauseMs, shutdown.signal)
      }
    } finally {
      shutdown.dispose()
    }
    return EXIT.ok
  },
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
