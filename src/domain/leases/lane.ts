// A lane is one of 64 shares of the executions of a shard. Outbox and live states use the same lanes, so lane 17 is
// the same set of executions in every table, metric and message. The SQL function `noetl.lane_of` computes the same
// number; a test compares the two.

/** The schema (`noetl.lane_of`) knows the same number. */
export const LANE_COUNT = 64

export const LANES: readonly number[] = Array.from({ length: LANE_COUNT }, (_, lane) => lane)

// Postgres' hash of a bigint (hashint8extended with seed 0), of which the lane is the low six bits.
const START = (0x9e3779b9 + 4 + 3_923_095) | 0

export function laneOf(executionId: string | bigint): number {
  const id = BigInt(executionId)
  const low = Number(BigInt.asUintN(32, id)) | 0
  const high = Number(BigInt.asUintN(32, id >> 32n)) | 0
  return mix(low ^ (id >= 0n ? high : ~high)) & (LANE_COUNT - 1)
}

/** The last round of Jenkins' lookup3 for one 32-bit word; answers its third register. */
function mix(word: number): number {
  let a = (START + word) | 0
  let b = START
  let c = START
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  return ((c ^ b) - rotate(b, 24)) | 0
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
