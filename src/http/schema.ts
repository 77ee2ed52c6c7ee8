// How routes describe bodies and query parameters.
export { type Schema, violation } from '../domain/json/schema.js'
