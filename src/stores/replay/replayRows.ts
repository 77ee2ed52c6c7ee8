// Turns rows of a replay page into events for the fold. This runs once per event of long logs, so what neighbouring
// events share is parsed once: short columns, ids and short metas. The fold must not change what it is given.

import { parseJson } from '../../domain/json/parse.js'
import { integerValue, type JsonObject } from '../../domain/json/value.js'
import { rememberByText } from '../../domain/memo.js'
import { CpError, toCpError } from '../../errors.js'

export interface LogRow {
  /** The event id; stage, frame and command; on tapes version and seconds; the words as the text of an array. */
  head: string
  meta: string | null
  payload_ref: string | null
  schema_name?: string | null
  schema_version?: number
  created_at?: string
}

type Texts = readonly (string | null)[]

export function createRowReader(): (row: LogRow) => JsonObject {
  const words = rememberByText(parseArrayText)
  const metas = rememberByText(parseJson)
  let lastIds = ''
  let ids: Texts = []

  return (row) => {
    const { head, payload_ref: reference } = row
    const idEnd = head.indexOf(';')
    const idsEnd = head.indexOf(';', idEnd + 1)
    const id = head.slice(0, idEnd)
    const idsText = head.slice(idEnd + 1, idsEnd)
    // All before is numbers, so the first brace is that of the words.
    const said = words(head.slice(head.indexOf('{', idsEnd)))
    if (idsText !== lastIds) {
      lastIds = idsText
      ids = idsText.split(',').map(idOf)
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
  return head.slice(0, head.indexOf(';'))
}

/** Of a row for tapes: the version, 0 without one, and the time in milliseconds. */
export function tapeMarkOf({ head }: LogRow): { version: number; timeMs: number } {
  const from = head.indexOf(';', head.indexOf(';') + 1) + 1
  const comma = head.indexOf(',', from)
  const seconds = Number(head.slice(comma + 1, head.indexOf('{', comma)))
  // Microseconds are exact again: a double of seconds has a few digits more than they need.
  return { version: Number(head.slice(from, comma)), timeMs: Math.round(seconds * 1e6) / 1000 }
}

/** A copy: a piece of a longer text keeps all of it in memory, and states keep ids. */
function idOf(text: string): string | null {
  return text === '' ? null : String(BigInt(text))
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
