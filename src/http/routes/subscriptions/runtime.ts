// Diagnostics of the topology: which shard an execution belongs to.
import { parseInt64 } from '../../../domain/ids/ids.js'
import { integerValue } from '../../../domain/json/value.js'
import { SHARD_COUNT_MAX, shardOf } from '../../../domain/shards/shards.js'
import type { Topology } from '../../../domain/shards/topology.js'
import { CpError } from '../../../errors.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, ID, TEXT } from '../../schema.js'

export interface RuntimeRouteDeps {
  topology: Topology
}

export function runtimeRoutes({ topology }: RuntimeRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/runtime/shard-info',
      summary: 'The shard of an execution id among a number of shards',
      access: 'public',
      effect: 'read',
      query: {
        execution_id: { format: 'int64' },
        shard_count: { type: 'integer', minimum: 1, maximum: SHARD_COUNT_MAX, description: 'default: this server' },
      },
      responses: {
        200: answerOf({
          execution_id: ID,
          shard_count: COUNT,
          shard_index: COUNT,
          source: TEXT,
          hash_function: TEXT,
          seed: COUNT,
          server_config: answerOf({ shard_index: COUNT, shard_count: COUNT, databases: COUNT }),
        }),
        400: 'malformed',
      },
      handler: async ({ query }) => {
        if (query['execution_id'] === undefined)
          throw new CpError('invalid_input', 'query parameter execution_id is missing')
        const executionId = parseInt64(query['execution_id'], 'execution_id', 'any')
        const count = query['shard_count'] === undefined ? topology.shardCount : Number(query['shard_count'])
        return {
          body: {
            execution_id: integerValue(BigInt(executionId)),
            shard_count: count,
            shard_index: shardOf(executionId, count),
            source: 'noetl-cp',
            hash_function: 'xxhash64',
            seed: 0,
            server_config: {
              shard_index: topology.shardIndex,
              shard_count: topology.shardCount,
              databases: topology.databases.length,
            },
          },
        }
      },
    },
  ]
}
