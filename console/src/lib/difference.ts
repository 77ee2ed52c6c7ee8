// Where two values differ, leaf by leaf, with the address of each as a JSON pointer.
import { isBranch, isNumber, type Json } from './losslessJson'

export interface Difference {
  pointer: string
  /** Undefined: it was not there. */
  from?: Json | undefined
  to?: Json | undefined
}

export function differencesOf(from: Json | undefined, to: Json | undefined, pointer: string): Difference[] {
  if (isWhole(from) || isWhole(to)) return isSame(from, to) ? [] : [{ pointer, from, to }]
  const [left, right] = [fieldsOf(from), fieldsOf(to)]
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) =>
    differencesOf(left.get(name), right.get(name), `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}

/** Of something new, what it has; a long list of what it has not says nothing. Of something that is gone, what it had. */
export function leavesOf({ pointer, from, to }: Difference): Difference[] {
  const leaves = differencesOf(from, to, pointer)
  return from === undefined || to === undefined ? leaves.filter((leaf) => !isNothing(leaf.to ?? leaf.from)) : leaves
}

function isNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || (isBranch(value) && Object.keys(value).length === 0)
}

/** A leaf, or a branch without leaves. */
function isWhole(value: Json | undefined): boolean {
  return value !== undefined && (!isBranch(value) || Object.keys(value).length === 0)
}

function fieldsOf(value: Json | undefined): Map<string, Json> {
  return new Map(value === undefined || !isBranch(value) ? [] : Object.entries(value))
}

function isSame(from: Json | undefined, to: Json | undefined): boolean {
  if (from === undefined || to === undefined) return false
  if (isNumber(from) && isNumber(to)) return from.value === to.value
  if (isBranch(from) && isBranch(to)) return Array.isArray(from) === Array.isArray(to) && isWhole(from) && isWhole(to)
  return from === to
}
