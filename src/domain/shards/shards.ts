// Which shard an execution belongs to. The same rule places rows in databases, gives executions to daemons
// and picks the command subject; a second rule anywhere would send work to the wrong place. Never use
// id modulo n: ids minted at a low rate end in twelve zero bits and would all land on shard 0.

import { CpError } from '../../errors.js'
import { xxh64Modulo } from './xxh64.js'

/** The documented ceiling of the NoETL server's diagnostics; also keeps the arithmetic of the hash exact. */
export const SHARD_COUNT_MAX = 1024

/** A count of 0 or 1 means "not sharded" and gives 0. */
export function shardOf(executionId: string | bigint, shardCount: number): number {
  if (shardCount === 0 || shardCount === 1) return 0
  if (!Number.isInteger(shardCount) || shardCount < 0 || shardCount > SHARD_COUNT_MAX) {
    throw new CpError('invalid_input', `shard_count must be a whole number from 1 to ${SHARD_COUNT_MAX}`, {
      details: { field: 'shard_count' },
    })
  }
  return xxh64Modulo(typeof executionId === 'string' ? executionId : executionId.toString(), shardCount)
}

/** The number after the last dash of a host name (`name-13` is 13), if it is one and fits 32 bits. */
export function hostnameOrdinal(hostname: string): number | undefined {
  const dash = hostname.lastIndexOf('-')
  const tail = dash < 0 ? '' : hostname.slice(dash + 1)
  if (!/^\+?[0-9]{1,64}$/.test(tail)) return undefined
  const ordinal = Number(tail)
  return ordinal <= 0xffff_ffff ? ordinal : undefined
}
