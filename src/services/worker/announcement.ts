// The worker among the others: it announces itself as a worker pool, gives signs of life, and looks who else takes commands
// from its pools. A command of a kind that nobody can run is taken as well, because a step that fails and says why is
// better than one that waits for ever.

import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { KNOWN_KINDS } from '../../domain/playbook/knownKeys.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { Service } from '../../runtime/service.js'
import {
  beatWorkerPool,
  deregisterWorkerPool,
  listWorkerPools,
  registerWorkerPool,
  type WorkerPoolDeps,
  type WorkerPoolView,
} from '../workers/workerPools.js'

export interface AnnouncementDeps extends WorkerPoolDeps {
  clock: Clock
  /** What it can run. */
  kinds(): string[]
  onError(error: CpError): void
}

export interface Announced {
  workerId: string
  pools: readonly string[]
  slots: number
  runtime: JsonObject
}

export interface Announcement extends Service {
  /** Kinds to ask for; undefined asks for every kind. */
  wanted(): string[] | undefined
}

const BEAT_MS = 15_000
const KIND = 'worker_pool'

export function createAnnouncement(worker: Announced, deps: AnnouncementDeps): Announcement {
  const stopping = new AbortController()
  let wanted: string[] | undefined
  let loop: Promise<void> | undefined

  async function register(): Promise<void> {
    await registerWorkerPool(deps, {
      name: worker.workerId,
      kind: KIND,
      uri: undefined,
      status: 'ready',
      labels: { pool_name: worker.pools[0] ?? 'shared', pools: [...worker.pools] },
      capabilities: { tools: deps.kinds() },
      capacity: worker.slots,
      runtime: worker.runtime,
    })
  }

  /**
   * Workers of this machine that were killed: what they held goes to others when its lease is over, and not when their
   * silence is noticed. One that lives after all renews its leases by itself.
   */
  async function strikeOffDead(): Promise<void> {
    for (const pool of await listWorkerPools(deps.databases, { kind: KIND })) {
      if (pool.isAlive && isDead(pool.runtime, worker.runtime)) {
        await deregisterWorkerPool(deps.databases, pool.name, KIND)
      }
    }
  }

  async function lookAround(): Promise<void> {
    const pools = await listWorkerPools(deps.databases, { kind: KIND })
    const others = pools.filter((pool) => pool.isAlive && pool.name !== worker.workerId && serves(pool, worker.pools))
    wanted = wantedBeside(others, deps.kinds())
  }

  async function beats(): Promise<void> {
    for (;;) {
      await deps.clock.sleep(BEAT_MS, stopping.signal)
      if (stopping.signal.aborted) return
      try {
        await beatWorkerPool(deps, worker.workerId, KIND)
        await lookAround()
      } catch (error) {
        deps.onError(toCpError(error))
      }
    }
  }

  return {
    name: 'worker announcement',
    start: async () => {
      await strikeOffDead()
      await register()
      await lookAround()
      loop = beats()
    },
    stop: async () => {
      if (loop === undefined) return
      stopping.abort()
      await loop
      await deregisterWorkerPool(deps.databases, worker.workerId, KIND)
    },
    wanted: () => wanted,
  }
}

/** Of this machine, and its process is gone or is this one. */
function isDead(runtime: JsonValue, own: JsonObject): boolean {
  if (!isJsonObject(runtime) || runtime['type'] !== own['type'] || runtime['hostname'] !== own['hostname']) return false
  const { pid } = runtime
  if (typeof pid !== 'number') return false
  if (pid === own['pid']) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    // EPERM: somebody lives there.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** One that does not say which pools it serves may serve ours. */
function serves({ labels }: WorkerPoolView, pools: readonly string[]): boolean {
  if (!isJsonObject(labels)) return true
  const named = Array.isArray(labels['pools']) ? labels['pools'] : [labels['pool_name']]
  return named.some((name) => typeof name !== 'string' || pools.includes(name))
}

/** Everything but what only others can run. */
export function wantedBeside(others: readonly WorkerPoolView[], own: readonly string[]): string[] | undefined {
  if (others.length === 0) return undefined
  const theirs = others.map(({ capabilities }) => (isJsonObject(capabilities) ? capabilities['tools'] : undefined))
  // One that does not say what it can run may run anything.
  if (theirs.some((tools) => !Array.isArray(tools))) return [...own, 'task_sequence']
  const only = new Set(theirs.flat().filter((kind) => !own.includes(String(kind))))
  return [...new Set([...KNOWN_KINDS, ...own])].filter((kind) => !only.has(kind))
}
