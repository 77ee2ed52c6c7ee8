import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { messageOf } from '../../errors.js'
import { schemaStates } from '../../services/schema.js'
import type { CommandSpec } from '../command.js'
import { EXIT } from '../exit.js'
import { type Block, toned } from '../output.js'

const HTTP_DEADLINE_MS = 3_000

export const status: CommandSpec = {
  path: ['status'],
  summary: 'One screen about the running instance',
  description:
    'Shows the daemon, its servers and its schema. Exit code 69 when the daemon does not answer or a dependency is down.',
  examples: [
    ['status', 'the instance in the default data folder'],
    ['status --json', 'for programs'],
  ],
  run: async (context) => {
    const instance = await context.instance()
    const ready = await askDaemon(instance.httpUrl)
    const checks = isJsonObject(ready.body) && isJsonObject(ready.body['checks']) ? ready.body['checks'] : {}
    const deps = await context.deps()
    const schema = await schemaStates(deps.databases).catch((error: unknown) => messageOf(error))
    const isUp = ready.error === undefined && ready.status === 200
    const daemon: Block = {
      kind: 'record',
      title: 'Daemon',
      entries: [
        ['api', instance.httpUrl],
        [
          'state',
          ready.error !== undefined
            ? toned(`down: ${ready.error}`, 'bad')
            : ready.status === 200
              ? toned('ready', 'good')
              : toned('not ready', 'bad'),
        ],
        ['mode', instance.endpoints.mode],
        ...(instance.pid === undefined ? [] : [['pid', instance.pid] as const, ['since', instance.startedAt] as const]),
      ],
    }
    const dependencies: Block = {
      kind: 'table',
      title: 'Dependencies',
      columns: ['name', 'state', 'detail', 'ms'],
      rows: Object.entries(checks).map(([name, check]) => dependencyRow(name, check)),
      empty: 'unknown while the daemon is down',
    }
    const schemaBlock: Block = {
      kind: 'table',
      title: 'Schema',
      columns: ['database', 'applied', 'pending'],
      rows:
        typeof schema === 'string'
          ? [[toned(schema, 'bad'), '', '']]
          : schema.map((state) => [state.label, state.applied.length, state.pending.length]),
    }
    const json: JsonObject = {
      daemon: {
        url: instance.httpUrl,
        ready: isUp,
        error: ready.error ?? null,
        mode: instance.endpoints.mode,
        pid: instance.pid ?? null,
        started_at: instance.startedAt ?? null,
      },
      checks,
      schema:
        typeof schema === 'string'
          ? { error: schema }
          : schema.map((state) => ({
              database: state.label,
              applied: state.applied.length,
              pending: state.pending.length,
            })),
    }
    return { json, blocks: [daemon, dependencies, schemaBlock], exitCode: isUp ? EXIT.ok : EXIT.unavailable }
  },
}

function dependencyRow(name: string, check: JsonValue) {
  if (!isJsonObject(check)) return [name, '', '', '']
  const ok = check['ok'] === true
  const state = ok ? toned('up', 'good') : check['required'] === false ? toned('off', 'dim') : toned('down', 'bad')
  return [name, state, String(check['detail'] ?? ''), String(check['ms'] ?? '')]
}

async function askDaemon(url: string): Promise<{ status: number; body: JsonValue; error?: string }> {
  try {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(HTTP_DEADLINE_MS) })
    return { status: response.status, body: parseJson(await response.text()) }
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause
    return { status: 0, body: null, error: messageOf(cause ?? error) }
  }
}
