// How the time of a piece of work grows with its input: the ratio of four times the size to the size, 4 for what is linear and
// 16 for what grows with the square, with room for noise between them. Processor time, not the clock on the wall: a busy
// machine must not decide.

/** More is not linear. */
export const RATIO_MAX = 8
/** Of the sizes that are compared. */
const TIMES = 4

/** Below this nothing can be told from the noise, and nobody is kept waiting. */
const NOTICEABLE_MS = 30
const RUNS = 6
const SIZES_MOST = 3
/** What takes this long is no noise. */
const CERTAIN_MS = 150

export interface Growth {
  ratio: number
  ms: number
}

/** Undefined when even the larger size costs next to nothing. */
export function growthOf(work: (size: number) => () => unknown, size: number): Growth | undefined {
  let growth: Growth | undefined
  // What grows too fast does so at every size, and the longer it takes the less can be noise: two sizes at least decide.
  for (let doubled = 0; doubled < SIZES_MOST; doubled++) {
    growth = growthAt(work, size * 2 ** doubled)
    if (growth === undefined || growth.ratio <= RATIO_MAX) return growth
    if (doubled > 0 && growth.ms > CERTAIN_MS) return growth
  }
  return growth
}

function growthAt(work: (size: number) => () => unknown, size: number): Growth | undefined {
  const large = work(size * TIMES)
  if (cost(large) < NOTICEABLE_MS) return undefined
  // The first run also paid for the compiler.
  const ms = cost(large)
  if (ms < NOTICEABLE_MS) return undefined
  const once = work(size)
  // Noise only ever adds: the least of several runs is the cost itself. In the size it would hide a growth, so that is run
  // several times in any case; in the larger one it only feigns one.
  const least = { once: Number.POSITIVE_INFINITY, large: ms }
  const ratio = (): number => least.large / Math.max(least.once, 0.01)
  for (let run = 0; run < RUNS; run++) {
    least.once = Math.min(least.once, cost(once))
    if (ratio() <= RATIO_MAX) continue
    if (run > 0 && least.large > CERTAIN_MS) break
    least.large = Math.min(least.large, cost(large))
  }
  return { ratio: ratio(), ms }
}

/** Milliseconds of processor time. */
function cost(work: () => unknown): number {
  const before = process.cpuUsage()
  try {
    work()
  } catch {
    // A refusal is an answer, too; what counts is how long it took.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
