// The text of a float in the canonical form: the shortest digits that read back as the same double,
// always recognisable as a float (`1.0`, `1e+16`, `1e-05`).

export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (value === Number.POSITIVE_INFINITY) return 'Infinity'
  if (value === Number.NEGATIVE_INFINITY) return '-Infinity'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const magnitude = Math.abs(value)
  // In this range JavaScript writes positional notation too, only without the point of a whole number.
  if (magnitude >= 1e-4 && magnitude < 1e16) {
    const text = String(value)
    return Number.isInteger(value) ? `${text}.0` : text
  }
  const text = value.toExponential()
  const mark = text.indexOf('e')
  const digits = text.slice(mark + 2)
  return `${text.slice(0, mark + 2)}${digits.length < 2 ? '0' : ''}${digits}`
}

/** An integer or a float that is held in a JavaScript number. */
export function numberText(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : floatText(value)
}
