// Empties the outbox once, for cron: relays that take free lanes only, until nothing is left or time is up.
// Several at once are safe, also beside a daemon: what others hold is left to them, and waited for.
import { ensureStream } from '../bus/streams.js'
import { CpError, toCpError } from '../errors.js'
import { readClusterId } from '../stores/ids/identityStore.js'
import { countDead } from '../stores/outbox/outboxAdminStore.js'
import { hasUnsettled } from '../stores/outbox/outboxStore.js'
import { buildCore } from './core.js'
import type { Deps } from './deps.js'
import { wantedStream } from './endpoints.js'
import { buildRelays } from './relays.js'

export interface DrainOptions {
  /** The daemon's address, for references to payloads too large for the stream. */
  httpUrl: string
  maxSeconds: number
  /** Never more than this many are published by this call, in all shards together. */
  maxRows: number | undefined
  shard: number | undefined
  signal: AbortSignal
  onProgress(published: number): void
}

export type DrainEnd = 'empty' | 'time' | 'rows' | 'stopped'

export interface Drained {
  end: DrainEnd
  /** By this command; others may have published beside it. */
  published: number
  dead: number
  seconds: number
}

const CONNECT_MS = 5_000
const STOP_MS = 10_000
const CHECK_MS = 20
// Longer than a restart of Postgres.
const SILENCE_MS_MAX = 15_000

export async function drainOutbox(deps: Deps, options: DrainOptions): Promise<Drained> {
  const { bus, clock, config } = deps
  if (bus === undefined) throw new CpError('config', 'NATS is not configured; set NOETL_NATS_URL')
  const databases = deps.databases.shards.filter((_, shard) => options.shard === undefined || options.shard === shard)
  if (databases.length === 0)
    throw new CpError('invalid_input', `--shard must be from 0 to ${deps.databases.shards.length - 1}`)
  const started = clock.monotonic()
  const clusterId = await readClusterId(deps.databases.cluster.db)
  await bus.untilConnected(CONNECT_MS)
  const { limits } = await ensureStream(bus.connection(), wantedStream(config))

  const { relays } = buildRelays(deps, buildCore(deps, 'oneShot'), bus, {
    clusterId,
    share: false,
    maxRows: options.maxRows,
    shard: options.shard,
    httpUrl: () => options.httpUrl,
    stream: () => limits,
  })
  const published = (): number => Number(relays.reduce((sum, relay) => sum + relay.stats().published, 0n))
  let heardAt = started

  async function isEmpty(): Promise<boolean> {
    const answers = await Promise.allSettled(databases.map(({ db }) => hasUnsettled(db)))
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (failed === undefined) heardAt = clock.monotonic()
    else if (clock.monotonic() - heardAt > SILENCE_MS_MAX) throw toCpError(failed.reason)
    return answers.every((answer) => answer.status === 'fulfilled' && !answer.value)
  }

  async function watch(): Promise<DrainEnd> {
    for (;;) {
      options.onProgress(published())
      if (await isEmpty()) return 'empty'
      if (options.signal.aborted) return 'stopped'
      if (options.maxRows !== undefined && published() >= options.maxRows) return 'rows'
      if (clock.monotonic() - started > options.maxSeconds * 1000) return 'time'
      await clock.sleep(CHECK_MS, options.signal)
    }
  }

  let end: DrainEnd
  try {
    // Nothing to do needs no lanes: the usual answer of a cron job.
    if (!(await isEmpty())) await Promise.all(relays.map((relay) => relay.start()))
    end = await watch()
  } finally {
    await Promise.all(relays.map((relay) => relay.stop(STOP_MS)))
  }
  // What was on its way when we stopped may have been the last.
  if (end !== 'empty' && (await isEmpty())) end = 'empty'
  if (end !== 'empty' && !bus.isConnected()) throw new CpError('unavailable', 'NATS went away; rows are left')
  const dead = await Promise.all(databases.map(({ db }) => countDead(db)))
  return {
    end,
    published: published(),
    dead: dead.reduce((sum, count) => sum + count, 0),
    seconds: (clock.monotonic() - started) / 1000,
  }
}
