// From what a reader writes into the fields of a run form to the workload that is sent: what was left as it stands in the
// document is not sent at all, and numbers keep every digit.
import { LosslessNumber } from 'lossless-json'
import { isBranch, isNumber, type Json, jsonText, parseJson } from '../../lib/losslessJson'

export interface Field {
  name: string
  kind: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null' | 'enum'
  default: Json
  description: string | null
  secret: boolean
  credential_glob: string | null
  options: string[]
}

/** What stands in the fields, by name; a name may be any text, `constructor` as well. */
export type Written = ReadonlyMap<string, string>

export interface Filled {
  workload: { [key: string]: Json }
  /** Why a field cannot be sent, by name. */
  refused: ReadonlyMap<string, string>
}

export function firstText({ default: value }: Field): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  return isNumber(value) ? value.value : jsonText(value)
}

export function fill(fields: readonly Field[], written: Written): Filled {
  const workload: [string, Json][] = []
  const refused = new Map<string, string>()
  for (const field of fields) {
    const text = written.get(field.name)
    if (text === undefined || text === firstText(field)) continue
    try {
      workload.push([field.name, readText(field, text)])
    } catch (error) {
      refused.set(field.name, (error as Error).message)
    }
  }
  return { workload: Object.fromEntries(workload), refused }
}

/** What stands in the fields for a workload; undefined where they have no place for something of it. */
export function writtenOf(fields: readonly Field[], workload: Filled['workload']): Written | undefined {
  const named = new Map(fields.map((field) => [field.name, field]))
  const written = new Map<string, string>()
  for (const [name, value] of Object.entries(workload)) {
    const field = named.get(name)
    if (field === undefined) return undefined
    const text = firstText({ ...field, default: value })
    const { workload: read } = fill([field], new Map([[name, text]]))
    const meant = Object.hasOwn(read, name) ? read[name]! : field.default
    if (jsonText(meant) !== jsonText(value)) return undefined
    written.set(name, text)
  }
  return written
}

function readText({ kind, default: first }: Field, text: string): Json {
  switch (kind) {
    case 'integer':
      if (!/^-?(0|[1-9]\d*)$/.test(text.trim())) throw new Error('This must be a whole number.')
      return new LosslessNumber(text.trim())
    case 'number':
      return numberOf(text)
    case 'boolean':
      return text === 'true'
    case 'enum':
      // Choices are texts; what the document has in their place says what they mean.
      if (isNumber(first)) return numberOf(text)
      return typeof first === 'boolean' ? text === 'true' : text
    case 'object':
    case 'array':
      return branchOf(kind, text)
    case 'null':
      return anythingOf(text)
    default:
      return text
  }
}

function numberOf(text: string): Json {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim())) throw new Error('This must be a number.')
  return new LosslessNumber(text.trim())
}

function branchOf(kind: 'object' | 'array', text: string): Json {
  let value: Json
  try {
    value = parseJson(text)
  } catch (error) {
    throw new Error(`This must be JSON: ${(error as Error).message}`)
  }
  const isRight = isBranch(value) && Array.isArray(value) === (kind === 'array')
  if (!isRight) throw new Error(kind === 'array' ? 'This must be a list: [ … ]' : 'This must be an object: { … }')
  return value
}

/** The document does not say what belongs here: JSON if it is some, else the text itself. */
function anythingOf(text: string): Json {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** The whole workload as one text. */
export function workloadOf(text: string): { [key: string]: Json } {
  return branchOf('object', text) as { [key: string]: Json }
}
