// Spreads what would otherwise happen at the same moment everywhere: a time, give or take a fifth of it.
export function jittered(ms: number, random: () => number): number {
  return ms * (0.8 + 0.4 * random())
}
