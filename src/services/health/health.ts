// Watches every dependency in the background and keeps the last answer, so that /readyz is instant and
// turns red by itself within seconds of a loss, whatever hangs. One red check never hides another.
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'

export interface HealthCheck {
  name: string
  /** A failing check that is not required is shown but does not turn readiness red. */
  required: boolean
  /** Resolves with a short remark, or rejects with what is wrong. */
  run(deadlineMs: number): Promise<string>
}

export interface CheckResult {
  name: string
  ok: boolean
  required: boolean
  /** A remark when all is well, the reason otherwise. */
  detail: string
  ms: number
}

export interface HealthReport {
  ready: boolean
  checks: CheckResult[]
}

export interface HealthMonitor extends PollLoop {
  report(): HealthReport
  /** From now on readiness is red: the daemon is going away. */
  drain(): void
  add(check: HealthCheck): void
}

const INTERVAL_MS = 1_000
const CHECK_DEADLINE_MS = 2_000
// Older than this and the monitor itself is stuck; its last good word is worth nothing.
const STALE_MS = 5_000

export interface HealthDeps {
  clock: Clock
  random: () => number
  onResult?: (result: CheckResult) => void
  onChange?: (result: CheckResult) => void
  /** The monitor itself failed; its reports go stale and readiness turns red. */
  onError: (error: CpError) => void
}

export function createHealthMonitor(checks: HealthCheck[], deps: HealthDeps): HealthMonitor {
  const results = new Map<string, CheckResult>()
  let draining = false
  let startedAt: number | undefined

  async function runCheck(check: HealthCheck): Promise<void> {
    const started = deps.clock.monotonic()
    let result: CheckResult
    try {
      const detail = await check.run(CHECK_DEADLINE_MS)
      result = { name: check.name, ok: true, required: check.required, detail, ms: deps.clock.monotonic() - started }
    } catch (error) {
      const detail = toCpError(error).message
      result = { name: check.name, ok: false, required: check.required, detail, ms: deps.clock.monotonic() - started }
    }
    const before = results.get(check.name)
    results.set(check.name, result)
    deps.onResult?.(result)
    if (before !== undefined && before.ok !== result.ok) deps.onChange?.(result)
  }

  const loop = createPollLoop({
    name: 'health',
    clock: deps.clock,
    random: deps.random,
    idleMs: INTERVAL_MS,
    errorMs: INTERVAL_MS,
    errorMsMax: INTERVAL_MS,
    onError: deps.onError,
    runOnce: async () => {
      await Promise.all(checks.map(runCheck))
      return 'idle'
    },
  })

  function report(): HealthReport {
    const list = checks.map(
      (check) =>
        results.get(check.name) ?? {
          name: check.name,
          ok: false,
          required: check.required,
          detail: 'not checked yet',
          ms: 0,
        },
    )
    const age = loop.lastSuccessAgeMs() ?? (startedAt === undefined ? undefined : deps.clock.monotonic() - startedAt)
    if (age !== undefined && age > STALE_MS) {
      list.push({
        name: 'monitor',
        ok: false,
        required: true,
        detail: `no check finished for ${Math.round(age)} ms`,
        ms: 0,
      })
    }
    if (draining) list.push({ name: 'draining', ok: false, required: true, detail: 'the daemon is stopping', ms: 0 })
    return { ready: list.every((check) => check.ok || !check.required), checks: list }
  }

  return {
    ...loop,
    start: async () => {
      // The first answer is there before anybody can ask.
      await Promise.all(checks.map(runCheck))
      startedAt = deps.clock.monotonic()
      await loop.start()
    },
    report,
    drain: () => {
      draining = true
    },
    add: (check) => {
      checks.push(check)
    },
  }
}
