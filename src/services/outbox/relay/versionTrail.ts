// Tells whether a row directly follows the last one read of its execution. Stream versions are dense and given out under
// a lock: if the version is one higher, no earlier row can still appear, and the reader need not ask the table. Rows of
// other writers have no version; after the first of them the answer is always no.
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
