// What a subcommand returns: data, and how to show it to a person. It never prints by itself.
import type { JsonValue } from '../domain/json/value.js'

export type Cell = string | number | boolean | bigint | null | undefined
export type Tone = 'good' | 'bad' | 'warn' | 'dim'

/** A cell with a colour; the text alone must already say everything. */
export interface ToneCell {
  text: string
  tone: Tone
}

export type Block =
  | {
      kind: 'table'
      title?: string
      columns: readonly string[]
      rows: readonly (Cell | ToneCell)[][]
      empty?: string
      /** Rows are sentences that must be read whole: on a narrow terminal they break into lines instead of being cut. */
      isProse?: boolean
      /** Columns that a narrow terminal leaves out, in this order. */
      spare?: readonly string[]
    }
  | { kind: 'record'; title?: string; entries: readonly (readonly [string, Cell | ToneCell])[] }
  /** One line. */
  | { kind: 'text'; text: string }
  /** Several lines: what is put into one of them cannot begin another. */
  | { kind: 'lines'; lines: readonly string[] }

export interface Output {
  /** The one document that --json prints. */
  json: JsonValue
  blocks: readonly Block[]
  /** Remarks for standard error. */
  notes?: readonly string[]
  exitCode?: number
}

export function toned(text: string, tone: Tone): ToneCell {
  return { text, tone }
}
