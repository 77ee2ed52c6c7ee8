// Where two values differ, leaf by leaf, with the address of each as a JSON pointer.
import { pointerTo } from './jsonSearch'
import { isBranch, isNumber, type Json } from './losslessJson'

export interface Difference {
  pointer: string
  /** Undefined: it was not there. */
  from?: Json | undefined
  to?: Json | undefined
}

export function differencesOf(from: Json | undefined, to: Json | undefined, pointer: string): Difference[] {
  if (isWhole(from) || isWhole(to) || isOtherKind(from, to)) return isSame(from, to) ? [] : [{ pointer, from, to }]
  const [left, right] = [fieldsOf(from), fieldsOf(to)]
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) =>
    differencesOf(left.get(name), right.get(name), pointerTo(pointer, name)),
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

/** A list on one side and an object on the other: their places may have the same names. */
function isOtherKind(from: Json | undefined, to: Json | undefined): boolean {
  return from !== undefined && to !== undefined && Array.isArray(from) !== Array.isArray(to)
}

function fieldsOf(value: Json | undefined): Map<string, Json> {
  return new Map(value === undefined || !isBranch(value) ? [] : Object.entries(value))
}

function isSame(from: Json | undefined, to: Json | undefined): boolean {
  if (from === undefined || to === undefined) return false
  if (isNumber(from) && isNumber(to)) return from.value === to.value
  // Branches come here where one of them has no leaves.
  if (isBranch(from) && isBranch(to)) return !isOtherKind(from, to) && isWhole(from) && isWhole(to)
  return from === to
}
