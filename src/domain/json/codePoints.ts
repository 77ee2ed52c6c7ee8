// Order of texts by Unicode code point. JavaScript compares UTF-16 units, which puts characters beyond
// U+FFFF before U+E000…U+FFFF; hashed key order and row order must not depend on that.

export function compareCodePoints(left: string, right: string): number {
  if (left === right) return 0
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return rank(left, index, a) - rank(right, index, b)
  }
  return left.length - right.length
}

// Where the units differ, a unit that belongs to a pair stands for a code point above all others. A
// lone surrogate stands for itself.
function rank(text: string, index: number, unit: number): number {
  if (unit < 0xd800 || unit > 0xdfff) return unit
  if (unit < 0xdc00) return isLow(text.charCodeAt(index + 1)) ? 0x10000 + unit : unit
  return index > 0 && isHigh(text.charCodeAt(index - 1)) ? 0x10000 + unit : unit
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
