// Waits on a condition instead of sleeping. The last answer is part of the failure.

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
