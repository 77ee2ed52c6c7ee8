// How a worker thread reaches a database: connection settings as plain data that survives the way between
// threads. Functions do not, so the one that TLS may need is named and made again on this side.
import { type Connection, type ConnectionSettings, createConnection } from '../../../db/connection.js'
import { statement } from '../../../db/queries.js'
import type { WireTime } from '../../../domain/events/wireTime.js'
import { CpError } from '../../../errors.js'
import { readOpenSince } from '../../../stores/replay/replayStore.js'

export interface WorkerDatabase {
  target: ConnectionSettings['target']
  tls: false | Omit<Exclude<ConnectionSettings['tls'], false>, 'checkServerIdentity'>
  /** verify-ca: the chain is checked, the name in the certificate is not. */
  ignoresServerName: boolean
  applicationName: string
  connectTimeoutMs: number
  statementTimeoutMs: number
  prepare: boolean
}

export function toWorkerDatabase(settings: ConnectionSettings): WorkerDatabase {
  const { target, applicationName, connectTimeoutMs, statementTimeoutMs, prepare } = settings
  const common = { target, applicationName, connectTimeoutMs, statementTimeoutMs, prepare }
  if (settings.tls === false) return { ...common, tls: false, ignoresServerName: false }
  const { checkServerIdentity, ...tls } = settings.tls
  return { ...common, tls, ignoresServerName: checkServerIdentity !== undefined }
}

/** The same settings again, on the other side. */
export function openSettings({ ignoresServerName, tls, ...settings }: WorkerDatabase): ConnectionSettings {
  return {
    ...settings,
    tls: tls === false || !ignoresServerName ? tls : { ...tls, checkServerIdentity: () => undefined },
  }
}

export interface Snapshot {
  connection: Connection
  /** What came in before this is visible here, once and for all; null when nobody asked. */
  openSince: WireTime | null
  /** What is left of the time given. */
  leftMs(): number
}

const BEGIN = statement('begin isolation level repeatable read read only')
const COMMIT = statement('commit')
const CLOSE_MS = 1_000

/** Runs the work on a connection of its own, on one unchanging view of the log. */
export async function onSnapshot<T>(
  database: WorkerDatabase,
  deadlineMs: number,
  work: (snapshot: Snapshot) => Promise<T>,
  { asksOpenSince = false }: { asksOpenSince?: boolean } = {},
): Promise<T> {
  const connection = createConnection(openSettings(database))
  const started = performance.now()
  const leftMs = (): number => {
    const left = deadlineMs - (performance.now() - started)
    if (left <= 0) throw new CpError('timeout', `the replay did not finish within ${deadlineMs / 1000} s`)
    return left
  }
  try {
    // Before the view is taken: afterwards it would be too late to see what was open then.
    const openSince = asksOpenSince ? await readOpenSince(connection, leftMs()) : null
    await connection.run(BEGIN, [], leftMs())
    const result = await work({ connection, leftMs, openSince })
    if (!connection.isBroken()) await connection.run(COMMIT, [], leftMs())
    await connection.close(CLOSE_MS)
    return result
  } catch (error) {
    // Pages may still be on their way; nobody waits for them any more.
    connection.discard()
    throw error
  }
}
