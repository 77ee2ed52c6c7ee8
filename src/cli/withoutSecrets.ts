// Removes secrets from the output of a command before it is shown: from documents, tables and notes, by name and by
// form.
import type { JsonValue } from '../domain/json/value.js'
import { REDACTED, redact, redactText } from '../domain/secrets/redact.js'
import type { SecretRules } from '../domain/secrets/secretNames.js'
import type { Block, Cell, Output, ToneCell } from './output.js'

export function outputWithoutSecrets(output: Output, rules: SecretRules): Output {
  return {
    ...output,
    json: redact(output.json, rules),
    blocks: output.blocks.map((block) => cleanBlock(block, rules)),
    ...(output.notes === undefined ? {} : { notes: output.notes.map((note) => redactText(note, rules)) }),
  }
}

function cleanBlock(block: Block, rules: SecretRules): Block {
  if (block.kind === 'text') return { ...block, text: redactText(block.text, rules) }
  if (block.kind === 'lines') return { ...block, lines: block.lines.map((line) => redactText(line, rules)) }
  if (block.kind === 'record') {
    return { ...block, entries: block.entries.map(([name, cell]) => [name, cleanCell(cell, name, rules)] as const) }
  }
  return {
    ...block,
    rows: block.rows.map((row) => row.map((cell, column) => cleanCell(cell, block.columns[column] ?? '', rules))),
  }
}

function cleanCell(cell: Cell | ToneCell, name: string, rules: SecretRules): Cell | ToneCell {
  if (typeof cell === 'object' && cell !== null) return { ...cell, text: String(cleanValue(cell.text, name, rules)) }
  return cell === undefined ? cell : (cleanValue(cell, name, rules) as Cell)
}

/** As if the name were the key of the value. */
function cleanValue(value: JsonValue, name: string, rules: SecretRules): JsonValue {
  if (typeof value === 'string' && value !== '' && rules.judge(name) === 'secret') return REDACTED
  return redact(value, rules)
}
