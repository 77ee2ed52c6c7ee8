// One Postgres connection behind a client of its own (`max: 1`), so that a single broken or black-holed
// link can be thrown away without touching the others: the driver has no client-side timeout and its
// pool may hang or crash on a reserved connection that died.
//
// A client gets exactly one socket in its life. The driver would silently reconnect and run what was
// queued outside the transaction it belonged to; here that second socket is refused.
import net from 'node:net'
import postgres from 'postgres'
import { parseJson } from '../domain/json/parse.js'
import { type DatabaseTarget, describeTarget } from '../domain/shards/databaseTarget.js'
import { CpError } from '../errors.js'
import { withDeadline } from '../runtime/deadline.js'
import { encodeParam, type Param } from './params.js'
import { isConnectionError, toDbError } from './pgErrors.js'
import type { Query } from './queries.js'
import type { TlsOptions } from './tls.js'

export interface ConnectionSettings {
  target: DatabaseTarget
  tls: TlsOptions
  applicationName: string
  connectTimeoutMs: number
  statementTimeoutMs: number
  /** False behind PgBouncer in transaction mode: no prepared statements, no session settings. */
  prepare: boolean
  /** How values are written for the server, by type; our own way by default. */
  types?: Readonly<Record<string, TypeHandler>>
  onNotify?: (channel: string, payload: string) => void
  /** Called once when the link is lost, whoever cut it. */
  onClose?: () => void
}

export interface TypeHandler {
  /** The type that it is sent as, and the types it is read from. */
  readonly to: number
  readonly from: readonly number[]
  serialize(value: unknown): unknown
  parse(text: string): unknown
}

export type Rows<R> = R[] & { count: number; command: string }

export interface RawLimits {
  readonly deadlineMs: number
  /** Of all values; more costs the connection. */
  readonly bytesMax: number
}

/** What the server sent: text of each value, and the types of the columns. */
export interface RawRows {
  readonly command: string
  readonly count: number
  /** Undefined for a statement that gives no rows. */
  readonly columns: readonly { readonly name: string; readonly type: number }[] | undefined
  readonly rows: readonly (readonly (Buffer | null)[])[]
}

export interface Connection {
  /** True once the link is gone; every later call fails at once. */
  isBroken(): boolean
  run<R>(query: Query, values: readonly Param[], deadlineMs: number): Promise<Rows<R>>
  /** Hands every row over as it is read and keeps none; for results that are longer than memory should be. */
  each<R>(query: Query, values: readonly Param[], deadlineMs: number, onRow: (row: R) => void): Promise<void>
  /** One statement of somebody else: nothing is known of its types beforehand, nor of its size. */
  raw(text: string, values: readonly unknown[], limits: RawLimits): Promise<RawRows>
  /** Several statements without parameters, for migrations. */
  script(text: string, deadlineMs: number): Promise<void>
  close(deadlineMs: number): Promise<void>
  /** Cuts the link now. Whatever runs on it is rejected. */
  discard(): void
}

const identity = (value: string): string => value

// Timestamps stay text (a JS Date loses microseconds), bigint stays text, json and jsonb are read losslessly.
const TYPES = {
  date: { to: 1184, from: [1082, 1114, 1184], serialize: String, parse: identity },
  json: { to: 3802, from: [114, 3802], serialize: String, parse: parseJson },
}

export function createConnection(settings: ConnectionSettings): Connection {
  const { target } = settings
  const where = describeTarget(target)
  let socket: net.Socket | undefined
  let broken = false
  /** Something was answered. */
  let isUp = false

  function openSocket(): net.Socket {
    if (broken || socket !== undefined) {
      broken = true
      throw Object.assign(new Error('connection lost'), { code: 'CONNECTION_CLOSED' })
    }
    socket = target.host.startsWith('/')
      ? net.connect({ path: `${target.host}/.s.PGSQL.${target.port}` })
      : net.connect({ host: target.host, port: target.port })
    socket.setNoDelay(true)
    return socket
  }

  const session = settings.prepare
    ? {
        statement_timeout: Math.round(settings.statementTimeoutMs),
        idle_in_transaction_session_timeout: 60_000,
        lock_timeout: Math.round(settings.statementTimeoutMs),
      }
    : {}

  const options = {
    host: target.host,
    port: target.port,
    user: target.user,
    password: target.password,
    database: target.database,
    ssl: settings.tls,
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: settings.connectTimeoutMs / 1000,
    backoff: () => 0,
    fetch_types: false,
    prepare: settings.prepare,
    connection: { application_name: settings.applicationName, TimeZone: 'UTC', DateStyle: 'ISO', ...session },
    types: settings.types ?? TYPES,
    onnotice: () => undefined,
    onclose: () => {
      broken = true
      settings.onClose?.()
    },
    onnotify: settings.onNotify,
    socket: openSocket,
  }
  // The driver's types leave out `socket` and `onnotify`, and allow no null lifetime.
  const sql = postgres(options as unknown as postgres.Options<Record<string, postgres.PostgresType>>)

  function discard(): void {
    broken = true
    void sql
      .end({ timeout: 0 })
      .catch(() => undefined) // it is being thrown away; there is nobody left to tell
      .finally(() => socket?.destroy())
  }

  async function guarded<T>(what: string, work: () => PromiseLike<T>, deadlineMs: number): Promise<T> {
    if (broken) throw new CpError('unavailable', `the connection to ${where} was lost`)
    try {
      const result = await withDeadline(work(), deadlineMs, { what: `${what} on ${where}`, onExpire: discard })
      isUp = true
      return result
    } catch (error) {
      if (isConnectionError(error)) discard()
      throw toDbError(error, what, where)
    }
  }

  /**
   * The server cuts every statement at the session's limit, so a call with a longer deadline lifts it first. Until the
   * connection is up this must be waited for: the driver fails only the first statement of a connection that never
   * comes up, and a second one behind it would hang.
   */
  async function limitStatements(ms: number): Promise<void> {
    if (broken) return
    const limited = () => sql.unsafe(`set statement_timeout = ${Math.ceil(ms)}`)
    if (isUp)
      void limited().catch(() => undefined) // the query itself will tell
    else await guarded('set statement_timeout', limited, ms)
  }

  function send(query: Query, values: readonly Param[]) {
    const isPrepared = settings.prepare && query.planEachTime !== true
    return sql.unsafe(query.text, values.map(encodeParam) as never[], { prepare: isPrepared })
  }

  async function run(query: Query, values: readonly Param[], deadlineMs: number): Promise<unknown> {
    const isLong = settings.prepare && deadlineMs > settings.statementTimeoutMs
    if (isLong) await limitStatements(deadlineMs)
    try {
      return await guarded(query.name, () => send(query, values), deadlineMs)
    } finally {
      // Only what was answered needs it; a connection in any other state is thrown away.
      if (isLong && isUp) void limitStatements(settings.statementTimeoutMs)
    }
  }

  async function each(
    query: Query,
    values: readonly Param[],
    deadlineMs: number,
    onRow: (row: never) => void,
  ): Promise<void> {
    // The driver goes on with the next row after one that threw.
    let failure: { error: unknown } | undefined
    const take = (row: unknown): void => {
      if (failure !== undefined) return
      try {
        onRow(row as never)
      } catch (error) {
        failure = { error }
      }
    }
    await guarded(query.name, () => send(query, values).forEach(take), deadlineMs)
    if (failure !== undefined) throw failure.error
  }

  async function raw(text: string, values: readonly unknown[], { deadlineMs, bytesMax }: RawLimits): Promise<RawRows> {
    const rows: (Buffer | null)[][] = []
    let bytes = 0
    const take = (row: unknown): void => {
      for (const value of row as (Buffer | null)[]) bytes += value === null ? 1 : value.length
      if (bytes <= bytesMax) rows.push(row as (Buffer | null)[])
      // There is no way to make the server stop but to leave.
      else discard()
    }
    const sent = () => sql.unsafe(text, values as never[], { prepare: false, simple: false } as object)
    try {
      const result = await guarded('statement', () => sent().raw().forEach(take), deadlineMs)
      const { command, count, columns } = result as unknown as RawRows
      return { command, count, columns: columns ?? undefined, rows }
    } catch (error) {
      if (bytes <= bytesMax) throw error
      throw new CpError('too_large', `the rows are larger than ${bytesMax} bytes; ask for fewer, or store them`)
    }
  }

  return {
    isBroken: () => broken,
    raw,
    run: <R>(query: Query, values: readonly Param[], deadlineMs: number) =>
      run(query, values, deadlineMs) as Promise<Rows<R>>,
    each,
    script: async (text, deadlineMs) => {
      await guarded('script', () => sql.unsafe(text).simple(), deadlineMs)
    },
    close: async (deadlineMs) => {
      if (broken) return discard()
      broken = true
      await sql.end({ timeout: deadlineMs / 1000 }).catch(() => undefined) // closing: the answer changes nothing
      socket?.destroy()
    },
    discard,
  }
}
