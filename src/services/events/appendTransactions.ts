// One transaction that appends: what must be known is remembered or looked up, what follows from the events is decided and
// written with them, and after the commit everybody who listens is told.
import type { Databases } from '../../db/databases.js'
import type { Tx, TxOptions } from '../../db/db.js'
import { isTerminalEventType } from '../../domain/events/eventType.js'
import { isOwnTrouble, toCpError } from '../../errors.js'
import {
  type AppendContext,
  type AppendItem,
  type AppendOutcome,
  type AppendWishes,
  appendInTx,
  withoutSecrets,
} from './appendInTx.js'
import type { Follower, Following } from './follower.js'
import type { LogNews } from './logNews.js'
import { type Found, lookUp } from './lookUp.js'
import { createRemembered } from './remembered.js'

export interface AppendTransactions {
  /** All items of one shard. */
  write(shard: number, items: readonly AppendItem[]): Promise<AppendOutcome[]>
  /** With further writes. */
  writeWith<T>(executionId: string, work: (tx: Tx, append: AppendHere) => Promise<T>): Promise<T>
  /** Called after every commit with the executions that grew, and the trace that last made each of them grow. */
  onAppended(listener: AppendListener): void
  /** Decides by what is appended, in the same transaction. One at most. */
  followBy(follower: Follower): void
}

export type AppendHere = (items: readonly AppendItem[], wishes?: AppendWishes) => Promise<AppendOutcome[]>

export type AppendListener = (
  shard: number,
  executionIds: ReadonlySet<string>,
  traces: ReadonlyMap<string, string>,
  /** Those of them that have ended by it. */
  ended: ReadonlySet<string>,
  /** What driven executions have grown by; of others, and of those that begin, nothing is told. */
  news: ReadonlyMap<string, LogNews>,
  /** How many were appended in all. */
  events: number,
) => void

const BY_KEY: TxOptions = { byKey: true }

export function createAppendTransactions(databases: Databases, context: AppendContext): AppendTransactions {
  const listeners: AppendListener[] = []
  const remembered = createRemembered()
  let follower: Follower | undefined

  function announce(
    shard: number,
    items: readonly AppendItem[],
    outcomes: readonly AppendOutcome[],
    news: readonly LogNews[],
  ): void {
    const grown = new Set<string>()
    const traces = new Map<string, string>()
    const ended = new Set<string>()
    let events = 0
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.kind !== 'stored') continue
      events += 1
      const { event, trace } = items[index]!
      grown.add(event.executionId)
      if (trace !== undefined) traces.set(event.executionId, trace)
      if (isTerminalEventType(event.eventType)) ended.add(event.executionId)
    }
    if (grown.size > 0) {
      const newsOf = new Map(news.map((one) => [one.executionId, one]))
      for (const listener of listeners) listener(shard, grown, traces, ended, newsOf, events)
    }
  }

  async function write(
    shard: number,
    items: readonly AppendItem[],
    followedBy: Follower | undefined,
  ): Promise<AppendOutcome[]> {
    let news: LogNews[] = []
    let following: Following | undefined
    let followed: readonly AppendOutcome[] = []
    let isTried = false
    let found: Found | undefined
    const recalled = remembered.take(items)
    const follow: AppendWishes['follow'] = async (told, executions) => {
      const asked = await followedBy?.follow(told, executions)
      following = asked
      return (
        asked && {
          ...asked,
          write: (tx, outcomes) => {
            followed = outcomes
            return asked.write(tx, outcomes)
          },
        }
      )
    }
    let outcomes: AppendOutcome[]
    try {
      outcomes = await databases.shards[shard]!.db.tx(async (tx) => {
        news = []
        // Another try has other numbers than those that were decided by.
        following?.settle(false)
        following = undefined
        followed = []
        const isFirst = !isTried
        isTried = true
        // Sent at once, and known by the time of the commit.
        if (isFirst && recalled !== undefined) tx.finishWith(recalled.expect(tx))
        found = isFirst && recalled !== undefined ? recalled.found : await lookUp(tx, items)
        const onNews = (one: LogNews): unknown => news.push(one)
        return appendInTx(tx, items, context, { found, onNews, follow: isFirst ? follow : undefined })
      }, BY_KEY)
    } catch (error) {
      following?.settle(false)
      if (recalled !== undefined && toCpError(error).code === 'conflict')
        remembered.distrust(items[0]!.event.executionId)
      // What followed may be the reason; what was asked for stands alone.
      if (following === undefined || isOwnTrouble(error)) throw error
      return write(shard, items, undefined)
    }
    // It is committed: whatever goes wrong from here on, nothing may be written again.
    // Of what others drive nothing is left: they write as well.
    const isOurs = recalled !== undefined || (following !== undefined && following.taken.length > 0)
    if (isOurs) remembered.leave(found!, following?.issued() ?? [])
    following?.settle(true)
    announce(shard, [...items, ...(following?.items ?? [])], [...outcomes, ...followed], news)
    return outcomes
  }

  /** A foreign writer without our lock may have been faster with the same id; the second look finds its row. */
  async function writeTwice(shard: number, items: readonly AppendItem[]): Promise<AppendOutcome[]> {
    try {
      return await write(shard, items, follower)
    } catch (error) {
      if (toCpError(error).code !== 'conflict') throw error
      return write(shard, items, undefined)
    }
  }

  return {
    write: writeTwice,
    writeWith: async (executionId, work) => {
      const shard = databases.shardOf(executionId)
      const done: { items: readonly AppendItem[]; outcomes: AppendOutcome[]; news: LogNews[] }[] = []
      const result = await databases.shards[shard]!.db.tx(async (tx) => {
        done.length = 0
        return work(tx, async (given, wishes) => {
          const items = withoutSecrets(given, context)
          for (const { event } of items) remembered.forget(event.executionId)
          const news: LogNews[] = []
          const onNews = (one: LogNews): void => {
            news.push(one)
            wishes?.onNews?.(one)
          }
          const outcomes = await appendInTx(tx, items, context, { ...wishes, onNews })
          done.push({ items, outcomes, news })
          return outcomes
        })
      }, BY_KEY)
      for (const { items, outcomes, news } of done) announce(shard, items, outcomes, news)
      return result
    },
    onAppended: (listener) => {
      listeners.push(listener)
    },
    followBy: (given) => {
      follower = given
    },
  }
}
