import { parseJson } from '../../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import type { TroubledRow } from '../../../services/subscriptions/views.js'
import type { DaemonAnswer } from '../../askDaemon.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { type Gauges, largest, total, totalsBy } from '../../daemonGauges.js'
import { EXIT } from '../../exit.js'
import type { Instance } from '../../instance.js'
import { isSet } from '../../options.js'
import { type Block, type Output, toned } from '../../output.js'
import { factsFromServers, factsOverHttp, type StatusFacts } from '../../statusFacts.js'
import { watchOutput } from '../../watchOutput.js'

const UNKNOWN = 'unknown while the daemon does not say'

export const status: CommandSpec = {
  path: ['status'],
  summary: 'One screen about the running instance',
  description:
    'Shows the daemon, its servers, executions by state (counted up to 10,000 of each, beyond that the estimate of Postgres), shards, threads, backlog and schema. --url, or --host and --port, name the daemon that is meant; --database-url the database, and a daemon of another one is told apart. Exit code 69 when the daemon does not answer or a dependency is down. With --watch it is shown again every two seconds until Ctrl-C, as JSON one line each.',
  options: [{ flags: '--watch', help: 'show it again every two seconds' }],
  examples: [
    ['status', 'the instance in the default data folder'],
    ['status --json', 'for programs'],
    ['status --port 9082', 'the daemon at that port'],
    ['status --watch', 'as it changes'],
  ],
  run: (context, input) =>
    isSet(input, 'watch') ? watchOutput(context, () => statusNow(context)) : statusNow(context),
}

async function statusNow(context: CommandContext): Promise<Output> {
  const instance = await context.instance()
  const facts =
    instance.reachedBy === 'http'
      ? await factsOverHttp(instance)
      : await factsFromServers(instance, await context.deps())
  const { ready, gauges, executions, shards, troubled, schema } = facts
  const checks = checksOf(ready)
  const isUp = ready.status === 200
  return {
    json: {
      daemon: {
        url: instance.httpUrl,
        ready: isUp,
        error: ready.error ?? null,
        mode: facts.mode,
        pid: instance.pid ?? null,
        started_at: instance.startedAt ?? null,
      },
      checks,
      executions: executions ?? null,
      executions_estimated: [...facts.estimated],
      shards,
      workers: {
        threads: total(gauges, 'noetl_cp_worker_threads') ?? null,
        waiting: total(gauges, 'noetl_cp_worker_queue') ?? null,
      },
      backlog: { outbox: totalsBy(gauges, 'noetl_cp_outbox_rows', 'status') },
      subscriptions: { ...subscriptionsJson(gauges), in_trouble: troubled.map((row) => ({ ...row })) },
      schema: typeof schema === 'string' ? { error: schema } : schema.map((state) => ({ ...state })),
    },
    blocks: [
      daemonBlock(instance, facts),
      {
        kind: 'table',
        title: 'Dependencies',
        columns: ['name', 'state', 'detail', 'ms'],
        isProse: true,
        rows: Object.entries(checks).map(([name, check]) => dependencyRow(name, check)),
        empty: 'unknown while the daemon is down',
      },
      workBlock(facts),
      subscriptionsBlock(gauges, troubled),
      {
        kind: 'table',
        title: 'Schema',
        columns: ['database', 'applied', 'pending'],
        rows:
          typeof schema === 'string'
            ? [[toned(schema, 'bad'), '', '']]
            : schema.map(({ database, applied, pending }) => [database, applied, pending]),
      },
    ],
    exitCode: isUp ? EXIT.ok : EXIT.unavailable,
  }
}

function daemonBlock(instance: Instance, { ready, mode }: StatusFacts): Block {
  const state =
    ready.error !== undefined
      ? toned(`down: ${ready.error}`, 'bad')
      : ready.status === 200
        ? toned('ready', 'good')
        : toned('not ready', 'bad')
  const own =
    instance.pid === undefined
      ? []
      : ([
          ['pid', instance.pid],
          ['since', instance.startedAt],
        ] as const)
  return {
    kind: 'record',
    title: 'Daemon',
    entries: [['api', instance.httpUrl], ['state', state], ['mode', mode], ...own],
  }
}

function workBlock({ gauges, executions, estimated, shards }: StatusFacts): Block {
  const threads = total(gauges, 'noetl_cp_worker_threads')
  const outbox = Object.entries(totalsBy(gauges, 'noetl_cp_outbox_rows', 'status'))
  return {
    kind: 'record',
    title: 'Work',
    entries: [
      ['executions', executions === undefined ? UNKNOWN : executionsText(executions, estimated)],
      [
        'shards',
        shards === null
          ? UNKNOWN
          : `${shards.databases.length} database(s); this configuration drives share ${shards.index} of ${shards.count}`,
      ],
      ['threads', threads === undefined ? UNKNOWN : threadsText(threads, total(gauges, 'noetl_cp_worker_queue') ?? 0)],
      ['outbox', outbox.length === 0 ? UNKNOWN : countsText(Object.fromEntries(outbox))],
    ],
  }
}

/** Not the workers that run steps: `worker list` shows those. */
function threadsText(threads: number, waiting: number): string {
  if (threads === 0) return 'none yet; they begin with the first replay or document to be read'
  return `${threads} for replays and documents, ${waiting} task(s) waiting`
}

function executionsText(executions: Readonly<Record<string, number>>, estimated: readonly string[]): string {
  const texts = Object.entries(executions).map(
    ([status, count]) => `${estimated.includes(status) ? 'about ' : ''}${count} ${status}`,
  )
  return texts.length === 0 ? 'none' : texts.join(', ')
}

function countsText(counts: Record<string, number>): string {
  const texts = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return texts.length === 0 ? 'none' : texts.join(', ')
}

function subscriptionsJson(gauges: Gauges): JsonObject {
  return {
    by_state: totalsBy(gauges, 'noetl_cp_subscriptions', 'state'),
    driven: total(gauges, 'noetl_cp_subscriptions_driven') ?? null,
    backlog: total(gauges, 'noetl_cp_subscription_backlog') ?? null,
    oldest_age_seconds: largest(gauges, 'noetl_cp_subscription_oldest_age_seconds') ?? null,
    dead_letters: total(gauges, 'noetl_cp_subscription_dead_letters') ?? null,
  }
}

/** One line each; states that nobody is in are left out. */
function subscriptionsBlock(gauges: Gauges, troubled: readonly TroubledRow[]): Block {
  const states = Object.entries(totalsBy(gauges, 'noetl_cp_subscriptions', 'state')).filter(([, count]) => count > 0)
  const driven = total(gauges, 'noetl_cp_subscriptions_driven')
  const dead = total(gauges, 'noetl_cp_subscription_dead_letters') ?? 0
  const oldest = Math.round(largest(gauges, 'noetl_cp_subscription_oldest_age_seconds') ?? 0)
  return {
    kind: 'record',
    title: 'Subscriptions',
    entries:
      driven === undefined
        ? [['state', UNKNOWN]]
        : [
            ['state', states.length === 0 ? 'none' : states.map(([name, count]) => `${count} ${name}`).join(', ')],
            ['driven', `${driven} by this daemon`],
            [
              'backlog',
              `${total(gauges, 'noetl_cp_subscription_backlog') ?? 0} message(s), the oldest waits for ${oldest} s`,
            ],
            ['dead', dead === 0 ? '0' : toned(`${dead}; see noetl-cp subscription dead list`, 'bad')],
            ...troubled.map(({ path, trouble }) => ['trouble', toned(`${path}: ${trouble}`, 'bad')] as const),
          ],
  }
}

function dependencyRow(name: string, check: JsonValue) {
  if (!isJsonObject(check)) return [name, '', '', '']
  const ok = check['ok'] === true
  const state = ok ? toned('up', 'good') : check['required'] === false ? toned('off', 'dim') : toned('down', 'bad')
  return [name, state, String(check['detail'] ?? ''), String(check['ms'] ?? '')]
}

function checksOf(ready: DaemonAnswer): JsonObject {
  try {
    const body = parseJson(ready.text)
    return isJsonObject(body) && isJsonObject(body['checks']) ? body['checks'] : {}
  } catch {
    // Something else answers on that port; its state is shown as not ready.
    return {}
  }
}
