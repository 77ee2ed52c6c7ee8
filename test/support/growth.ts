// How the time of a piece of work grows with its input: the ratio of twice the size to the size. Processor time, not
// the clock on the wall: a busy machine must not decide.

/** Below this nothing can be told from the noise, and nobody is kept waiting. */
const NOTICEABLE_MS = 30
const RUNS = 3
/** Noise only ever makes something look slower. What is quadratic is so every time. */
const TRIES = 10

export interface Growth {
  ratio: number
  ms: number
}

/** Undefined when even twice the size costs next to nothing. */
export function growthOf(work: (size: number) => () => unknown, size: number, ratioMax: number): Growth | undefined {
  const twice = work(size * 2)
  if (cost(twice) < NOTICEABLE_MS) return undefined
  // The first run also paid for the compiler.
  const ms = cost(twice)
  if (ms < NOTICEABLE_MS) return undefined
  const once = work(size)
  cost(once)
  let ratio = medianRatio(twice, once)
  for (let tries = 1; tries < TRIES && ratio > ratioMax; tries++) ratio = Math.min(ratio, medianRatio(twice, once))
  return { ratio, ms }
}

function medianRatio(twice: () => unknown, once: () => unknown): number {
  const ratios = Array.from({ length: RUNS }, () => {
    const less = Math.max(cost(once), 0.01)
    return cost(twice) / less
  })
  return ratios.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!
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
