// TypeScript types from our OpenAPI document. It uses a small part of JSON Schema, see src/http/openApi.ts. Ids are text: the
// client asks for them so, and sends them so.

const HEAD = `// Written by "make client" from the routes of the server; not to be changed by hand.

`

export function operationsSource(document) {
  const operations = []
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) operations.push({ path, method, operation })
  }
  operations.sort((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1))
  const types = operations.map(({ operation }) => operationType(operation)).join('\n')
  const table = operations
    .map(({ path, method, operation }) => `  ${operation.operationId}: ['${method.toUpperCase()}', '${path}'],`)
    .join('\n')
  return `${HEAD}export interface Operations {\n${types}\n}\n\nexport const OPERATIONS: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {\n${table}\n}\n`
}

function operationType(operation) {
  const parameters = (place) => (operation.parameters ?? []).filter((parameter) => parameter.in === place)
  const fields = (list) =>
    list.length === 0
      ? 'Record<never, never>'
      : `{ ${list.map(({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema)}`).join('; ')} }`
  const body = operation.requestBody
  const answer = operation.responses['200'] ?? operation.responses['202']
  const schema = answer?.content?.['application/json']?.schema
  return [
    `  ${operation.operationId}: {`,
    `    params: ${fields(parameters('path'))}`,
    `    query: ${fields(parameters('query'))}`,
    `    body: ${body === undefined ? 'undefined' : typeOf(body.content['application/json'].schema) + (body.required ? '' : ' | undefined')}`,
    `    answer: ${schema === undefined ? 'unknown' : typeOf(schema)}`,
    '  }',
  ].join('\n')
}

function typeOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map((word) => `'${word}'`).join(' | ') + orNull(schema)
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return 'unknown'
  if (schema.format === 'int64') return `string${orNull(schema)}`
  return types.map((type) => typeNamed(type, schema)).join(' | ')
}

function orNull(schema) {
  return [schema.type ?? []].flat().includes('null') ? ' | null' : ''
}

function typeNamed(type, schema) {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'array': {
      const item = schema.items === undefined ? 'unknown' : typeOf(schema.items)
      return `readonly ${/[ |]/.test(item) ? `(${item})` : item}[]`
    }
    case 'object': {
      const fields = Object.entries(schema.properties ?? {})
      if (fields.length === 0) return 'Record<string, unknown>'
      const required = schema.required ?? []
      return `{ ${fields.map(([name, inner]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(inner)}`).join('; ')} }`
    }
    default:
      return type
  }
}
