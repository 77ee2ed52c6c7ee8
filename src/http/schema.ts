// How routes describe bodies, query parameters and answers.
import type { Schema } from '../domain/json/schema.js'

export { type Schema, violation } from '../domain/json/schema.js'

/** The answers of routes are mostly objects of plain fields. */
export function answerOf(properties: Readonly<Record<string, Schema>>, description?: string): Schema {
  return { type: 'object', ...(description === undefined ? {} : { description }), properties }
}

export const TEXT: Schema = { type: 'string' }
export const TEXT_OR_NULL: Schema = { type: 'string', nullable: true }
export const COUNT: Schema = { type: 'integer' }
export const FLAG: Schema = { type: 'boolean' }
export const ID: Schema = { format: 'int64' }
export const ID_OR_NULL: Schema = { format: 'int64', nullable: true }
export const ANY: Schema = {}
