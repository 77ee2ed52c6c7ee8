// Runs retention in the daemon, once at start and then every few hours, when a number of days is configured.
import type { Databases } from '../../db/databases.js'
import type { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { applyRetention } from './retention.js'
import type { RetentionReport } from './retentionPass.js'

export interface RetentionLoopDeps {
  databases: Databases
  clock: Clock
  random: () => number
  olderThanDays: number
  onReport(report: RetentionReport): void
  onError(error: CpError, consecutive: number): void
}

const PASS_MS = 4 * 3_600_000
const RETRY_MS = 60_000
const DAY_MS = 86_400_000

export function createRetentionLoop(deps: RetentionLoopDeps): PollLoop {
  return createPollLoop({
    name: 'retention',
    clock: deps.clock,
    random: deps.random,
    idleMs: PASS_MS,
    errorMs: RETRY_MS,
    errorMsMax: PASS_MS,
    onError: deps.onError,
    runOnce: async (signal) => {
      const reports = await applyRetention(deps.databases, {
        olderThanMs: deps.olderThanDays * DAY_MS,
        dryRun: false,
        signal,
      })
      for (const report of reports) deps.onReport(report)
      const failed = reports.find((report) => report.error !== undefined)
      if (failed?.error !== undefined) throw failed.error
      return 'idle'
    },
  })
}
