// RFC 6901 pointers: how an error or a difference names a place inside a JSON document.

export function jsonPointer(path: readonly (string | number)[]): string {
  let pointer = ''
  for (const segment of path) pointer += `/${escapeSegment(segment)}`
  return pointer
}

export function escapeSegment(segment: string | number): string {
  return typeof segment === 'number' ? String(segment) : segment.replaceAll('~', '~0').replaceAll('/', '~1')
}
