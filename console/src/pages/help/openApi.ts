// The parts of an OpenAPI document that people read.

export interface Schema {
  type?: string | readonly string[]
  format?: string
  description?: string
  enum?: readonly unknown[]
  default?: unknown
  required?: readonly string[]
  properties?: Readonly<Record<string, Schema>>
  items?: Schema
  $ref?: string
}

interface Content {
  content?: Readonly<Record<string, { schema?: Schema }>>
}

export interface Operation {
  method: string
  path: string
  operationId: string
  summary: string
  tags: readonly string[]
  security?: readonly Readonly<Record<string, unknown>>[]
  parameters?: readonly { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[]
  requestBody?: Content
  responses: Readonly<Record<string, Content & { description?: string }>>
}

export interface OpenApi {
  info: { version: string; description: string }
  paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>
}

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )
}

/** Who may call it, by the tokens that it takes. */
export function mayCall({ security = [] }: Operation): string {
  const named = new Set(security.flatMap((one) => Object.keys(one)))
  if (named.size === 0) return 'anybody'
  if (named.has('viewer')) return 'viewers'
  return named.has('api') ? 'writers' : 'operators'
}

export function schemaOf({ content = {} }: Content): Schema | undefined {
  return Object.values(content)[0]?.schema
}

export function typeText({ type, format, items, enum: values, $ref: ref }: Schema): string {
  if (ref !== undefined) return ref.split('/').at(-1)!
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const names = typeof type === 'string' ? [type] : (type ?? ['any'])
  const known = names.map((name) => (name === 'array' && items !== undefined ? `${typeText(items)}[]` : name))
  return format === undefined ? known.join(' | ') : `${known.join(' | ')} (${format})`
}
