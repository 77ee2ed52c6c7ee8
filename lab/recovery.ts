// How long after the last heal everything works again: each daemon says it is ready, and the stream grows.
import type { JetStreamManager } from 'nats'
import { until } from '../test/support/until.js'
import type { LabDaemon } from './daemons.js'
import type { Journal } from './journal.js'
import type { Site } from './site.js'
import { STREAM } from './site.js'

/** Nothing in the product waits for longer than a few leases and deadlines. */
const DEADLINE_MS = 180_000
/** On top of the life of the fault. */
const NOT_READY_MS = 15_000

/** Seconds; undefined when it did not happen, which is reported. */
export async function measureRecovery(
  site: Site,
  jsm: JetStreamManager,
  journal: Journal,
  after: string,
): Promise<number | undefined> {
  const begun = journal.seconds()
  let from: number | undefined
  try {
    await until(
      'everything works again',
      async () => {
        const { state } = await jsm.streams.info(STREAM)
        from ??= state.last_seq
        for (const daemon of site.processes) await assertReady(daemon.name, daemon.running()?.url)
        if (state.last_seq <= from) throw new Error(`the stream stays at ${from}`)
        return true
      },
      { timeoutMs: DEADLINE_MS, everyMs: 100 },
    )
    return journal.seconds() - begun
  } catch (error) {
    journal.report({ invariant: 'I8', kind: 'not recovered', message: `after ${after}: ${String(error)}` })
    return undefined
  }
}

/** Whoever cannot work says so, soon: otherwise it is sent more work. */
export async function judgeNotReady(daemons: readonly LabDaemon[], why: string, journal: Journal): Promise<void> {
  await Promise.all(
    daemons.map(async (daemon) => {
      try {
        await until(`daemon ${daemon.name} is not ready`, () => isNotReady(daemon), { timeoutMs: NOT_READY_MS })
      } catch {
        const message = `daemon ${daemon.name} says that it is ready, although ${why}`
        journal.report({ invariant: 'I8', kind: 'wrongly ready', message })
      }
    }),
  )
}

async function isNotReady(daemon: LabDaemon): Promise<boolean> {
  const url = daemon.running()?.url
  if (url === undefined || daemon.isFrozen()) return true
  const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
  return response?.status !== 200
}

export async function assertReady(name: string, url: string | undefined): Promise<void> {
  if (url === undefined) throw new Error(`daemon ${name} is down`)
  const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(10_000) })
  if (response.status !== 200) throw new Error(`daemon ${name}: ${await response.text()}`)
}
