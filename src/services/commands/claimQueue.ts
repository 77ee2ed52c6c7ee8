// Workers that wait for commands. Whoever asks first is served first, and all that wait are served together: one look
// at the queue and one transaction for every worker of this process, so that they never race each other. A nudge
// after a commit of this process wakes them at once; what other processes have issued is found by looking again.
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { Service } from '../../runtime/service.js'
import type { HeldCommand } from './handOut.js'

export interface ClaimRequest {
  workerId: string
  pools: readonly string[]
  /** Absent: any kind. */
  kinds?: readonly string[] | undefined
  max: number
  /** How long to wait for the first one. */
  waitMs: number
  leaseSeconds?: number | undefined
  /** Whoever asked is gone. */
  signal?: AbortSignal | undefined
}

const STOPPED_MS = 100

export interface ClaimQueueDeps {
  clock: Clock
  shards: number
  /** How often to look for what nobody here was told of. */
  pollMs: number
  /** Up to `max` of each, in the order of the askers; all of the askers want the same pools and kinds. */
  claim(shard: number, askers: readonly Asker[]): Promise<HeldCommand[][]>
}

export type Asker = Pick<ClaimRequest, 'workerId' | 'pools' | 'kinds' | 'max' | 'leaseSeconds'>

export interface ClaimQueue extends Service {
  /** Empty when the time is up. */
  claim(request: ClaimRequest): Promise<HeldCommand[]>
  /** Commands may wait in this shard. Cheap. */
  nudge(shard: number): void
  waiting(): number
}

interface Waiter {
  asker: Asker
  /** Of pools and kinds. */
  signature: string
  /** A claim for it is under way: it must be told the outcome. */
  isServed: boolean
  /** Shards that were not looked at for it yet. */
  unseen: Set<number>
  isOver: boolean
  settle(commands: HeldCommand[]): void
  fail(error: CpError): void
}

export function createClaimQueue(deps: ClaimQueueDeps): ClaimQueue {
  const waiters = new Set<Waiter>()
  const dirty = new Set<number>()
  const failures = new Map<number, CpError>()
  let running: Promise<void> | undefined
  let isStopped = false
  let poll: NodeJS.Timeout | undefined

  function lookEverywhere(): void {
    for (let shard = 0; shard < deps.shards; shard++) dirty.add(shard)
    run()
  }

  function run(): void {
    running ??= serve().finally(() => {
      running = undefined
      if (dirty.size > 0 && waiters.size > 0) run()
    })
  }

  async function serve(): Promise<void> {
    while (waiters.size > 0 && dirty.size > 0) {
      const [shard] = dirty
      dirty.delete(shard!)
      for (const signature of new Set([...waiters].map((waiter) => waiter.signature))) {
        await serveGroup(
          shard!,
          [...waiters].filter((waiter) => waiter.signature === signature),
        )
      }
      for (const waiter of waiters) if (waiter.isOver && waiter.unseen.size === 0) giveUp(waiter)
    }
  }

  async function serveGroup(shard: number, open: readonly Waiter[]): Promise<void> {
    for (const waiter of open) waiter.isServed = true
    try {
      const lists = await deps.claim(
        shard,
        open.map(({ asker }) => asker),
      )
      failures.delete(shard)
      for (const [index, waiter] of open.entries()) if (lists[index]!.length > 0) waiter.settle(lists[index]!)
    } catch (error) {
      failures.set(shard, toCpError(error))
    }
    for (const waiter of open) {
      waiter.isServed = false
      waiter.unseen.delete(shard)
    }
  }

  /** One that found nothing because nothing could be asked says so. */
  function giveUp(waiter: Waiter): void {
    const [failure] = failures.size === deps.shards ? failures.values() : []
    if (failure === undefined) waiter.settle([])
    else waiter.fail(failure)
  }

  function timeIsUp(waiter: Waiter): void {
    waiter.isOver = true
    if (!waiter.isServed && waiter.unseen.size === 0) giveUp(waiter)
  }

  function ask({ signal, waitMs, ...asker }: ClaimRequest): Promise<HeldCommand[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => timeIsUp(waiter), waitMs)
      const onAbort = () => {
        waiter.unseen.clear()
        timeIsUp(waiter)
      }
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        waiters.delete(waiter)
      }
      const waiter: Waiter = {
        asker,
        signature: JSON.stringify([asker.pools, asker.kinds ?? null]),
        isServed: false,
        unseen: new Set(Array.from({ length: deps.shards }, (_, shard) => shard)),
        isOver: false,
        settle: (commands) => {
          end()
          resolve(commands)
        },
        fail: (error) => {
          end()
          reject(error)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      waiters.add(waiter)
      lookEverywhere()
    })
  }

  return {
    name: 'command claims',
    claim: async (request) => {
      if (request.signal?.aborted === true) return []
      if (!isStopped) return ask(request)
      // Not at once: a worker of this process asks on until it is stopped itself, and would let nothing else have its turn.
      await deps.clock.sleep(STOPPED_MS, ...(request.signal === undefined ? [] : [request.signal]))
      return []
    },
    nudge: (shard) => {
      if (waiters.size === 0) return
      dirty.add(shard)
      run()
    },
    waiting: () => waiters.size,
    start: async () => {
      isStopped = false
      poll ??= setInterval(() => {
        if (waiters.size > 0) lookEverywhere()
      }, deps.pollMs)
    },
    stop: async () => {
      isStopped = true
      clearInterval(poll)
      poll = undefined
      for (const waiter of waiters) {
        waiter.unseen.clear()
        timeIsUp(waiter)
      }
      await running
    },
  }
}
