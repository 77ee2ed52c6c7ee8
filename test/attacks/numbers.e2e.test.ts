// Promise: numbers that no column holds are refused in words of ours, or do no harm: no answer tells of the server, the
// database or the statement behind it. Every parameter and every field of a body of every route is tried.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'

let database: TestDatabase
let daemon: Daemon
let executionId: string
/** The answer to a claim. */
let held: string

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.url,
      NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
      NOETL_CP_WORKER: 'false',
      NOETL_CP_CREDENTIALS_KEY: 'a-key-of-at-least-thirty-two-characters',
    },
  })
  await send('POST', '/api/catalog/register', JSON.stringify({ content: playbook('tests/numbers') }))
  const started = await send('POST', '/api/execute', '{"path":"tests/numbers","driven":false}')
  executionId = JSON.parse(started.text).execution_id
  await send('POST', '/api/execute', '{"path":"tests/numbers","execution_pool":"numbers"}')
  const claim = await send('POST', '/api/commands/claim', '{"worker_id":"x","pools":["numbers"],"wait_seconds":30}')
  held = claim.text
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

async function send(method: string, path: string, body?: string) {
  const response = await fetch(new URL(path, daemon.url), {
    method,
    headers: { authorization: `Bearer ${INTERNAL_TOKEN}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(60_000),
  })
  // What is followed for as long as somebody listens has no end.
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status: response.status, text: '' }
  }
  return { status: response.status, text: await response.text() }
}

interface Field {
  type?: string
  format?: string
  enum?: string[]
  properties?: Record<string, Field>
  required?: string[]
  items?: Field
}

interface Operation {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Field }> }
}

const BEYOND = [
  '9999999999999999999',
  '-9999999999999999999',
  '99999999999999999999999999',
  '9223372036854775807',
  '4294967296',
  '999999999999999',
  '-1',
  '1e300',
  '1.5',
  // Times are numbers as well.
  'infinity',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-14:00',
]

/** Not required by their schemas, and without them little is looked at. */
const ALWAYS = new Set(['path', 'worker_id', 'event_type', 'events', 'executions'])

/** Of the kind that the schema asks for, and unremarkable. */
function plain(field: Field, name: string): unknown {
  if (name === 'execution_id') return executionId
  if (name === 'event_id') return /"event_id":(\d+)/.exec(held)![1]
  if (field.format === 'int64') return '1'
  if (field.enum !== undefined) return field.enum[0]
  if (field.type === 'object') return bodyOf(field)
  if (field.type === 'array') return [plain(field.items ?? {}, '')]
  if (field.type === 'integer' || field.type === 'number') return 1
  if (field.type === 'boolean') return true
  return name === 'path' ? 'tests/numbers' : 'x'
}

function bodyOf({ properties = {}, required = [] }: Field): Record<string, unknown> {
  const needed = Object.keys(properties).filter((name) => required.includes(name) || ALWAYS.has(name))
  return Object.fromEntries(needed.map((name) => [name, plain(properties[name] ?? {}, name)]))
}

/** As a number, where it is one, and as text. */
const forms = (value: string): string[] => (/^[-\d.e]+$/.test(value) ? [value, `"${value}"`] : [`"${value}"`])

/** JSON texts: the body as it is needed, with one field after the other beyond what a column holds. */
function* bodies(schema: Field): Generator<string> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    for (const value of BEYOND) {
      for (const text of forms(value)) {
        const inner = field.type === 'array' ? `[${text}]` : field.type === 'object' ? `{"a":${text}}` : text
        yield JSON.stringify({ ...bodyOf(schema), [name]: '@' }).replace('"@"', inner)
      }
    }
    for (const [deep, { type }] of Object.entries(field.items?.properties ?? field.properties ?? {})) {
      for (const value of BEYOND) {
        for (const text of type === 'string' ? [`"${value}"`] : forms(value)) {
          const one = JSON.stringify({ ...bodyOf(field.items ?? field), [deep]: '@' }).replace('"@"', text)
          const inner = field.type === 'array' ? `[${one}]` : one
          yield JSON.stringify({ ...bodyOf(schema), [name]: '#' }).replace('"#"', inner)
        }
      }
    }
  }
}

/** Paths with their questions. */
function* addresses(path: string, { parameters = [] }: Operation): Generator<string> {
  const filled = (special?: string, value = '') =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(name === special ? value : String(plain({}, name))),
    )
  yield filled()
  for (const { name, in: place } of parameters) {
    for (const value of BEYOND) {
      if (place === 'path') yield filled(name, value)
      if (place === 'query') yield `${filled()}?${name}=${encodeURIComponent(value)}`
    }
  }
}

const SIDE_BY_SIDE = 10

/** Ends what the others need, or waits for what does not come. */
const LEFT_OUT = /^(DELETE \/api\/vars|POST \/api\/postgres\/execute)/

describe('a number beyond every column', () => {
  it('is answered in words of ours, wherever it is given', async () => {
    const { paths } = JSON.parse((await send('GET', '/openapi.json')).text) as {
      paths: Record<string, Record<string, Operation>>
    }
    const { host, pathname } = new URL(database.url)
    const told: string[] = []
    let tried = 0
    for (const [path, item] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(item)) {
        const line = `${method.toUpperCase()} ${path}`
        if (LEFT_OUT.test(line)) continue
        const schema = operation.requestBody?.content['application/json']?.schema
        const needed = schema === undefined ? undefined : JSON.stringify(bodyOf(schema))
        const requests: [string, string | undefined][] = []
        for (const address of addresses(path, operation)) requests.push([address, needed])
        if (schema !== undefined) for (const body of bodies(schema)) requests.push([requests[0]![0], body])
        tried += requests.length
        for (let at = 0; at < requests.length; at += SIDE_BY_SIDE) {
          const some = requests.slice(at, at + SIDE_BY_SIDE).map(async ([address, body]) => {
            const { status, text } = await send(method.toUpperCase(), address, body)
            const isTold = status === 500 || (status >= 400 && (text.includes(host) || text.includes(pathname)))
            if (isTold) told.push(`${method.toUpperCase()} ${address} ${body ?? ''} → ${status} ${text.slice(0, 300)}`)
          })
          await Promise.all(some)
        }
      }
    }
    const commandId = /"command_id":"([^"]+)"/.exec(held)![1]!
    for (const attempt of BEYOND.flatMap(forms)) {
      const event = `"step":"start","event_type":"command.started","payload":{"command_id":"${commandId}","attempt":${attempt}}`
      const { status, text } = await send('POST', '/api/events', `{"execution_id":${commandId.split(':')[0]},${event}}`)
      if (status === 500 || text.includes(host)) told.push(`attempt ${attempt} → ${status} ${text.slice(0, 300)}`)
    }
    expect(told).toEqual([])
    expect(tried).toBeGreaterThan(1_000)
  })
})
