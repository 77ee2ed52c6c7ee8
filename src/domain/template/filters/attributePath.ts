// `attribute="address.city"` or `attribute=0`: where map, selectattr, sort and others find the value of an item.

import { printValue } from '../printValue.js'
import type { Run, TemplateValue } from '../run.js'
import { fault } from '../templateError.js'
import { itemOf, kindOf } from '../values.js'

export function pickAttribute(attribute: TemplateValue, run: Run): (item: TemplateValue) => TemplateValue {
  const kind = kindOf(attribute)
  if (kind !== 'text' && kind !== 'number') return fault(`an attribute is named by a text, not by a ${kind}`)
  const keys = printValue(attribute, run)
    .split('.')
    .map((key) => (/^\d{1,15}$/.test(key) ? Number(key) : key))
  return (item) => {
    let value = item
    run.charge(keys.length)
    for (const key of keys) value = itemOf(value, key, run)
    return value
  }
}
