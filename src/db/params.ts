// Query parameters. Arrays become Postgres array literals here, because the driver would otherwise ask
// the server for its type catalogue on every new connection.
export type Scalar = string | number | boolean | bigint | null
export type Param = Scalar | Uint8Array | readonly Scalar[]

export function encodeParam(value: Param): Scalar | Uint8Array {
  return Array.isArray(value) ? arrayLiteral(value) : (value as Scalar | Uint8Array)
}

export function arrayLiteral(values: readonly Scalar[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += ','
    const value = values[index]!
    if (value === null) text += 'NULL'
    else if (typeof value === 'string') text += quoteElement(value)
    else text += String(value)
  }
  return `${text}}`
}

function quoteElement(value: string): string {
  // Most elements are ids: a bare decimal needs no quotes and no scan for escapes.
  if (/^-?\d+$/.test(value)) return value
  return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
}
