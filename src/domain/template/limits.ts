// The bounds of one template and of one render. Templates come from strangers: whatever is written into them, a
// render ends soon and keeps little memory.

import { fault } from './templateError.js'

export const TEMPLATE_CHARACTERS_MAX = 65_536
export const NESTING_MAX = 100
/** Output and every text on the way, in UTF-16 units. */
export const TEXT_MAX = 8_388_608
export const LIST_MAX = 1_000_000
export const LOOP_STEPS_MAX = 1_000_000
export const RANGE_MAX = 100_000
export const INTEGER_BITS_MAX = 4096
/** Nesting of values that a template builds or looks into. */
export const VALUE_DEPTH_MAX = 1000
// One unit is about one value looked at or 16 characters copied: roughly half a second in all.
export const WORK_MAX = 20_000_000

export function checkText(length: number): void {
  if (length > TEXT_MAX) fault(`a text grows beyond ${TEXT_MAX} characters`)
}

export function checkList(length: number): void {
  if (length > LIST_MAX) fault(`a list grows beyond ${LIST_MAX} items`)
}

const INTEGER_MAX = 1n << BigInt(INTEGER_BITS_MAX)

export function checkInteger(value: bigint): bigint {
  if (value >= INTEGER_MAX || value <= -INTEGER_MAX) fault(`an integer grows beyond ${INTEGER_BITS_MAX} bits`)
  return value
}
