// Time-outs as they stand in a playbook: a number of seconds, `30s`, `5m`, or a template that gives seconds.

import type { Reader } from '../catalog/violation.js'
import { durationMs } from '../duration.js'
import { Float } from '../json/value.js'
import type { Template } from '../template/template.js'
import type { PlanSite } from './site.js'

const WANTED = 'must be a number of seconds above 0, or a span of time such as 30s or 5m'

/** For what is fixed when the plan is made. */
export function readTimeoutMs(reader: Reader, key: string, site: PlanSite): number | undefined {
  const value = reader.value(key)
  if (value === undefined) return undefined
  const number = value instanceof Float ? value.value : value
  const ms = typeof number === 'number' ? number * 1000 : typeof number === 'string' ? textMs(number) : undefined
  if (ms !== undefined && ms > 0 && Number.isSafeInteger(Math.ceil(ms))) return Math.ceil(ms)
  return site.problems.error(`${reader.path}/${key}`, WANTED)
}

export function readSeconds(reader: Reader, key: string, site: PlanSite): number | Template | undefined {
  const value = reader.value(key)
  if (typeof value === 'string') {
    const template = site.text(value, `${reader.path}/${key}`, 'engine')
    if (template !== undefined) return template
  }
  const ms = readTimeoutMs(reader, key, site)
  return ms === undefined ? undefined : ms / 1000
}

function textMs(text: string): number | undefined {
  return /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : durationMs(text)
}
