// Waiting on something outside this process, always with a deadline and always interruptible.
// It must never spin: there is a pause between two looks.

import { setTimeout as sleep } from 'node:timers/promises'
import { CpError } from '../errors.js'

export interface PollLimits {
  everyMs: number
  deadlineMs: number
  signal?: AbortSignal | undefined
}

/** The first defined answer of `probe`, or undefined when the deadline passes first. */
export async function pollUntil<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  limits: PollLimits,
): Promise<T | undefined> {
  const deadline = performance.now() + limits.deadlineMs
  for (;;) {
    if (limits.signal?.aborted) throw new CpError('cancelled', 'the wait was stopped on request')
    const answer = await probe()
    if (answer !== undefined) return answer
    if (performance.now() >= deadline) return undefined
    await pause(limits.everyMs, limits.signal)
  }
}

/** Sleeps; a request to stop ends it early without an error. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
}
