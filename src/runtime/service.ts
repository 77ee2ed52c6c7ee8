// The contract of everything long-lived: a name, start, stop. Stopping twice, or before starting, is fine.

import { systemClock } from './clock.js'
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

// The part of the time in which services are stopped one after the other.
const ORDERLY_SHARE = 0.6
// What a service may need to notice that its time is up; small beside the shortest deadline that makes sense.
const GRACE_SHARE = 0.1

/**
 * Stops in reverse order, all within one common deadline. Whoever hangs holds up the others for a while only: then
 * all that are left are told to stop at the same time. Every service is stopped even if another fails.
 */
export async function stopAll(services: readonly Service[], deadlineMs: number): Promise<unknown[]> {
  const began = performance.now()
  const leftMs = (share: number): number => Math.max(1, began + deadlineMs * share - performance.now())
  const errors: unknown[] = []
  const stopping: Promise<void>[] = []

  function stop(service: Service): Promise<void> {
    // A service that ignores its deadline must not keep the process from ending.
    const stopped = withDeadline(service.stop(leftMs(1 - GRACE_SHARE)), leftMs(1), { what: `stopping ${service.name}` })
    const told = stopped.catch((error: unknown) => {
      errors.push(error)
    })
    stopping.push(told)
    return told
  }

  const orderly = new AbortController()
  const timeIsUp = systemClock.sleep(deadlineMs * ORDERLY_SHARE, orderly.signal)
  for (const service of [...services].reverse()) {
    const stopped = stop(service)
    await Promise.race([stopped, timeIsUp])
  }
  orderly.abort()
  await Promise.all(stopping)
  return errors
}
