// Values as text: for output, for `~`, and for tojson. Booleans are lower case, null and undefined print nothing, floats
// keep their point, integers all their digits. Lists and maps print as JSON.

import { floatText, numberText } from '../json/number.js'
import { Float, type JsonObject } from '../json/value.js'
import { checkText, VALUE_DEPTH_MAX } from './limits.js'
import type { Run, TemplateValue } from './run.js'
import { fault } from './templateError.js'

export function printValue(value: TemplateValue, run: Run): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return numberText(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'bigint':
      return value.toString()
    case 'undefined':
      return ''
    default:
      if (value === null) return ''
      return value instanceof Float ? floatText(value.value) : new JsonPrinter(run, ', ', ': ', '').print(value)
  }
}

/** With `indent`, one member per line. */
export function jsonText(value: TemplateValue, run: Run, indent = 0): string {
  return new JsonPrinter(run, ',', indent > 0 ? ': ' : ':', ' '.repeat(indent)).print(value)
}

const WORK_PER_VALUE = 8

class JsonPrinter {
  private text = ''

  constructor(
    private readonly run: Run,
    private readonly comma: string,
    private readonly colon: string,
    private readonly indent: string,
  ) {}

  print(value: TemplateValue): string {
    this.add(value, 0)
    return this.text
  }

  private add(value: TemplateValue, depth: number): void {
    this.run.charge(WORK_PER_VALUE)
    if (typeof value === 'string') {
      this.run.chargeText(value.length)
      this.put(JSON.stringify(value))
    } else if (typeof value !== 'object' || value === null || value instanceof Float) {
      this.put(value === null || value === undefined ? 'null' : printValue(value, this.run))
    } else if (depth > VALUE_DEPTH_MAX) {
      fault('the value is nested too deeply to be written')
    } else if (Array.isArray(value)) {
      this.addList(value, depth + 1)
    } else {
      this.addMap(value, depth + 1)
    }
  }

  private addList(list: readonly TemplateValue[], depth: number): void {
    this.put('[')
    for (let index = 0; index < list.length; index++) {
      if (index > 0) this.put(this.comma)
      this.newLine(depth)
      this.add(list[index], depth)
    }
    if (list.length > 0) this.newLine(depth - 1)
    this.put(']')
  }

  private addMap(map: JsonObject, depth: number): void {
    const keys = Object.keys(map)
    this.put('{')
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      if (index > 0) this.put(this.comma)
      this.newLine(depth)
      this.put(JSON.stringify(key) + this.colon)
      this.add(map[key], depth)
    }
    if (keys.length > 0) this.newLine(depth - 1)
    this.put('}')
  }

  private newLine(depth: number): void {
    if (this.indent !== '') this.put(`\n${this.indent.repeat(depth)}`)
  }

  private put(text: string): void {
    this.text += text
    checkText(this.text.length)
  }
}
