// Reading JSON text without losing numbers. parseJson is for our own stored data, parseJsonStrict for
// bodies from outside. Both refuse nesting that would later overflow a stack, and neither ever lets a
// key called `__proto__` touch a prototype. A refusal is CpError('invalid_input') with an RFC 6901
// pointer to the place in `details.pointer`.

import { JsonReader } from './reader.js'
import { JSON_DEPTH_MAX, type JsonValue } from './value.js'

// Standing where a number can stand: a minus zero, an exponent, an integer that may not fit a double, or a float
// that is not surely a fraction (short, and with a last digit that is not 0). Texts that merely look like it
// ("at 1.0 s") only cost the slower reader.
const NUMBER_NEEDS_CARE = /(?:^|":|[[,\s])(?:-0(?!\.)|-?\d{16}|-?\d+[eE]|-?(?!\d{1,7}\.\d{0,6}[1-9](?![\deE]))\d+\.)/

export function parseJson(text: string): JsonValue {
  // A text this short cannot be nested too deeply, and the built-in reader is twice as fast.
  if (text.length <= 2 * JSON_DEPTH_MAX && !NUMBER_NEEDS_CARE.test(text)) {
    try {
      return JSON.parse(text) as JsonValue
    } catch {
      // Read again below, by the reader that can name the place.
    }
  }
  return new JsonReader(text, { depthMax: JSON_DEPTH_MAX, strict: false }).readDocument()
}

export function parseJsonStrict(text: string, limits: { maxDepth: number }): JsonValue {
  const depthMax = Math.min(limits.maxDepth, JSON_DEPTH_MAX)
  return new JsonReader(text, { depthMax, strict: true }).readDocument()
}
