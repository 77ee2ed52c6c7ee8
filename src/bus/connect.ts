// One long-lived NATS connection. It is made in the background: the daemon serves without it, outbox
// rows wait, and health says so. A dead link is noticed within seconds (pings), not minutes.
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, credsAuthenticator, Events, type NatsConnection } from 'nats'
import { CpError, messageOf } from '../errors.js'
import type { Clock } from '../runtime/clock.js'
import { withDeadline } from '../runtime/deadline.js'
import type { Log } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { toBusError } from './busErrors.js'
import { connectEnding } from './transport.js'

export interface BusSettings {
  url: string
  user?: string | undefined
  password?: string | undefined
  token?: string | undefined
  credentialsPath?: string | undefined
  tlsCaPath?: string | undefined
  tlsCertPath?: string | undefined
  tlsKeyPath?: string | undefined
  /** Shown by the server in its list of connections. */
  name: string
}

export interface BusDeps {
  clock: Clock
  log: Log
  onReconnect?: () => void
}

export interface Bus extends Service {
  /** The live connection, or an `unavailable` error that says what is wrong. */
  connection(): NatsConnection
  isConnected(): boolean
  /** Waits for the link; rejects after the deadline. For one-shot commands. */
  untilConnected(deadlineMs: number): Promise<void>
  /** A round trip to the server; rejects after the deadline. */
  ping(deadlineMs: number): Promise<void>
  /** Called after the link came back, for those who must catch up. */
  onUp(listener: () => void): void
}

// Two missed pings, two seconds apart: a black-holed link is noticed well within readiness' five seconds.
const PING_INTERVAL_MS = 2_000
const PINGS_OUT_MAX = 1
const CONNECT_TIMEOUT_MS = 3_000
const START_GRACE_MS = 1_000
const RECONNECT_MS = 250
const RECONNECT_MS_MAX = 5_000

export function createBus(settings: BusSettings, deps: BusDeps): Bus {
  const stopping = new AbortController()
  const upListeners: (() => void)[] = []
  let current: NatsConnection | undefined
  let linked = false
  let lastError = 'not connected yet'
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    let failures = 0
    while (!stopping.signal.aborted) {
      try {
        current = await connectEnding(connectionOptions(settings))
        // Asked to stop while the connection was being made: nobody else will close it.
        if (stopping.signal.aborted) return await current.close()
        failures = 0
        isUp()
        await watch(current)
      } catch (error) {
        failures += 1
        lastError = messageOf(error)
        deps.log.warn({ error: lastError }, 'cannot connect to NATS; trying again')
      }
      linked = false
      const pause = Math.min(RECONNECT_MS_MAX, RECONNECT_MS * 2 ** Math.min(failures, 6))
      await deps.clock.sleep(pause, stopping.signal)
    }
  }

  function isUp(): void {
    linked = true
    deps.log.info({ server: current?.getServer() }, 'connected to NATS')
    for (const listener of upListeners) listener()
  }

  /** Follows the connection until it is closed for good; the client reconnects by itself until then. */
  async function watch(connection: NatsConnection): Promise<void> {
    const closed = connection.closed()
    const changes = connection.status()[Symbol.asyncIterator]()
    for (;;) {
      // The status stream does not end with the connection; the promise does.
      const next = await Promise.race([changes.next(), closed.then(() => undefined)])
      if (next === undefined || next.done === true) break
      const status = next.value
      if (status.type === Events.Disconnect || status.type === 'staleConnection') {
        linked = false
        lastError = 'the link to NATS was lost'
        deps.log.warn('lost the link to NATS')
      } else if (status.type === Events.Reconnect) {
        deps.onReconnect?.()
        isUp()
      }
    }
    const error = await closed
    if (error) lastError = messageOf(error)
  }

  async function untilConnected(deadlineMs: number): Promise<void> {
    const until = deps.clock.monotonic() + deadlineMs
    while (!linked) {
      if (deps.clock.monotonic() > until) throw new CpError('unavailable', `NATS is not reachable: ${lastError}`)
      await deps.clock.sleep(20)
    }
  }

  return {
    name: 'nats',
    start: async () => {
      running ??= run()
      // Usually the link is there in milliseconds; a broker that is away does not hold up the start.
      await untilConnected(START_GRACE_MS).catch(() => undefined)
    },
    stop: async (deadlineMs) => {
      stopping.abort()
      const connection = current
      if (connection !== undefined && !connection.isClosed()) {
        // Draining needs a live link; without one there is nothing to wait for.
        const ending = linked ? connection.drain() : connection.close()
        await withDeadline(ending, deadlineMs, { what: 'closing NATS' }).catch(() => connection.close())
      }
      linked = false
      // A first attempt that is under way ends by its own timeout, and closes what it got.
      await Promise.race([running, deps.clock.sleep(deadlineMs)])
    },
    connection: () => {
      if (current === undefined || !linked) {
        throw new CpError('unavailable', `NATS is not reachable: ${lastError}`)
      }
      return current
    },
    isConnected: () => linked,
    untilConnected,
    ping: async (deadlineMs) => {
      if (current === undefined || !linked) throw new CpError('unavailable', `NATS is not reachable: ${lastError}`)
      try {
        await withDeadline(current.flush(), deadlineMs, { what: 'a NATS round trip' })
      } catch (error) {
        throw toBusError(error, 'NATS ping')
      }
    },
    onUp: (listener) => {
      upListeners.push(listener)
    },
  }
}

export function connectionOptions(settings: BusSettings): ConnectionOptions {
  const servers: string[] = []
  let { user, password, token } = settings
  for (const item of settings.url.split(',')) {
    // Credentials inside the URL are taken out: the client would write them into its messages.
    const url = new URL(item.includes('://') ? item.trim() : `nats://${item.trim()}`)
    if (url.password !== '') {
      user ??= decodeURIComponent(url.username)
      password ??= decodeURIComponent(url.password)
    } else if (url.username !== '') {
      token ??= decodeURIComponent(url.username)
    }
    servers.push(`${url.hostname}:${url.port === '' ? 4222 : url.port}`)
  }
  const wantsTls =
    settings.url.includes('tls://') || settings.tlsCaPath !== undefined || settings.tlsCertPath !== undefined
  return {
    servers,
    name: settings.name,
    timeout: CONNECT_TIMEOUT_MS,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: 100,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_OUT_MAX,
    // Without it every request carries an Error with a stack; measured at half the throughput.
    noAsyncTraces: true,
    ...(token === undefined ? {} : { token }),
    ...(user === undefined ? {} : { user, pass: password ?? '' }),
    ...(settings.credentialsPath === undefined
      ? {}
      : { authenticator: credsAuthenticator(readPem(settings.credentialsPath)) }),
    ...(wantsTls
      ? {
          tls: {
            ...(settings.tlsCaPath === undefined ? {} : { caFile: settings.tlsCaPath }),
            ...(settings.tlsCertPath === undefined ? {} : { certFile: settings.tlsCertPath }),
            ...(settings.tlsKeyPath === undefined ? {} : { keyFile: settings.tlsKeyPath }),
          },
        }
      : {}),
  }
}

function readPem(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new CpError('config', `cannot read ${path}: ${messageOf(error)}`, { cause: error })
  }
}
