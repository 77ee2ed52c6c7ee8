// Remembers the results of functions, of text and of nothing. Bounded: long texts are not kept, and all are forgotten when there are
// too many.

export interface MemoLimits {
  entriesMax: number
  textLengthMax: number
}

export function rememberByText<T>(
  compute: (text: string) => T,
  { entriesMax, textLengthMax }: MemoLimits = { entriesMax: 1_024, textLengthMax: 200 },
): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const answer = compute(text)
    if (text.length > textLengthMax) return answer
    if (known.size >= entriesMax) known.clear()
    known.set(text, answer)
    return answer
  }
}

/** Made when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
