// Where in a JSON value a text stands, in a key or in a value. Places are JSON pointers.
import { isBranch, isNumber, type Json } from './losslessJson'

/** More are not looked at one by one. */
const PLACES_MAX = 1_000

export interface Found {
  places: ReadonlySet<string>
  /** The branches on the way to them. */
  ways: ReadonlySet<string>
  /** There may be more. */
  isCut: boolean
}

export function pointerTo(parent: string, key: string): string {
  return `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** What is neither list nor object, as text. */
export function leafText(value: Json): string {
  return isNumber(value) ? value.value : String(value)
}

export function findInJson(value: Json, text: string): Found {
  const wanted = text.toLowerCase()
  const has = (part: string): boolean => part.toLowerCase().includes(wanted)
  const places = new Set<string>()
  const ways = new Set<string>()
  const visit = (branch: Json, pointer: string): void => {
    for (const [key, child] of Object.entries(branch as object) as [string, Json][]) {
      if (places.size === PLACES_MAX) return
      const at = pointerTo(pointer, key)
      // The number of an item is no word of the value.
      const isHit = (!Array.isArray(branch) && has(key)) || (!isBranch(child) && has(leafText(child)))
      if (isHit) places.add(at)
      const before = places.size
      if (isBranch(child)) visit(child, at)
      if (isHit || places.size > before) ways.add(pointer)
      if (places.size > before) ways.add(at)
    }
  }
  if (isBranch(value)) visit(value, '')
  else if (has(leafText(value))) places.add('')
  return { places, ways, isCut: places.size === PLACES_MAX }
}
