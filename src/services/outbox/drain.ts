// Empties the outbox once, for cron: relays that take free lanes only, until nothing is left or time is up.
// Several at once are safe, also beside a daemon: what others hold is left to them, and waited for.
import type { Bus } from '../../bus/connect.js'
import type { NamedDatabase } from '../../db/databases.js'
import { CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { countDead } from '../../stores/outbox/outboxAdminStore.js'
import { hasUnsettled } from '../../stores/outbox/outboxStore.js'
import type { Relay } from './relay/relay.js'

export interface DrainDeps {
  bus: Bus
  clock: Clock
  /** The shards to empty, and a relay for each. */
  databases: readonly NamedDatabase[]
  relays: readonly Relay[]
}

export interface DrainLimits {
  maxSeconds: number
  /** Never more than this many are published by this call, in all shards together: the relays have that allowance. */
  maxRows: number | undefined
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

const STOP_MS = 10_000
const CHECK_MS = 20
// Longer than a restart of Postgres.
const SILENCE_MS_MAX = 15_000

export async function drainOutbox(
  { bus, clock, databases, relays }: DrainDeps,
  options: DrainLimits,
): Promise<Drained> {
  const started = clock.monotonic()
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
