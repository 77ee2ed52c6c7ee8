// What people type to narrow a list: several values with commas, and text to be found anywhere.

/** Null: everything. */
export function severalOf(text: string | undefined): string[] | null {
  const values = (text ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return values.length === 0 ? null : [...new Set(values)]
}

/** The same for values that may hold a comma, written `\,`, and `\\` for a backslash. */
export function severalEscaped(text: string | undefined): string[] {
  const values = (text ?? '').match(/(?:\\[\\,]|[^,])+/g) ?? []
  return [...new Set(values.map((value) => value.trim().replace(/\\([\\,])/g, '$1')))].filter((value) => value !== '')
}

export interface TextFilter {
  /** For LIKE in path, step and error. */
  textPattern: string | null
  /** Of an execution, its parent or its catalog entry. */
  textId: string | null
  /** The name of a worker, whole. */
  textWorker: string | null
}

/** What one text looks for. */
export function textFilter(text: string | undefined): TextFilter {
  return { textPattern: anywherePattern(text), textId: idAmong(text), textWorker: text?.trim() || null }
}

/** For LIKE: the text itself, anywhere. */
export function anywherePattern(text: string | undefined): string | null {
  const wanted = text?.trim() ?? ''
  return wanted === '' ? null : `%${wanted.replace(/[\\%_]/g, '\\$&')}%`
}

const INT64_MAX = 9_223_372_036_854_775_807n

/** The text as an id, if it is one. */
export function idAmong(text: string | undefined): string | null {
  const wanted = text?.trim() ?? ''
  return /^[0-9]{1,19}$/.test(wanted) && BigInt(wanted) <= INT64_MAX ? BigInt(wanted).toString() : null
}
