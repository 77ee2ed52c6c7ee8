// Group commit: appends that arrive while a transaction is under way share the next one. Each shard has its
// own short queue, bounded in events and, over all shards, in bytes; a caller's items stay together in one
// transaction and in order. When a shared transaction is refused by the data of one caller, the callers are tried
// one by one, so that nobody pays for somebody else's mistake.

import { getHeapStatistics } from 'node:v8'
import type { Databases } from '../../db/databases.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { jsonWeight } from '../../domain/json/weight.js'
import { CpError } from '../../errors.js'
import { answerJobs } from '../../runtime/isolateRefused.js'
import { type AppendContext, type AppendItem, type AppendOutcome, withoutSecrets } from './appendInTx.js'
import { type AppendTransactions, createAppendTransactions } from './appendTransactions.js'

export type { AppendListener } from './appendTransactions.js'

export interface Appender extends Pick<AppendTransactions, 'onAppended' | 'followBy'> {
  /** All items of one shard, in one transaction. */
  append(items: readonly AppendItem[]): Promise<AppendOutcome[]>
  /** Further writes that must commit with the events; never shared with other callers. */
  appendWith: AppendTransactions['writeWith']
}

interface Job {
  items: readonly AppendItem[]
  bytes: number
  resolve(outcomes: AppendOutcome[]): void
  reject(error: CpError): void
}

interface Lane {
  waiting: Job[]
  waitingEvents: number
  active: number
  /** A transaction begins as soon as everything that has arrived is read. */
  isCalled: boolean
  /** Ends the wait for the transaction that is under way. */
  patience: NodeJS.Timeout | undefined
}

// Two transactions overlap so that one can prepare while the other commits; more only fight over locks.
const ACTIVE_MAX = 2
// Fewer wait for the transaction that is under way, and share the next: what a transaction costs besides its events is
// as much as about these. Fifty clients with an event each fill two in turn, so that neither we nor the database stand idle.
// Not for long: it may itself wait for a lock that is none of theirs.
const OVERLAP_EVENTS = 25
const OVERLAP_AFTER_MS = 20
const BATCH_EVENTS_MAX = 1_000
const WAITING_EVENTS_MAX = 50_000
// A transaction writes its events twice, as rows and as messages, and holds up every other thing the daemon does while
// their text is made. What is larger goes alone.
const BATCH_BYTES_MAX = 4 * 1_048_576
// What waits is held as objects and becomes text, several times, when its turn comes.
const HELD_SHARE_OF_HEAP = 1 / 8
const EVENT_BYTES = 500

export interface AppenderLimits {
  /** Bytes of events that may wait and be written at a time, over all shards. */
  heldBytesMax: number
}

const defaultLimits = (): AppenderLimits => ({
  heldBytesMax: getHeapStatistics().heap_size_limit * HELD_SHARE_OF_HEAP,
})

export function createAppender(
  databases: Databases,
  context: AppendContext,
  { heldBytesMax }: AppenderLimits = defaultLimits(),
): Appender {
  let heldBytes = 0
  const lanes = databases.shards.map(
    (): Lane => ({
      waiting: [],
      waitingEvents: 0,
      active: 0,
      isCalled: false,
      patience: undefined,
    }),
  )
  const transactions = createAppendTransactions(databases, context)

  async function flush(shard: number, lane: Lane): Promise<void> {
    const jobs = takeJobs(lane)
    lane.active += 1
    try {
      await answerJobs(jobs, async (some) => {
        const outcomes = await transactions.write(
          shard,
          some.flatMap((job) => job.items),
        )
        let end = 0
        return some.map(({ items }) => {
          end += items.length
          return outcomes.slice(end - items.length, end)
        })
      })
    } finally {
      for (const { bytes } of jobs) heldBytes -= bytes
      lane.active -= 1
      pump(shard, lane)
    }
  }

  function pump(shard: number, lane: Lane): void {
    if (lane.isCalled || lane.active >= ACTIVE_MAX || lane.waiting.length === 0) return
    if (lane.active > 0 && lane.waitingEvents < OVERLAP_EVENTS) {
      lane.patience ??= setTimeout(() => {
        lane.patience = undefined
        call(shard, lane)
      }, OVERLAP_AFTER_MS)
    } else call(shard, lane)
  }

  /** Not at once: requests that have arrived together share. */
  function call(shard: number, lane: Lane): void {
    if (lane.isCalled || lane.active >= ACTIVE_MAX || lane.waiting.length === 0) return
    lane.isCalled = true
    clearTimeout(lane.patience)
    lane.patience = undefined
    setImmediate(() => {
      lane.isCalled = false
      void flush(shard, lane)
    })
  }

  return {
    append: (items) => {
      if (items.length === 0) return Promise.resolve([])
      const shard = databases.shardOf(items[0]!.event.executionId)
      const lane = lanes[shard]!
      if (lane.waitingEvents + items.length > WAITING_EVENTS_MAX) {
        return Promise.reject(overloaded(`${lane.waitingEvents} events already wait to be written`))
      }
      const bytes = bytesOf(items)
      // Alone it may be of any size that was let in.
      if (heldBytes > 0 && heldBytes + bytes > heldBytesMax) {
        return Promise.reject(overloaded(`events of ${Math.round(heldBytes / 1e6)} MB already wait to be written`))
      }
      return new Promise((resolve, reject) => {
        lane.waiting.push({ items: withoutSecrets(items, context), bytes, resolve, reject })
        lane.waitingEvents += items.length
        heldBytes += bytes
        pump(shard, lane)
      })
    },
    appendWith: transactions.writeWith,
    onAppended: transactions.onAppended,
    followBy: transactions.followBy,
  }
}

function overloaded(reason: string): CpError {
  return new CpError('overloaded', `${reason}; try again`, { details: { retryAfterSeconds: 1 } })
}

function partsWeight({ written, context, result, meta }: EventRecord): number {
  if (written === undefined) return jsonWeight(context) + jsonWeight(result) + jsonWeight(meta)
  const texts = [...Object.values(written.parts), ...Object.values(written.checked ?? {}), written.hidden]
  return texts.reduce((sum: number, text) => sum + (text?.length ?? 0), 0)
}

function bytesOf(items: readonly AppendItem[]): number {
  let sum = 0
  for (const { event } of items) {
    sum += EVENT_BYTES + partsWeight(event)
    sum += jsonWeight(event.error ?? '') + jsonWeight(event.stackTrace ?? '')
  }
  return sum
}

function takeJobs(lane: Lane): Job[] {
  let events = 0
  let bytes = 0
  let count = 0
  for (const job of lane.waiting) {
    const fits = events + job.items.length <= BATCH_EVENTS_MAX && bytes + job.bytes <= BATCH_BYTES_MAX
    if (count > 0 && !fits) break
    events += job.items.length
    bytes += job.bytes
    count += 1
  }
  lane.waitingEvents -= events
  return lane.waiting.splice(0, count)
}
