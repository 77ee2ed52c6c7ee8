// Connections of postgres tools: a pool per credential, each bounded, and closed when nobody uses it. A connection is handed
// on only after everything that its last user may have left behind is reset; one that broke is thrown away.
import { type Connection, createConnection } from '../../db/connection.js'
import { tlsOptions } from '../../db/tls.js'
import { type DatabaseTarget, describeTarget } from '../../domain/shards/databaseTarget.js'
import { ARRAYS, JSON_TYPES, StructuredParam } from '../../domain/tool/pgValues.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { toPgFailure } from './pgFailure.js'

export interface PgPools {
  /**
   * The connection is cut when the signal aborts. Whoever needs a second one while it holds a first takes it by another purpose,
   * from a pool of its own: waiting for each other's second ones all would wait for ever.
   */
  use<T>(
    target: DatabaseTarget,
    signal: AbortSignal,
    timeoutMs: number,
    work: (connection: Connection) => Promise<T>,
    purpose?: string,
  ): Promise<T>
  stats(): { open: number; waiting: number }
  close(): Promise<void>
}

const CONNECTIONS_MAX = 16
const IDLE_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
const RESET_DEADLINE_MS = 5_000
const CLOSE_DEADLINE_MS = 2_000
/** The server knows no longer one. */
const STATEMENT_MS_MAX = 2_147_483_647
export const PG_BYTES_MAX = 64 * 1024 * 1024

const asText = (value: unknown): string => (typeof value === 'boolean' ? (value ? 't' : 'f') : String(value))
const asIs = (text: string): string => text

/** Every parameter is a text for which the server knows the type, except lists where it wants an array. */
const TYPES = {
  text: { to: 25, from: [16, 17, 1082, 1114, 1184, ...JSON_TYPES], serialize: asText, parse: asIs },
  array: {
    to: 1009,
    from: [...ARRAYS.keys()],
    serialize: (value: unknown) => (value instanceof StructuredParam ? value.arrayText() : asText(value)),
    parse: asIs,
  },
}

export function createPgPools(applicationName: string): PgPools {
  const pools = new Map<string, PgPool>()
  return {
    use: async (target, signal, timeoutMs, work, purpose = '') => {
      const key = JSON.stringify([
        purpose,
        target.host,
        target.port,
        target.user,
        target.password,
        target.database,
        target.sslMode,
      ])
      let pool = pools.get(key)
      if (pool === undefined) {
        pool = new PgPool(target, applicationName, () => pools.delete(key))
        pools.set(key, pool)
      }
      return pool.use(signal, timeoutMs, work)
    },
    stats: () => {
      const all = [...pools.values()].map((pool) => pool.stats())
      return {
        open: all.reduce((sum, { open }) => sum + open, 0),
        waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
      }
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.close()))
    },
  }
}

class PgPool {
  private readonly idle: { connection: Connection; timer: NodeJS.Timeout }[] = []
  private readonly waiting: ((connection: Connection | undefined) => void)[] = []
  private open = 0

  constructor(
    private readonly target: DatabaseTarget,
    private readonly applicationName: string,
    private readonly onEmpty: () => void,
  ) {}

  stats(): { open: number; waiting: number } {
    return { open: this.open, waiting: this.waiting.length }
  }

  async use<T>(signal: AbortSignal, timeoutMs: number, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.acquire(signal)
    const onAbort = (): void => connection.discard()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      if (signal.aborted) throw signal.reason
      await prepare(connection, timeoutMs)
      return await work(connection)
    } catch (error) {
      throw signal.aborted ? signal.reason : toPgFailure(error)
    } finally {
      signal.removeEventListener('abort', onAbort)
      // Nobody waits for it: the next user gets another connection, or this one when it is clean.
      void this.release(connection)
    }
  }

  private async acquire(signal: AbortSignal): Promise<Connection> {
    if (signal.aborted) throw signal.reason
    for (let entry = this.idle.pop(); entry !== undefined; entry = this.idle.pop()) {
      clearTimeout(entry.timer)
      if (!entry.connection.isBroken()) return entry.connection
      this.forget()
    }
    if (this.open < CONNECTIONS_MAX) return this.create()
    const given = await new Promise<Connection | undefined>((resolve, reject) => {
      const onAbort = (): void => {
        this.waiting.splice(this.waiting.indexOf(take), 1)
        reject(signal.reason)
      }
      const take = (connection: Connection | undefined): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(connection)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.waiting.push(take)
    })
    return given ?? this.create()
  }

  private create(): Connection {
    this.open += 1
    try {
      return createConnection({
        target: this.target,
        tls: tlsOptions(this.target, { caPath: undefined, sslMode: 'disable' }),
        applicationName: this.applicationName,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        statementTimeoutMs: 0,
        prepare: false,
        types: TYPES,
      })
    } catch (error) {
      this.forget()
      throw new ToolFailure('db_connection', `${describeTarget(this.target)}: ${(error as Error).message}`)
    }
  }

  private async release(connection: Connection): Promise<void> {
    const isClean = !connection.isBroken() && (await reset(connection))
    if (!isClean) {
      connection.discard()
      this.forget()
      this.waiting.shift()?.(undefined)
      return
    }
    const next = this.waiting.shift()
    if (next !== undefined) return next(connection)
    const entry = { connection, timer: setTimeout(() => this.drop(entry), IDLE_MS) }
    entry.timer.unref()
    this.idle.push(entry)
  }

  private drop(entry: { connection: Connection; timer: NodeJS.Timeout }): void {
    const index = this.idle.indexOf(entry)
    if (index < 0) return
    this.idle.splice(index, 1)
    this.forget()
    void entry.connection.close(CLOSE_DEADLINE_MS)
  }

  private forget(): void {
    this.open -= 1
    if (this.open === 0 && this.waiting.length === 0) this.onEmpty()
  }

  async close(): Promise<void> {
    const idle = this.idle.splice(0)
    for (const { timer } of idle) clearTimeout(timer)
    this.open -= idle.length
    await Promise.all(idle.map(({ connection }) => connection.close(CLOSE_DEADLINE_MS)))
  }
}

/** Ends a statement that runs too long, and, where the server can, one whose client is gone. */
async function prepare(connection: Connection, timeoutMs: number): Promise<void> {
  const limits = { deadlineMs: CONNECT_TIMEOUT_MS, bytesMax: PG_BYTES_MAX }
  await connection.raw(`set statement_timeout = ${Math.min(Math.ceil(timeoutMs), STATEMENT_MS_MAX)}`, [], limits)
  // Servers before 14 and some systems do not know it, and do without.
  void connection.raw('set client_connection_check_interval = 1000', [], limits).catch(() => undefined)
}

/** Whatever the last user left: a transaction, settings, locks, temporary tables. */
async function reset(connection: Connection): Promise<boolean> {
  const limits = { deadlineMs: RESET_DEADLINE_MS, bytesMax: PG_BYTES_MAX }
  try {
    await connection.raw('rollback', [], limits)
    await connection.raw('discard all', [], limits)
    return true
  } catch {
    return false
  }
}
