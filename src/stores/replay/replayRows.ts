// Turns rows of a replay page into events for the fold. This runs once per event of long logs, so what neighbouring
// events share is parsed once: short columns, ids and short metas. The fold must not change what it is given.

import { parseJson } from '../../domain/json/parse.js'
import { integerValue, type JsonObject } from '../../domain/json/value.js'
import { rememberByText } from '../../domain/memo.js'
import { CpError, toCpError } from '../../errors.js'

export interface LogRow {
  /** The event id, then stage, frame and command as the text of an array, then the words likewise. */
  head: string
  meta: string | null
  payload_ref: string | null
  schema_name?: string | null
  schema_version?: number
  created_at?: string
  /** On tapes. */
  time_s?: number
  stream_version?: string | null
}

type Texts = readonly (string | null)[]

export function createRowReader(): (row: LogRow) => JsonObject {
  const words = rememberByText(parseArrayText)
  const metas = rememberByText(parseJson)
  let lastIds = ''
  let ids: Texts = []

  return (row) => {
    const { head, payload_ref: reference } = row
    const idEnd = head.indexOf('{')
    // Ids are numbers, so the first brace that closes is theirs.
    const idsEnd = head.indexOf('}', idEnd) + 1
    const id = head.slice(0, idEnd)
    const idsText = head.slice(idEnd, idsEnd)
    const said = words(head.slice(idsEnd))
    if (idsText !== lastIds) {
      lastIds = idsText
      ids = parseArrayText(idsText)
    }
    try {
      const event: JsonObject = {
        event_id: id.length <= SAFE_DIGITS ? Number(id) : integerValue(BigInt(id)),
        event_type: said[0]!,
        status: said[1]!,
        node_name: said[2]!,
        meta: row.meta === null ? null : metas(row.meta),
        payload_ref: reference === null ? null : parseJson(reference),
        stage_id: ids[0]!,
        frame_id: ids[1]!,
        command_id: ids[2]!,
        worker_id: said[3]!,
        aggregate_type: said[4]!,
        aggregate_id: said[5]!,
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

export function eventIdOfRow({ head }: LogRow): string {
  return head.slice(0, head.indexOf('{'))
}

// Always exact as a double.
const SAFE_DIGITS = 15

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
