// How long something took, for programs and for people.

export function lastedSeconds(startMs: number, endMs: number): number {
  return Math.max(0, endMs - startMs) / 1000
}

/** "850ms", "12.3s", "4m 5s", "2h 0m 9s". */
export function lastedText(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)}ms`
  if (seconds < 60) return `${Math.floor(seconds * 10) / 10}s`
  const whole = Math.floor(seconds)
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m ${whole % 60}s`
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m ${whole % 60}s`
}
