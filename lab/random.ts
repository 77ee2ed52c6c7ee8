// Randomness that a seed repeats. Every part of the lab draws from a stream of its own, so that one more draw in one
// place does not change what happens in another.

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number, both ends included. */
  between(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  shuffled<T>(list: readonly T[]): T[]
  /** An independent stream of this name. */
  fork(name: string): Random
}

export function randomFrom(seed: string): Random {
  let state = hash(seed)
  // mulberry32: small, fast, and good enough to choose victims.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  const random: Random = {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (list) => list[between(0, list.length - 1)]!,
    shuffled: (list) => {
      const copy = [...list]
      for (let last = copy.length - 1; last > 0; last--) {
        const other = between(0, last)
        ;[copy[last], copy[other]] = [copy[other]!, copy[last]!]
      }
      return copy
    },
    fork: (name) => randomFrom(`${seed}/${name}`),
  }
  return random
}

function hash(text: string): number {
  let value = 0x811c9dc5
  for (const char of text) value = Math.imul(value ^ char.codePointAt(0)!, 0x01000193)
  return value
}
