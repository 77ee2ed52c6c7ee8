// The contract of everything long-lived: a name, start, stop. Stopping twice, or before starting, is fine.

import { withDeadline } from './deadline.js'

export interface Service {
  readonly name: string
  start(): Promise<void>
  /** Stops taking work, finishes what is held, gives back the rest; within the deadline. */
  stop(deadlineMs: number): Promise<void>
}

/** Starts in order. When one fails, those already started are stopped again, last first. */
export async function startAll(services: readonly Service[], stopDeadlineMs: number): Promise<void> {
  const started: Service[] = []
  for (const service of services) {
    try {
      await service.start()
      started.push(service)
    } catch (error) {
      await stopAll(started, stopDeadlineMs)
      throw error
    }
  }
}

const GRACE_MS = 500

/** Stops in reverse order within one common deadline. Every service is stopped even if another fails. */
export async function stopAll(services: readonly Service[], deadlineMs: number): Promise<unknown[]> {
  const until = performance.now() + deadlineMs
  const errors: unknown[] = []
  for (const service of [...services].reverse()) {
    const leftMs = Math.max(200, until - performance.now())
    try {
      // A service that ignores its deadline must not keep the others, and the process, from ending.
      await withDeadline(service.stop(leftMs), leftMs + GRACE_MS, { what: `stopping ${service.name}` })
    } catch (error) {
      errors.push(error)
    }
  }
  return errors
}
