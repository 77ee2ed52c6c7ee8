// Workers that wait for commands. Whoever asks first is served first, and all that wait are served together: one look
// at the queue and one transaction for every worker of this process, so that they never race each other. A nudge
// after a commit of this process wakes them at once; what other processes have issued is found by looking again. Commands
// that are about to be issued here can be offered to those who wait: they are kept for the offer until it is settled.
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { PassingMap } from '../../runtime/passingMap.js'
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
  /** Commands may be handed over to it with the decision that issues them: it gives back what it holds without knowing. */
  takesOffers?: boolean | undefined
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

export type Asker = Pick<ClaimRequest, 'workerId' | 'pools' | 'kinds' | 'max' | 'leaseSeconds' | 'takesOffers'>

/** A command that is about to be issued. */
export interface Offered {
  pool: string
  kind: string
  priority: number
}

export type Taker = Pick<Asker, 'workerId' | 'leaseSeconds'>

export interface QueueOffer {
  /** By command; undefined: nobody waits for it. */
  takers: readonly (Taker | undefined)[]
  /** By command, what its taker holds now. To be called once, whatever happens. */
  settle(held: readonly (HeldCommand | undefined)[]): void
}

export interface ClaimQueue extends Service {
  /** Undefined is offered to nobody. */
  offer(commands: readonly (Offered | undefined)[]): QueueOffer
  /** Empty when the time is up. */
  claim(request: ClaimRequest): Promise<HeldCommand[]>
  /** Commands may wait in this shard, in these pools; absent: in any. Cheap, and nobody looks who wants others. */
  nudge(shard: number, pools?: readonly string[]): void
  waiting(): number
}

interface Waiter {
  asker: Asker
  /** Of pools and kinds. */
  signature: string
  /** A claim or an offer for it is under way: it must be told the outcome. */
  isServed: boolean
  /** Shards that were not looked at for it yet. */
  unseen: Set<number>
  isOver: boolean
  settle(commands: HeldCommand[]): void
  fail(error: CpError): void
}

export function createClaimQueue(deps: ClaimQueueDeps): ClaimQueue {
  const waiters = new PassingMap<number, Waiter>()
  let asked = 0
  const dirty = new Set<number>()
  /** What was offered to has been taken, and nothing else was heard of since: whoever asks for the same again need not look. */
  const seen = new Map<string, readonly string[]>()
  const failures = new Map<number, CpError>()
  let running: Promise<void> | undefined
  let isStopped = false
  let poll: NodeJS.Timeout | undefined

  function lookEverywhere(): void {
    for (let shard = 0; shard < deps.shards; shard++) dirty.add(shard)
    seen.clear()
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
      // Those with an offer are passed by, and look when it has come to nothing.
      for (const waiter of waiters.values()) if (waiter.isServed) waiter.unseen.add(shard!)
      for (const signature of new Set([...waiters.values()].map((waiter) => waiter.signature))) {
        await serveGroup(
          shard!,
          [...waiters.values()].filter((waiter) => waiter.signature === signature && !waiter.isServed),
        )
      }
      for (const waiter of waiters.values())
        if (waiter.isOver && !waiter.isServed && waiter.unseen.size === 0) giveUp(waiter)
    }
  }

  async function serveGroup(shard: number, open: readonly Waiter[]): Promise<void> {
    if (open.length === 0) return
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

  /** Only to those who have seen that nothing older waits: nothing is overtaken. */
  function offer(commands: readonly (Offered | undefined)[]): QueueOffer {
    const places = [...waiters.values()]
      .filter(
        ({ asker, isServed, isOver, unseen }) =>
          asker.takesOffers === true && dirty.size === 0 && !isServed && !isOver && unseen.size === 0,
      )
      .map((waiter) => ({ waiter, kept: [] as number[] }))
    const takers = commands.map((): Taker | undefined => undefined)
    const byPriority = [...commands.entries()].sort(([, a], [, b]) => (b?.priority ?? 0) - (a?.priority ?? 0))
    for (const [index, command] of byPriority) {
      if (command === undefined) continue
      const place = places.find(({ waiter: { asker }, kept }) => kept.length < asker.max && wants(asker, command))
      if (place === undefined) continue
      place.waiter.isServed = true
      place.kept.push(index)
      takers[index] = place.waiter.asker
    }
    return {
      takers,
      settle: (held) => {
        for (const { waiter, kept } of places) {
          if (kept.length === 0) continue
          waiter.isServed = false
          const list = kept.flatMap((index) => held[index] ?? [])
          if (list.length > 0) {
            if (waiter.unseen.size === 0) seen.set(waiter.signature, waiter.asker.pools)
            waiter.settle(list)
          } else if (waiter.isOver) giveUp(waiter)
          else if (waiter.unseen.size > 0) lookEverywhere()
        }
      },
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
    const place = asked++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => timeIsUp(waiter), waitMs)
      const onAbort = () => {
        waiter.unseen.clear()
        timeIsUp(waiter)
      }
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        waiters.delete(place)
      }
      const signature = JSON.stringify([asker.pools, asker.kinds ?? null])
      const hasSeen = asker.takesOffers === true && seen.has(signature)
      const waiter: Waiter = {
        asker,
        signature,
        isServed: false,
        unseen: new Set(hasSeen ? [] : Array.from({ length: deps.shards }, (_, shard) => shard)),
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
      waiters.set(place, waiter)
      if (!hasSeen) lookEverywhere()
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
    offer,
    nudge: (shard, pools) => {
      const isWanted = (wanted: readonly string[]) => pools === undefined || wanted.some((pool) => pools.includes(pool))
      for (const [signature, wanted] of seen) if (isWanted(wanted)) seen.delete(signature)
      if (![...waiters.values()].some(({ asker }) => isWanted(asker.pools))) return
      dirty.add(shard)
      run()
    },
    waiting: () => waiters.size,
    start: async () => {
      isStopped = false
      poll ??= setInterval(() => {
        seen.clear()
        if (waiters.size > 0) lookEverywhere()
      }, deps.pollMs)
    },
    stop: async () => {
      isStopped = true
      clearInterval(poll)
      poll = undefined
      for (const waiter of waiters.values()) {
        waiter.unseen.clear()
        timeIsUp(waiter)
      }
      await running
    },
  }
}

function wants({ pools, kinds }: Asker, { pool, kind }: Offered): boolean {
  return pools.includes(pool) && (kinds === undefined || kinds.includes(kind))
}
