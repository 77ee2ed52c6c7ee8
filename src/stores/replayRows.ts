// Rows of a replay page → events as the fold reads them. This runs once per event of logs of any length, so what
// neighbouring events share is read once: the short columns, the ids, and short metas. The fold never changes
// what it is given.
import { parseJson } from '../domain/json/parse.js'
import { integerValue, type JsonObject, type JsonValue } from '../domain/json/value.js'
import { CpError, toCpError } from '../errors.js'

export interface LogRow {
  event_id: string
  /** Type, status, node name and worker, as the text of an array. */
  words: string
  /** Stage, frame and command. */
  ids: string
  meta: string | null
  payload_ref: string | null
  aggregate_type: string | null
  aggregate_id: string | null
  schema_name?: string | null
  schema_version?: number
  created_at?: string
}

type Texts = readonly (string | null)[]

export function createRowReader(): (row: LogRow) => JsonObject {
  const words = remembering(parseArrayText)
  const metas = remembering(parseJson)
  let lastIds = ''
  let ids: Texts = []

  return (row) => {
    const { event_id: id, payload_ref: reference } = row
    const [event_type, status, node_name, worker_id] = words(row.words) as [string, string, string, string]
    if (row.ids !== lastIds) {
      lastIds = row.ids
      ids = parseArrayText(row.ids)
    }
    try {
      const event: JsonObject = {
        event_id: id.length <= SAFE_DIGITS ? Number(id) : integerValue(BigInt(id)),
        event_type,
        status,
        node_name,
        meta: row.meta === null ? null : metas(row.meta),
        payload_ref: reference === null ? null : parseJson(reference),
        stage_id: ids[0] ?? null,
        frame_id: ids[1] ?? null,
        command_id: ids[2] ?? null,
        worker_id,
        aggregate_type: row.aggregate_type,
        aggregate_id: row.aggregate_id,
      }
      if (row.schema_version !== undefined) {
        event['schema_name'] = row.schema_name ?? null
        event['schema_version'] = row.schema_version
      }
      return event
    } catch (error) {
      throw new CpError('corrupt', `event ${id} cannot be read: ${toCpError(error).message}`, {
        cause: error,
        details: { event_id: id },
      })
    }
  }
}

// Always exact as a double.
const SAFE_DIGITS = 15
const SHARED_TEXT_MAX = 200
const SHARED_MAX = 1_024

function remembering<T extends JsonValue | Texts>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    if (text.length > SHARED_TEXT_MAX) return read(text)
    let value = known.get(text)
    if (value === undefined) {
      value = read(text)
      if (known.size >= SHARED_MAX) known.clear()
      known.set(text, value)
    }
    return value
  }
}

const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}]+)/gs

/** The text of a one-dimensional Postgres array: a bare NULL is null, a quoted one is a text. */
export function parseArrayText(text: string): (string | null)[] {
  // Without quotes there are neither commas nor braces inside the elements.
  if (!text.includes('"')) return text.slice(1, -1).split(',').map(bareElement)
  const elements: (string | null)[] = []
  for (const [, quoted, bare] of text.matchAll(ELEMENT)) {
    if (quoted !== undefined) elements.push(quoted.includes('\\') ? quoted.replace(/\\(.)/gs, '$1') : quoted)
    else elements.push(bareElement(bare ?? ''))
  }
  return elements
}

function bareElement(text: string): string | null {
  return text === 'NULL' ? null : text
}
