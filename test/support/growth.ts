// How the time of a piece of work grows with its input: the ratio of twice the size to the size. Processor time, not
// the clock on the wall: a busy machine must not decide.

/** Below this nothing can be told from the noise, and nobody is kept waiting. */
const NOTICEABLE_MS = 30
const RUNS = 3
const SIZES_MOST = 3
/** What takes this long is no noise. */
const CERTAIN_MS = 150

export interface Growth {
  ratio: number
  ms: number
}

/** Undefined when even twice the size costs next to nothing. */
export function growthOf(work: (size: number) => () => unknown, size: number, ratioMax: number): Growth | undefined {
  let growth: Growth | undefined
  // What grows too fast does so at every size, and the longer it takes the less can be noise: two sizes at least decide.
  for (let doubled = 0; doubled < SIZES_MOST; doubled++) {
    growth = growthAt(work, size * 2 ** doubled, ratioMax)
    if (growth === undefined || growth.ratio <= ratioMax) return growth
    if (doubled > 0 && growth.ms > CERTAIN_MS) return growth
  }
  return growth
}

function growthAt(work: (size: number) => () => unknown, size: number, ratioMax: number): Growth | undefined {
  const twice = work(size * 2)
  if (cost(twice) < NOTICEABLE_MS) return undefined
  // The first run also paid for the compiler.
  const ms = cost(twice)
  if (ms < NOTICEABLE_MS) return undefined
  const once = work(size)
  // Noise only ever adds: the least of several runs is the cost itself. In the size it would hide a growth, so that is run
  // several times in any case; in twice the size it only feigns one.
  const least = { once: Number.POSITIVE_INFINITY, twice: ms }
  const ratio = (): number => least.twice / Math.max(least.once, 0.01)
  for (let run = 0; run < RUNS; run++) {
    least.once = Math.min(least.once, cost(once))
    if (ratio() > ratioMax) least.twice = Math.min(least.twice, cost(twice))
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
