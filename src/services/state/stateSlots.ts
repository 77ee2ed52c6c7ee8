// The slots of live states: one per execution that is in memory or asked for. A slot says which thread holds the state,
// what is wanted of it, and who waits for the answer; the states themselves are in the threads.
//
//   idle ──wanted──▶ queued ──its thread has a free hand──▶ running ──▶ idle
//    │                  ▲                                      │
//    │                  └── wanted again while it ran ─────────┘ any number of wants are one more round
//    └── too many entries or bytes: the longest unused is saved as a snapshot and removed
//
// A thread works on `parallelMax` slots at a time. Slots that somebody waits for go before those of the reconciler.

import { laneOf } from '../../domain/leases/lane.js'
import { shardOf } from '../../domain/shards/shards.js'
import { CpError, toCpError } from '../../errors.js'
import { PassingMap } from '../../runtime/passingMap.js'
import type { Borrowed, Outcome, SlotLimits, SlotPlace, SlotWork, StateSlots, Want } from './slotTypes.js'

export type { Borrowed, Outcome, SlotLimits, SlotPlace, StateSlots, Want } from './slotTypes.js'

interface Waiter {
  resolve(outcome: Outcome): void
  reject(error: CpError): void
}

interface Slot extends SlotPlace {
  phase: 'idle' | 'queued' | 'running'
  /** Its thread owes an answer. */
  isInThread: boolean
  /** Waits for that answer, to borrow the state. */
  borrower: ((borrowed: Borrowed | undefined) => void) | undefined
  want: Want | undefined
  waiters: Waiter[]
  resident: boolean
  bytes: number
  version: number
  isDriven: boolean
}

interface Hand {
  /** Slots that somebody waits for; they may be in the other queue as well. */
  urgent: Slot[]
  queue: Slot[]
  active: number
}

const NOTHING: Want = { drive: false, read: false, view: false, open: false, sealed: false }
// Room for the next ones, so that not every new state has to push out exactly one.
const SHRINK_TO = 0.95

export function createStateSlots(limits: SlotLimits, work: SlotWork): StateSlots {
  /** In order of use: the first was unused for longest. */
  const slots = new PassingMap<string, Slot>()
  const hands = Array.from({ length: limits.threads }, (): Hand => ({ urgent: [], queue: [], active: 0 }))
  let entries = 0
  let bytes = 0
  let evicting = 0
  let closed = false

  function slotOf(executionId: string): Slot {
    const known = slots.get(executionId)
    if (known !== undefined) return known
    const thread = shardOf(executionId, limits.threads)
    const slot: Slot = {
      executionId,
      thread,
      phase: 'idle',
      isInThread: false,
      borrower: undefined,
      want: undefined,
      waiters: [],
      resident: false,
      bytes: 0,
      version: 0,
      isDriven: true,
    }
    slots.set(executionId, slot)
    return slot
  }

  function add(executionId: string, wanted: Partial<Want>, waiter?: Waiter): void {
    const slot = slotOf(executionId)
    if (waiter !== undefined) slot.waiters.push(waiter)
    if (slot.want === undefined) {
      slot.want = { ...NOTHING, ...wanted }
    } else {
      for (const key of Object.keys(NOTHING) as (keyof Want)[]) slot.want[key] ||= wanted[key] === true
      work.onCoalesced()
    }
    if (slot.phase === 'idle') enqueue(slot)
    else if (slot.phase === 'queued' && waiter !== undefined) hands[slot.thread]!.urgent.push(slot)
  }

  function enqueue(slot: Slot): void {
    slot.phase = 'queued'
    const hand = hands[slot.thread]!
    if (slot.waiters.length > 0) hand.urgent.push(slot)
    else hand.queue.push(slot)
    pump(hand)
  }

  const isOver = (): boolean => entries > limits.entriesMax || bytes > limits.bytesMax

  function pump(hand: Hand): void {
    // Building states faster than others can be saved would leave the bound behind.
    while (hand.active < limits.parallelMax && !(isOver() && evicting > 0)) {
      const slot = hand.urgent.shift() ?? hand.queue.shift()
      if (slot === undefined) return
      // Its turn came by the other queue.
      if (slot.phase !== 'queued') continue
      const handBack = begin(slot, hand)
      void round(slot, handBack).finally(() => {
        settle(slot)
        shrink()
        handBack()
      })
    }
  }

  /** Answers how to give the thread's hand back. */
  function begin(slot: Slot, hand: Hand): () => void {
    hand.active += 1
    slot.phase = 'running'
    slot.isInThread = true
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      slot.isInThread = false
      if (slot.borrower !== undefined) setImmediate(() => letGo(slot))
      hand.active -= 1
      pump(hand)
    }
  }

  /** A round that goes on without its thread writes a decision, and that may wait for the borrower. */
  function letGo(slot: Slot): void {
    if (slot.phase === 'running' && !slot.isInThread) slot.borrower?.(undefined)
  }

  async function borrow(executionId: string, patienceMs: number): Promise<Borrowed | undefined> {
    const slot = slots.get(executionId)
    if (closed || slot?.resident !== true || !slot.isDriven || slot.borrower !== undefined) return undefined
    if (slot.phase === 'idle') return lend(slot)
    if (!slot.isInThread) return undefined
    return new Promise((resolve) => {
      const timer = setTimeout(() => slot.borrower?.(undefined), patienceMs)
      slot.borrower = (borrowed) => {
        clearTimeout(timer)
        slot.borrower = undefined
        resolve(borrowed)
      }
    })
  }

  function lend(slot: Slot): Borrowed | undefined {
    const hand = hands[slot.thread]!
    if (closed || !slot.resident || !slot.isDriven || hand.active >= limits.parallelMax) return undefined
    const handBack = begin(slot, hand)
    return {
      place: slot,
      handBack,
      end: (outcome) => {
        if (outcome === 'worthless') {
          account(slot, false, 0)
          work.drop([slot])
        } else if (outcome !== 'unchanged') {
          note(slot, outcome)
          work.onRound(slot.executionId, outcome, { ...NOTHING, drive: true })
        }
        settle(slot)
        handBack()
      },
    }
  }

  function note(slot: Slot, outcome: Outcome): void {
    account(slot, outcome.resident, outcome.bytes)
    slot.version = outcome.version
    slot.isDriven = outcome.isDriven
  }

  async function round(slot: Slot, handBack: () => void): Promise<void> {
    const want = slot.want!
    const waiters = slot.waiters
    slot.want = undefined
    slot.waiters = []
    let outcome: Outcome | CpError
    try {
      outcome = await work.run(slot, want, handBack)
      note(slot, outcome)
      if (outcome.terminal && !outcome.resident) work.onEvicted('ended')
      for (const waiter of waiters) waiter.resolve(outcome)
    } catch (error) {
      outcome = toCpError(error)
      // The thread may have built it before the round failed; a state that is not counted would stay there for ever.
      if (!slot.resident) work.drop([slot])
      for (const waiter of waiters) waiter.reject(outcome)
    }
    work.onRound(slot.executionId, outcome, want)
  }

  function settle(slot: Slot): void {
    slot.phase = 'idle'
    if (slots.get(slot.executionId) !== slot) {
      slot.borrower?.(undefined)
      return
    }
    slots.delete(slot.executionId)
    if (slot.want !== undefined) {
      slots.set(slot.executionId, slot)
      enqueue(slot)
      return
    }
    if (slot.resident) slots.set(slot.executionId, slot)
    if (slot.borrower !== undefined) slot.borrower(lend(slot))
  }

  function account(slot: Slot, resident: boolean, size: number): void {
    const now = resident ? size : 0
    entries += Number(resident) - Number(slot.resident)
    bytes += now - slot.bytes
    slot.resident = resident
    slot.bytes = now
  }

  /** Both bounds, with what is on its way out already counted as gone. */
  function shrink(): void {
    if (closed || evicting > 0 || !isOver()) return
    let entriesLeft = entries
    let bytesLeft = bytes
    for (const slot of slots.values()) {
      if (entriesLeft <= limits.entriesMax * SHRINK_TO && bytesLeft <= limits.bytesMax * SHRINK_TO) return
      if (slot.phase !== 'idle' || !slot.resident) continue
      entriesLeft -= 1
      bytesLeft -= slot.bytes
      void evict(slot, 'bound')
    }
  }

  async function evict(slot: Slot, reason: 'bound' | 'stopped'): Promise<void> {
    slot.phase = 'running'
    evicting += 1
    try {
      await work.evict(slot)
    } catch {
      // Its thread is gone, and the state with it: nothing is left to save.
    } finally {
      evicting -= 1
      account(slot, false, 0)
      work.onEvicted(reason)
      settle(slot)
      shrink()
      for (const hand of hands) pump(hand)
    }
  }

  return {
    trigger: (executionId, want = {}) => {
      if (!closed) add(executionId, { drive: true, read: true, ...want })
    },
    ask: (executionId, want) =>
      closed
        ? Promise.reject(new CpError('unavailable', 'the live states are closed'))
        : new Promise((resolve, reject) => add(executionId, { read: true, ...want }, { resolve, reject })),
    borrow,
    versionOf: (executionId) => {
      const slot = slots.get(executionId)
      return slot?.resident === true ? slot.version : undefined
    },
    isOnlyWatched: (executionId) => {
      const slot = slots.get(executionId)
      return slot?.resident === true && !slot.isDriven
    },
    busyIn: (matches) => {
      let busy = 0
      for (const slot of slots.values())
        if (slot.phase === 'running' && matches(slot.executionId, laneOf(slot.executionId))) busy += 1
      return busy
    },
    forgetThread: (thread) => {
      for (const slot of slots.values()) {
        if (slot.thread !== thread) continue
        account(slot, false, 0)
        if (slot.phase === 'idle') slots.delete(slot.executionId)
      }
    },
    forget: (matches) => {
      const forgotten = [...slots.values()].filter(
        (slot) => slot.phase === 'idle' && matches(slot.executionId, laneOf(slot.executionId)),
      )
      for (const slot of forgotten) {
        account(slot, false, 0)
        slots.delete(slot.executionId)
      }
      return forgotten
    },
    stats: () => ({
      entries,
      bytes,
      queued: hands.reduce((sum, hand) => sum + hand.urgent.length + hand.queue.length, 0),
      running: hands.reduce((sum, hand) => sum + hand.active, 0),
    }),
    close: async (deadlineMs) => {
      closed = true
      const until = performance.now() + deadlineMs
      const left = (): boolean => performance.now() < until
      for (const { urgent, queue } of hands) for (const slot of [...urgent.splice(0), ...queue.splice(0)]) cancel(slot)
      while (left() && [...slots.values()].some((slot) => slot.phase === 'running'))
        await new Promise((resolve) => setTimeout(resolve, 5))
      const resident = [...slots.values()].filter((slot) => slot.resident && slot.phase === 'idle')
      const saveNext = async (): Promise<void> => {
        for (let slot = resident.pop(); slot !== undefined && left(); slot = resident.pop())
          await evict(slot, 'stopped')
      }
      await Promise.all(Array.from({ length: limits.threads * limits.parallelMax }, saveNext))
    },
  }

  function cancel(slot: Slot): void {
    if (slot.phase !== 'queued') return
    slot.phase = 'idle'
    slot.want = undefined
    for (const waiter of slot.waiters.splice(0)) waiter.reject(new CpError('unavailable', 'the daemon is stopping'))
  }
}
