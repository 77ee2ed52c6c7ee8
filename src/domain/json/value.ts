// JSON values without loss. JSON has one kind of number, the log has two: integers of any size and
// floats, and `1` and `1.0` are different texts with different checksums. A JavaScript number can only
// carry part of that, so the rest has types of its own:
//   integer within ±(2^53-1) → number      bigger integer → bigint
//   float with a fraction    → number      integral float, -0.0, NaN, infinity → Float
// Nothing here may be turned back into a bare number, or the difference is lost.

/** A float that a JavaScript number could not be told apart from an integer. */
export class Float {
  constructor(readonly value: number) {}
}

export type JsonValue = null | boolean | number | bigint | string | Float | JsonValue[] | JsonObject

export interface JsonObject {
  [key: string]: JsonValue
}

// Recursive readers and writers stay within this nesting; far below what a thread's stack can carry.
export const JSON_DEPTH_MAX = 1000

/** Of what strangers send: requests, envelopes, messages. */
export const INPUT_DEPTH_MAX = 200

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Float)
}

/** Sets an own key. Plain assignment of `__proto__` would change the prototype instead. */
export function setKey(target: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    target[key] = value
  }
}

/** A double in the convention above. */
export function floatValue(value: number): number | Float {
  return Number.isFinite(value) && !Number.isInteger(value) ? value : new Float(value)
}

/** An integer in the convention above. */
export function integerValue(value: bigint): number | bigint {
  return value >= SAFE_MIN && value <= SAFE_MAX ? Number(value) : value
}

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER)
const SAFE_MIN = -SAFE_MAX
