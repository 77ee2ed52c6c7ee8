// What a filter is: names for its arguments, and one function. Arguments that were not given are absent from the list or
// undefined.

import type { Run, TemplateValue } from '../run.js'

export interface TemplateFilter {
  readonly params: readonly string[]
  readonly required?: number
  apply(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue
}

export type FilterEntry = readonly [name: string, filter: TemplateFilter]
