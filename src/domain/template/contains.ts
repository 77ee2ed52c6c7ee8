// `in`: an item of a list, a key of a map, a part of a text. Nothing is in null or undefined.

import { isJsonObject } from '../json/value.js'
import { isEqual } from './compareValues.js'
import { printValue } from './printValue.js'
import type { Run, TemplateValue } from './run.js'
import { fault } from './templateError.js'
import { isNothing, kindOf } from './values.js'

export function isContained(item: TemplateValue, container: TemplateValue, run: Run): boolean {
  if (typeof container === 'string') {
    if (isNothing(item)) return false
    run.chargeText(container.length)
    return container.includes(printValue(item, run))
  }
  if (Array.isArray(container)) {
    run.charge(container.length)
    return container.some((one) => isEqual(one, item, run))
  }
  if (isJsonObject(container)) {
    return kindOf(item) === 'text' || kindOf(item) === 'number'
      ? Object.hasOwn(container, printValue(item, run))
      : false
  }
  if (isNothing(container)) return false
  return fault(`in needs a list, a map or a text, not a ${kindOf(container)}`)
}
