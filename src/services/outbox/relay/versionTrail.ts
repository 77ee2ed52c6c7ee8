// Whether a row comes right after the one that was read before it of the same execution. Versions are dense and
// given out under a lock, so the next number proves that no earlier row can still appear, and the question to the
// table can be left out. Rows of other writers carry no version: once one was seen, nothing is proven any more.
export interface VersionTrail {
  /** Takes note of the row; true when nothing of its execution can have been passed over. */
  follows(executionId: string, version: string | null): boolean
  clear(): void
}

const REMEMBERED = 20_000

export function createVersionTrail(remembered = REMEMBERED): VersionTrail {
  const last = new Map<string, number>()
  let isMixed = false

  return {
    follows: (executionId, text) => {
      const version = text === null ? Number.NaN : Number(text)
      if (!Number.isSafeInteger(version) || version < 1) isMixed = true
      if (isMixed) return false
      const before = last.get(executionId) ?? 0
      last.set(executionId, version)
      // Whichever was met first is forgotten first; at worst its next row costs a question.
      if (last.size > remembered) last.delete(last.keys().next().value!)
      return version === before + 1
    },
    clear: () => last.clear(),
  }
}
