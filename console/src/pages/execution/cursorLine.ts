// The line of the handle and that of the pin: scrubber and timeline have it at the same pixel.

export const LINE = 2

/** Left edge of the line at this place; at either end all of it is inside. */
export function lineAt(place: number, width: number): number {
  return Math.min(width - LINE, Math.max(0, Math.round(place) - LINE / 2))
}
