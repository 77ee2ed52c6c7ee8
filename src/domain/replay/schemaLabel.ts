// The schema of an event, as profile `python` writes it into the event. The original can lift events of older schemas to
// newer ones; no schema has changed yet, so there is nothing to lift, and the digest is that of an empty list.
import { CpError } from '../../errors.js'
import type { JsonObject } from '../json/value.js'
import { firstTruthy, type Integer, integerOf, type Maybe, textOf } from './coerce.js'

/** Names which lifts there are: a snapshot made with others is not continued. */
export const REGISTRY_DIGEST = '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'

const DEFAULT_SCHEMA = 'noetl.event'

export function labelSchema(event: JsonObject): JsonObject {
  const name = textOf(firstTruthy(event['schema_name'], DEFAULT_SCHEMA))
  const version = versionOf(event, event['schema_version'])
  if (event['schema_name'] === name && event['schema_version'] === version) return event
  return { ...event, schema_name: name, schema_version: version }
}

function versionOf(event: JsonObject, value: Maybe): Integer {
  if (value === null || value === undefined) return 1
  const version = integerOf(value)
  if (version !== undefined && version >= 1) return version
  const id = integerOf(event['event_id'])
  const event_id = id === undefined ? null : String(id)
  throw new CpError('corrupt', `event ${event_id ?? 'without id'}: its schema version is not a positive integer`, {
    details: { event_id },
  })
}
