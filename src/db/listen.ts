// A LISTEN connection of its own. A notification is only a hint: after every (re)connect `onHint` is
// called once, because whatever was sent in between is lost, and polling remains the guarantee.
// A heartbeat notices a black-holed link, which would otherwise stay silent for ever.
import { type CpError, toCpError } from '../errors.js'
import type { Clock } from '../runtime/clock.js'
import type { Service } from '../runtime/service.js'
import { type Connection, type ConnectionSettings, createConnection } from './connection.js'
import { statement } from './queries.js'

export interface ListenerOptions {
  settings: Omit<ConnectionSettings, 'onNotify' | 'onClose'>
  /** A constant of ours, never user input: it becomes an identifier. */
  channel: string
  clock: Clock
  onHint(payload: string | undefined): void
  onError(error: CpError): void
}

const HEARTBEAT_MS = 10_000
const HEARTBEAT_DEADLINE_MS = 5_000
const RECONNECT_MS_MAX = 15_000

export function createListener(options: ListenerOptions): Service & { isListening(): boolean } {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let listening = false

  async function run(): Promise<void> {
    let failures = 0
    while (!stopping.signal.aborted) {
      const lost = new AbortController()
      const connection = createConnection({
        ...options.settings,
        onNotify: (_, payload) => options.onHint(payload),
        onClose: () => lost.abort(),
      })
      try {
        await connection.run(statement(`listen "${options.channel}"`), [], HEARTBEAT_DEADLINE_MS)
        listening = true
        failures = 0
        options.onHint(undefined)
        await beat(connection, lost.signal)
      } catch (error) {
        failures += 1
        if (!stopping.signal.aborted) options.onError(toCpError(error))
      } finally {
        listening = false
        connection.discard()
      }
      await options.clock.sleep(Math.min(RECONNECT_MS_MAX, 250 * 2 ** Math.min(failures, 8)), stopping.signal)
    }
  }

  async function beat(connection: Connection, lost: AbortSignal): Promise<void> {
    const heartbeat = statement('select 1')
    while (!stopping.signal.aborted) {
      await options.clock.sleep(HEARTBEAT_MS, stopping.signal, lost)
      if (!stopping.signal.aborted) await connection.run(heartbeat, [], HEARTBEAT_DEADLINE_MS)
    }
  }

  return {
    name: `listen ${options.channel}`,
    start: async () => {
      running ??= run()
    },
    stop: async () => {
      stopping.abort()
      await running
    },
    isListening: () => listening,
  }
}
