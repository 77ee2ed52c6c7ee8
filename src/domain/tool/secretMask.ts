// Replaces the secrets that a command has used by *** in everything it reports. Knows exact values and the forms in which
// they travel; a value too short to be recognised safely is left alone.

import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'

const LENGTH_MIN = 6
const MASK = '***'

export class SecretMask {
  private readonly values = new Set<string>()
  private pattern: RegExp | undefined

  add(secret: string): void {
    if (secret.length < LENGTH_MIN) return
    const escaped = JSON.stringify(secret).slice(1, -1)
    for (const form of [secret, escaped, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
      if (this.values.has(form)) continue
      this.values.add(form)
      this.pattern = undefined
    }
  }

  /** Every text in it. */
  addAll(value: JsonValue): void {
    if (typeof value === 'string') this.add(value)
    else if (Array.isArray(value)) for (const item of value) this.addAll(item)
    else if (isJsonObject(value)) for (const item of Object.values(value)) this.addAll(item)
  }

  get isEmpty(): boolean {
    return this.values.size === 0
  }

  text(text: string): string {
    if (this.isEmpty) return text
    // The longest first: a secret may begin with another one.
    this.pattern ??= new RegExp(
      [...this.values]
        .sort((left, right) => right.length - left.length)
        .map((value) => value.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'))
        .join('|'),
      'g',
    )
    return text.replace(this.pattern, MASK)
  }

  json<T extends JsonValue>(value: T): T {
    return this.isEmpty ? value : (this.masked(value) as T)
  }

  private masked(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.masked(item))
    if (!isJsonObject(value)) return value
    const copy: JsonObject = {}
    for (const key of Object.keys(value)) setKey(copy, this.text(key), this.masked(value[key] as JsonValue))
    return copy
  }
}
