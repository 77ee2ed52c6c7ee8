// The daemons under test: the built binary, each behind network links of its own, with orders from outside.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Daemon, EndedEarly, startDaemon } from '../test/support/binary.js'
import { startTcpProxy, type TcpProxy } from '../test/support/tcpProxy.js'
import type { Journal } from './journal.js'

export interface LabDaemon {
  readonly name: string
  readonly links: { postgres: TcpProxy[]; nats: TcpProxy[] }
  /** Undefined while it is down. */
  running(): Daemon | undefined
  isFrozen(): boolean
  /** Grows with every stop, kill and freeze: whoever waited across one has no reason to complain. */
  interruptions(): number
  start(): Promise<void>
  kill(): Promise<void>
  /** As an operator stops it; answers the exit code. */
  stop(): Promise<number | null>
  /** What it said on standard error before it was last stopped. */
  lastWords(): string
  freeze(): void
  thaw(): void
  order(order: { clock?: number; thread?: number }): Promise<void>
  closeLinks(): Promise<void>
}

export interface LabDaemonOptions {
  name: string
  folder: string
  shardUrls: readonly string[]
  natsPorts: readonly number[]
  env: Record<string, string>
  journal: Journal
}

const PRELOAD = fileURLToPath(new URL('./preload/orders.mjs', import.meta.url))
/** A dependency is away: the documented answer of a start, worth another try. */
const UNAVAILABLE = 69
const START_TRIES = 60
const FORCED_STOP_MS = 60_000

export async function createDaemon(options: LabDaemonOptions): Promise<LabDaemon> {
  const { name, journal } = options
  const orders = join(options.folder, `orders-${name}.json`)
  const postgres = await Promise.all(
    options.shardUrls.map((url) => startTcpProxy('127.0.0.1', Number(new URL(url).port))),
  )
  const nats = await Promise.all(options.natsPorts.map((port) => startTcpProxy('127.0.0.1', port)))
  const through = (url: string, proxy: TcpProxy): string => {
    const link = new URL(url)
    link.port = String(proxy.port)
    return link.toString()
  }
  const env = {
    ...options.env,
    CHAOS_ORDERS: orders,
    NOETL_SHARDS: options.shardUrls.map((url, index) => through(url, postgres[index]!)).join(','),
    NOETL_NATS_URL: nats.map((proxy) => `nats://127.0.0.1:${proxy.port}`).join(','),
  }
  let daemon: Daemon | undefined
  let frozen = false
  let interruptions = 0
  let lastWords = ''

  async function launch(): Promise<Daemon> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await startDaemon([], { env, preload: [PRELOAD], timeoutMs: 120_000 })
      } catch (error) {
        if (!(error instanceof EndedEarly) || error.result.code !== UNAVAILABLE || attempt >= START_TRIES) throw error
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
    }
  }

  /** Takes the daemon away from the clients before anything is done to it. */
  function takeDown(): Daemon | undefined {
    const victim = daemon
    daemon = undefined
    interruptions += 1
    return victim
  }

  return {
    name,
    links: { postgres, nats },
    running: () => daemon,
    isFrozen: () => frozen,
    interruptions: () => interruptions,
    start: async () => {
      if (daemon !== undefined) return
      const started = await launch()
      daemon = started
      void started.finished.then((result) => {
        if (daemon !== started) return
        daemon = undefined
        journal.report({
          invariant: 'I7',
          kind: 'crashed',
          message: `daemon ${name} ended by itself with ${result.code ?? result.signal}:\n${result.stderr.slice(-2_000)}${result.stdout.slice(-2_000)}`,
        })
      })
    },
    kill: async () => {
      await takeDown()?.stop('SIGKILL')
    },
    stop: async () => {
      const victim = takeDown()
      if (victim === undefined) return 0
      const forced = setTimeout(() => victim.signal('SIGKILL'), FORCED_STOP_MS)
      const { code, stderr } = await victim.stop('SIGTERM')
      clearTimeout(forced)
      lastWords = stderr.slice(-2_000)
      return code
    },
    lastWords: () => lastWords,
    freeze: () => {
      frozen = true
      interruptions += 1
      daemon?.signal('SIGSTOP')
    },
    thaw: () => {
      daemon?.signal('SIGCONT')
      interruptions += 1
      frozen = false
    },
    order: async (order) => {
      if (daemon === undefined) return
      await writeFile(orders, JSON.stringify(order))
      daemon.signal('SIGUSR2')
    },
    closeLinks: async () => {
      await Promise.all([...postgres, ...nats].map((proxy) => proxy.close()))
    },
  }
}
