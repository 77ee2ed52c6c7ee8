// Where executions live: computed for one id, and the state of every database.
import { topologyOf } from '../../../daemon/topology.js'
import { parseInt64 } from '../../../domain/ids/ids.js'
import { SHARD_COUNT_MAX, shardOf } from '../../../domain/shards/shards.js'
import { messageOf } from '../../../errors.js'
import { databaseChecks } from '../../../services/health/checks.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { integerOption } from '../../options.js'
import { toned } from '../../output.js'

export const shardOfId: CommandSpec = {
  path: ['shard', 'of'],
  localBecause: 'it needs no instance',
  summary: 'Which shard an execution belongs to',
  description:
    'Computes the shard of an execution id; needs no server. Without --count the number of databases in NOETL_SHARDS counts, else NOETL_SHARD_COUNT, else 1. A negative id goes after "--".',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [{ flags: '--count <n>', help: `number of shards, up to ${SHARD_COUNT_MAX}` }],
  examples: [
    ['shard of 320816801799737344 --count 16', 'the shard of one execution'],
    ['shard of 320816801799737344 --count 16 --json', 'for programs'],
  ],
  run: async (context, input) => {
    const id = parseInt64(input.args['id'], 'id', 'any')
    const count = integerOption(input, 'count', { min: 1, max: SHARD_COUNT_MAX }) ?? configuredCount(context)
    const index = shardOf(id, count)
    return {
      json: { execution_id: id, shard_count: count, shard_index: index },
      blocks: [
        {
          kind: 'record',
          entries: [
            ['execution', id],
            ['shard', index],
            ['of', count],
          ],
        },
      ],
    }
  },
}

/** The databases come first: they are what an operator looks for by id. */
function configuredCount(context: CommandContext): number {
  // Only counted, never opened.
  const unused = { host: '', port: 0, user: '', password: '', database: '' }
  const topology = topologyOf(context.config().config, unused)
  return topology.singleDatabase ? topology.shardCount : topology.databases.length
}

const PROBE_DEADLINE_MS = 5_000

export const shardList: CommandSpec = {
  path: ['shard', 'list'],
  localBecause: 'it asks every database itself; "status --url" shows what the daemon knows of them',
  summary: 'Every database of the installation and whether it answers',
  description:
    'Asks every database at once. One that is down is shown as such beside the others; the exit code is then 69.',
  examples: [
    ['shard list', 'all databases'],
    ['shard list --json', 'for programs'],
  ],
  run: async (context) => {
    const { databases } = await context.deps()
    const checks = databaseChecks(databases)
    const found = await Promise.all(
      databases.all.map(async (database, index) => {
        const started = performance.now()
        let error: string | null = null
        try {
          await checks[index]!.run(PROBE_DEADLINE_MS)
        } catch (thrown) {
          error = messageOf(thrown)
        }
        const shards = databases.shards.flatMap((shard, number) => (shard === database ? [number] : []))
        return {
          name: database.label,
          database: database.db.name,
          shards,
          cluster: databases.cluster === database,
          ok: error === null,
          ms: Math.round(performance.now() - started),
          error,
        }
      }),
    )
    const dead = found.filter((entry) => !entry.ok)
    return {
      json: { shard_count: databases.shards.length, databases: found },
      blocks: [
        {
          kind: 'table',
          columns: ['name', 'database', 'holds', 'state', 'ms', 'detail'],
          isProse: true,
          rows: found.map((entry) => [
            entry.name,
            entry.database,
            [...entry.shards.map((number) => `shard ${number}`), ...(entry.cluster ? ['cluster tables'] : [])].join(
              ', ',
            ),
            entry.ok ? toned('up', 'good') : toned('down', 'bad'),
            entry.ms,
            entry.error,
          ]),
        },
      ],
      notes: dead.length === 0 ? [] : [`${dead.length} of ${found.length} database(s) do not answer`],
      exitCode: dead.length === 0 ? EXIT.ok : EXIT.unavailable,
    }
  },
}
