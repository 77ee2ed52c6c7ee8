// Promise: a topology is either exactly what the operator wrote or refused with every mistake named, and a
// password never shows up in the refusal.

import { describe, expect, it } from 'vitest'
import { describeTarget, parseDatabaseTargets } from '../../src/domain/shards/databaseTarget.js'
import {
  databaseIndexOf,
  ownsExecution,
  parseTopology,
  type TopologySettings,
} from '../../src/domain/shards/topology.js'
import { CpError } from '../../src/errors.js'

const FALLBACK = { host: 'localhost', port: 5432, user: 'noetl', password: '', database: 'noetl' }
const build = (settings: Omit<TopologySettings, 'fallback'>) => parseTopology({ ...settings, fallback: FALLBACK })

function problemsOf(settings: Omit<TopologySettings, 'fallback'>): string[] {
  try {
    build(settings)
  } catch (error) {
    if (error instanceof CpError && error.code === 'config') return error.details['problems'] as string[]
    throw error
  }
  return []
}

describe('lists of databases', () => {
  it('reads pairs in any order, with defaults and spare separators', () => {
    const { targets, problems } = parseDatabaseTargets(
      'host=a;user=u;port=6000;password=p;database=d, user=v;host=b;;,, dbname=x;host=c;user=w;sslmode=verify-full',
      'NOETL_SHARDS',
    )
    expect(problems).toEqual([])
    expect(targets).toEqual([
      { host: 'a', port: 6000, user: 'u', password: 'p', database: 'd' },
      { host: 'b', port: 5432, user: 'v', password: '', database: 'noetl' },
      { host: 'c', port: 5432, user: 'w', password: '', database: 'x', sslMode: 'verify-full' },
    ])
  })

  it('leaves values as they are, except for the separators a password could not hold otherwise', () => {
    const [target] = parseDatabaseTargets('host=a;user= u ;password=%2c%3B%25=%41 ', 'X').targets
    expect(target?.user).toBe(' u ')
    expect(target?.password).toBe(',;%=%41 ')
  })

  it('reads URLs separated by commas, spaces or both', () => {
    const { targets, problems } = parseDatabaseTargets(
      'postgres://u:p%40%2C%2F%3A@h1:6000/d1 postgresql://u@h2\n,postgres://u:s@[::1]/d?sslmode=require',
      'X',
    )
    expect(problems).toEqual([])
    expect(targets).toEqual([
      { host: 'h1', port: 6000, user: 'u', password: 'p@,/:', database: 'd1' },
      { host: 'h2', port: 5432, user: 'u', password: '', database: 'noetl' },
      { host: '::1', port: 5432, user: 'u', password: 's', database: 'd', sslMode: 'require' },
    ])
  })

  it('names every problem of every item and no secret', () => {
    const { problems } = parseDatabaseTargets(
      [
        'host=a;user=u;password=hunter2;colour=red',
        'user=u;password=hunter2;port=0',
        'host=a;pass;word;hunter2',
        'postgres://u:hunter2@h:99999/d',
        'mysql://u:hunter2@h/d',
        'postgres://h/d?hunter2=1',
        'host=a;host=b;user=u',
        'host=a;user=u;sslmode=hunter2',
      ].join(','),
      'NOETL_SHARDS',
    )
    expect(problems.join('\n')).not.toContain('hunter2')
    expect(problems.map((problem) => Number(/item (\d+)/.exec(problem)?.[1]))).toEqual([
      1, 2, 2, 3, 3, 3, 3, 4, 5, 6, 6, 7, 8,
    ])
    expect(problems[1]).toContain('no host')
    expect(problems[2]).toContain('port')
  })

  it('refuses the same database twice, however it is written', () => {
    const { problems } = parseDatabaseTargets('host=DB;user=a,postgres://b:x@db:5432/noetl', 'NOETL_SHARDS')
    expect(problems).toEqual([
      expect.stringContaining('item 2: is the same database as an earlier item (db:5432/noetl)'),
    ])
  })

  it('describes a target without credentials', () => {
    expect(describeTarget({ ...FALLBACK, password: 'hunter2' })).toBe('localhost:5432/noetl')
  })
})

describe('topology', () => {
  it('without settings is one database and all executions', () => {
    const topology = build({})
    expect(topology).toMatchObject({
      databases: [FALLBACK],
      cluster: FALLBACK,
      shardIndex: 0,
      shardCount: 1,
      singleDatabase: true,
      clusterByDefault: false,
    })
    expect(Object.isFrozen(topology) && Object.isFrozen(topology.databases)).toBe(true)
    expect(databaseIndexOf(topology, '325')).toBe(0)
    expect(ownsExecution(topology, '325')).toBe(true)
  })

  it('keeps databases and daemons apart', () => {
    const topology = build({ shards: 'host=a;user=u,host=b;user=u,host=c;user=u', shardIndex: '1', shardCount: '2' })
    expect(topology.databases).toHaveLength(3)
    expect(topology.clusterByDefault).toBe(true)
    expect(topology.cluster.host).toBe('a')
    expect([databaseIndexOf(topology, '1'), databaseIndexOf(topology, '42')]).toEqual([1, 0])
    expect([ownsExecution(topology, '1'), ownsExecution(topology, '2')]).toEqual([true, false])
    expect(build({ shardCount: '2', shardIndex: '1' }).databases).toHaveLength(1)
  })

  it('takes the cluster database it is given', () => {
    const topology = build({ shards: 'host=a;user=u', clusterDsn: 'postgres://u@z/cluster' })
    expect(topology.cluster).toMatchObject({ host: 'z', database: 'cluster' })
    expect(topology).toMatchObject({ clusterByDefault: false, singleDatabase: false })
  })

  it('takes the index from the host name only when asked and readable', () => {
    const asked = { shardCount: '4', shardIndexFromHostname: true }
    expect(build({ ...asked, hostname: 'noetl-cp-3' }).shardIndex).toBe(3)
    expect(build({ ...asked, hostname: 'noetl-cp-3', shardIndex: '1' }).shardIndex).toBe(1)
    expect(build({ shardCount: '4', hostname: 'noetl-cp-3' }).shardIndex).toBe(0)
    expect(problemsOf({ ...asked, hostname: 'noetl-cp-6cdb8b7b6' })).toEqual([
      expect.stringContaining('set NOETL_SHARD_INDEX'),
    ])
  })

  it.each([
    [{ shardCount: '0' }, 'NOETL_SHARD_COUNT'],
    [{ shardCount: 'two' }, 'NOETL_SHARD_COUNT'],
    [{ shardCount: '2 ' }, 'NOETL_SHARD_COUNT'],
    [{ shardCount: '1025' }, 'NOETL_SHARD_COUNT'],
    [{ shardIndex: '-1' }, 'NOETL_SHARD_INDEX'],
    [{ shardIndex: '2', shardCount: '2' }, 'index 2 must be below the shard count 2'],
    [{ shardIndex: '1' }, 'index 1 must be below the shard count 1'],
    [{ shards: ',;,' }, 'NOETL_SHARDS is set but names no database'],
    [{ clusterDsn: 'host=a;user=u,host=b;user=u' }, 'exactly one'],
    [{ shards: 'host=a;user=u,host=a;user=u' }, 'same database'],
  ])('refuses %o', (settings, text) => {
    const problems = problemsOf(settings)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(text)
  })

  it('lists all problems at once', () => {
    expect(problemsOf({ shards: 'host=a', clusterDsn: 'x', shardCount: '0', shardIndex: 'a' })).toHaveLength(6)
  })
})
