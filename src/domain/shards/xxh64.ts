// XXH64 with seed 0 of one signed 64-bit id, taken as its eight little-endian bytes. It decides which shard
// owns an execution, so it must give the same bits as every other implementation. Written with 32-bit halves
// and without bigints because every event, claim and query passes through it.

/** The hash as two unsigned 32-bit halves, and a decimal id as the same. Reused so that hashing allocates nothing. */
let high = 0
let low = 0

const TWO_32 = 0x1_0000_0000

const PRIME_1 = [0x9e3779b1, 0x85ebca87] as const
const PRIME_2 = [0xc2b2ae3d, 0x27d4eb4f] as const
const PRIME_3 = [0x165667b1, 0x9e3779f9] as const
const PRIME_4 = [0x85ebca77, 0xc2b2ae63] as const
const PRIME_5 = [0x27d4eb2f, 0x165667c5] as const

/** The hash as two unsigned halves, which is quicker than a bigint. */
export function xxh64Halves(id: string): [high: number, low: number] {
  hash(id)
  return [high, low]
}

/** The unsigned hash modulo `divisor`, which must be below 2^20 so that the products stay exact. */
export function xxh64Modulo(id: string, divisor: number): number {
  hash(id)
  return ((high % divisor) * (TWO_32 % divisor) + low) % divisor
}

function hash(id: string): void {
  readDecimal(id)
  multiply(PRIME_2)
  rotateLeft(31)
  multiply(PRIME_1)
  const seedLow = PRIME_5[1] + 8
  high = (high ^ PRIME_5[0]) >>> 0
  low = (low ^ seedLow) >>> 0
  rotateLeft(27)
  multiply(PRIME_1)
  const sum = low + PRIME_4[1]
  high = (high + PRIME_4[0] + (sum >= TWO_32 ? 1 : 0)) >>> 0
  low = sum >>> 0
  // h ^= h >> 33
  low = (low ^ (high >>> 1)) >>> 0
  multiply(PRIME_2)
  // h ^= h >> 29
  const shiftedLow = (high << 3) | (low >>> 29)
  low = (low ^ shiftedLow) >>> 0
  high = (high ^ (high >>> 29)) >>> 0
  multiply(PRIME_3)
  // h ^= h >> 32
  low = (low ^ high) >>> 0
}

/** Digits to two's complement, in 32-bit halves: the upper digits stay below 10^10, so every step is exact. */
function readDecimal(id: string): void {
  const negative = id.charCodeAt(0) === 45
  const end = id.length
  const start = negative ? 1 : 0
  const split = Math.max(start, end - 9)
  let upper = 0
  for (let index = start; index < split; index++) upper = upper * 10 + (id.charCodeAt(index) - 48)
  let lower = 0
  for (let index = split; index < end; index++) lower = lower * 10 + (id.charCodeAt(index) - 48)
  // upper * 10^9 + lower, with 10^9 = 15258 * 2^16 + 51712 to keep the products below 2^53.
  const upperHigh = Math.floor(upper / 0x10000)
  const upperLow = upper % 0x10000
  const middle = upperHigh * 51_712 + upperLow * 15_258
  const bottom = upperLow * 51_712 + lower + (middle % 0x10000) * 0x10000
  low = bottom % TWO_32
  high = (upperHigh * 15_258 + Math.floor(middle / 0x10000) + Math.floor(bottom / TWO_32)) >>> 0
  if (negative) {
    low = -low >>> 0
    high = low === 0 ? -high >>> 0 : ~high >>> 0
  }
}

function multiply(factor: readonly [number, number]): void {
  const [factorHigh, factorLow] = factor
  const a0 = low & 0xffff
  const a1 = low >>> 16
  const b0 = factorLow & 0xffff
  const b1 = factorLow >>> 16
  const lowest = a0 * b0
  const cross = a1 * b0 + (lowest >>> 16)
  const cross2 = a0 * b1 + (cross & 0xffff)
  const upper = a1 * b1 + Math.floor(cross / 0x10000) + Math.floor(cross2 / 0x10000)
  high = (upper + Math.imul(high, factorLow) + Math.imul(low, factorHigh)) >>> 0
  low = (((cross2 & 0xffff) << 16) | (lowest & 0xffff)) >>> 0
}

function rotateLeft(bits: number): void {
  const rotated = ((high << bits) | (low >>> (32 - bits))) >>> 0
  low = ((low << bits) | (high >>> (32 - bits))) >>> 0
  high = rotated
}
