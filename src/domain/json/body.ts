// The body of a request as a value: strict JSON in UTF-8 that obeys its schema.
import { CpError } from '../../errors.js'
import { parseJsonStrict } from './parse.js'
import { type Schema, violation } from './schema.js'
import { INPUT_DEPTH_MAX, type JsonValue } from './value.js'

const decoder = new TextDecoder('utf-8', { fatal: true })

export function readJsonBody(bytes: Uint8Array, schema: Schema): JsonValue {
  const value = parseJsonStrict(decoded(bytes), { maxDepth: INPUT_DEPTH_MAX })
  const found = violation(schema, value)
  if (found !== undefined) throw new CpError('invalid_input', found)
  return value
}

function decoded(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new CpError('invalid_input', 'the body is not valid UTF-8', { cause: error })
  }
}
