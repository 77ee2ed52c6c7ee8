// `until` waits on a condition instead of sleeping; the last answer is part of the failure. `holds` watches something
// that must not happen and fails the moment it does. A slow machine makes both wait longer, never fail.

export interface UntilOptions {
  timeoutMs?: number
  everyMs?: number
}

export async function until<T>(
  what: string,
  condition: () => Promise<T | false | undefined> | T | false | undefined,
  options: UntilOptions = {},
): Promise<T> {
  const deadline = performance.now() + (options.timeoutMs ?? 90_000)
  let last: unknown
  for (;;) {
    try {
      last = await condition()
      if (last !== false && last !== undefined) return last as T
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline) throw new Error(`gave up waiting until ${what}; last: ${String(last)}`)
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 50))
  }
}

/** Fails as soon as the condition is false. Prefer waiting for a later event that proves the same, where there is one. */
export async function holds(
  what: string,
  condition: () => Promise<boolean> | boolean,
  options: { forMs?: number } = {},
): Promise<void> {
  const end = performance.now() + (options.forMs ?? 500)
  do {
    if (!(await condition())) throw new Error(`it no longer holds that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  } while (performance.now() < end)
}
