// What `doctor` says about pools of workers: commands that nobody takes, and why.

import type { Databases } from '../../db/databases.js'
import { counted } from '../../domain/counted.js'
import { isJsonObject } from '../../domain/json/value.js'
import { toCpError } from '../../errors.js'
import { listLimits, waitingPools } from '../../stores/commands/commandLimits.js'
import type { Finding } from '../health/finding.js'
import { span } from '../state/stuckFinding.js'
import { listWorkerPools, type WorkerPoolView } from '../workers/workerPools.js'

const WAITING_SECONDS_MIN = 30

export async function poolFindings(databases: Databases): Promise<Finding[]> {
  try {
    return await waitingFindings(databases)
  } catch (error) {
    const { code, message } = toCpError(error)
    // A database that is away or has no schema is a finding made elsewhere.
    if (code === 'schema_mismatch' || code === 'unavailable') return []
    return [{ level: 'problem', where: databases.cluster.label, finding: message, fix: 'noetl-cp status' }]
  }
}

async function waitingFindings(databases: Databases): Promise<Finding[]> {
  const { answers } = await databases.fanOut((db) => waitingPools(db, WAITING_SECONDS_MIN))
  const waiting = answers.flatMap(({ value }) => value)
  if (waiting.length === 0) return []
  const { db } = databases.cluster
  const [workers, limits] = await Promise.all([listWorkerPools(databases, { kind: 'worker_pool' }), listLimits(db)])
  return waiting.map(({ pool, commands, oldest_seconds: seconds }): Finding => {
    const where = `pool ${pool}`
    const what = `${counted(commands, 'command waits', 'commands wait')}, the oldest for ${span(seconds)}`
    if (limits.some(({ scope, name, paused_at: at }) => scope === 'pool' && name === pool && at !== null)) {
      return { level: 'advice', where, finding: `${what}; it is paused`, fix: `noetl-cp worker resume ${pool}` }
    }
    const its = workers.filter((worker) => poolOf(worker) === pool)
    if (its.some(({ isAlive }) => isAlive)) {
      return {
        level: 'advice',
        where,
        finding: `${what}; its workers are busy`,
        fix: 'start more workers of this pool',
      }
    }
    const heard = its.length === 0 ? 'no worker of it has registered' : 'its workers are silent'
    return {
      level: 'problem',
      where,
      finding: `${what}; ${heard}`,
      fix: 'start a worker of this pool, see docs/workers.md',
    }
  })
}

function poolOf({ name, labels }: WorkerPoolView): string {
  const pool = isJsonObject(labels) ? labels['pool_name'] : undefined
  return typeof pool === 'string' ? pool : name
}
