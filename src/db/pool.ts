// A pool of single-connection clients. Waiting is bounded in time and in length, broken connections are
// discarded and replaced on demand, and a stopped server cannot hang a caller beyond its deadline.
import { describeTarget } from '../domain/shards/databaseTarget.js'
import { CpError } from '../errors.js'
import { type Connection, type ConnectionSettings, createConnection } from './connection.js'
import type { Db, DbStats } from './db.js'
import { runByKey, runTransaction } from './tx.js'

export interface PoolSettings extends Omit<ConnectionSettings, 'onNotify'> {
  max: number
  acquireTimeoutMs: number
  queryTimeoutMs: number
  onQuery?: (outcome: 'ok' | 'error' | 'timeout' | 'unavailable', seconds: number) => void
  onDiscard?: () => void
}

interface Waiter {
  take(connection: Connection): void
  fail(error: CpError): void
}

// More callers than this are not waiting, they are an outage; telling them at once is kinder.
const WAITING_MAX = 2000

export function createPool(settings: PoolSettings): Db {
  const name = describeTarget(settings.target)
  const idle: Connection[] = []
  const waiting: Waiter[] = []
  const busy = new Set<Connection>()
  let open = 0
  let closed = false
  let onDrained: (() => void) | undefined

  function acquire(timeoutMs = settings.acquireTimeoutMs): Promise<Connection> {
    if (closed) return Promise.reject(new CpError('unavailable', `the pool of ${name} is closed`))
    const ready = takeIdle()
    if (ready !== undefined) return Promise.resolve(handOut(ready))
    if (open < settings.max) {
      open += 1
      return Promise.resolve(handOut(createConnection(settings)))
    }
    if (waiting.length >= WAITING_MAX) {
      return Promise.reject(new CpError('overloaded', `${WAITING_MAX} calls already wait for a connection to ${name}`))
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (connection) => {
          clearTimeout(timer)
          resolve(connection)
        },
        fail: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(
          new CpError(
            'overloaded',
            `no connection to ${name} became free within ${timeoutMs} ms; raise POSTGRES_MAX_CONNECTIONS (now ${settings.max}) or look for slow queries`,
          ),
        )
      }, timeoutMs)
      waiting.push(waiter)
    })
  }

  function handOut(connection: Connection): Connection {
    busy.add(connection)
    return connection
  }

  function takeIdle(): Connection | undefined {
    for (;;) {
      const connection = idle.pop()
      if (connection === undefined || !connection.isBroken()) return connection
      forget()
    }
  }

  function release(connection: Connection): void {
    let usable: Connection | undefined = connection
    busy.delete(connection)
    if (connection.isBroken()) {
      forget()
      usable = undefined
    }
    if (closed) {
      if (usable !== undefined) {
        open -= 1
        void usable.close(1000)
      }
      if (open === 0) onDrained?.()
      return
    }
    const waiter = waiting.shift()
    if (waiter === undefined) {
      if (usable !== undefined) idle.push(usable)
      return
    }
    if (usable === undefined) open += 1
    waiter.take(handOut(usable ?? createConnection(settings)))
  }

  function forget(): void {
    open -= 1
    settings.onDiscard?.()
  }

  async function measured<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now()
    let outcome: 'ok' | 'error' | 'timeout' | 'unavailable' = 'ok'
    try {
      return await work()
    } catch (error) {
      const code = error instanceof CpError ? error.code : 'internal'
      outcome = code === 'timeout' || code === 'unavailable' ? code : 'error'
      throw error
    } finally {
      settings.onQuery?.(outcome, (performance.now() - started) / 1000)
    }
  }

  return {
    name,
    run: (query, values = [], options = {}) =>
      measured(async () => {
        const deadlineMs = options.deadlineMs ?? settings.queryTimeoutMs
        const started = performance.now()
        const connection = await acquire(Math.min(deadlineMs, settings.acquireTimeoutMs))
        try {
          // One deadline for both: what was spent waiting is not given again.
          const leftMs = Math.max(1, deadlineMs - (performance.now() - started))
          // Nothing is planned beforehand behind a pooler that keeps no statements.
          const isPlannedByKey = query.planByKey === true && settings.prepare
          return await (isPlannedByKey
            ? runByKey(connection, query, values, leftMs)
            : connection.run(query, values, leftMs))
        } finally {
          release(connection)
        }
      }),
    tx: (work, options = {}) =>
      measured(() => runTransaction({ acquire, release, queryTimeoutMs: settings.queryTimeoutMs }, work, options)),
    stats: (): DbStats => ({ open, inUse: open - idle.length, waiting: waiting.length }),
    close: async (deadlineMs) => {
      if (closed) return
      closed = true
      for (const waiter of waiting.splice(0)) waiter.fail(new CpError('unavailable', `the pool of ${name} is closing`))
      const resting = idle.splice(0)
      open -= resting.length
      const rested = Promise.all(resting.map((connection) => connection.close(deadlineMs)))
      // Beside each other: one deadline for those at rest and those at work.
      if (open === 0) return void (await rested)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          // Their callers are told at once; an open socket would keep the process alive.
          for (const connection of busy) connection.discard()
          resolve()
        }, deadlineMs)
        onDrained = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      await rested
    },
  }
}
