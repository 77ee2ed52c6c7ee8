// What people type to narrow a list: several values with commas, and text to be found anywhere.

/** Null: everything. */
export function severalOf(text: string | undefined): string[] | null {
  const values = (text ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return values.length === 0 ? null : [...new Set(values)]
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
