// RFC 6901 pointers: how an error or a difference names a place inside a JSON document.

export function jsonPointer(path: readonly (string | number)[]): string {
  let pointer = ''
  for (const segment of path) pointer += `/${escapeSegment(segment)}`
  return pointer
}

export function escapeSegment(segment: string | number): string {
  if (typeof segment === 'number') return String(segment)
  // Almost no key has either character, and most callers name every key of a document.
  if (!segment.includes('~') && !segment.includes('/')) return segment
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}
