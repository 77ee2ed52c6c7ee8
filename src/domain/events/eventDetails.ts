// The columns of an event that only exports carry: entity ids, payload reference, aggregate and schema. They
// come back with an import and are otherwise left alone.

import { parseInt64, parseOptionalId } from '../ids/ids.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { pointerTo, readField, readText, refuseField } from './readField.js'

export interface EventDetails {
  stageId?: string | undefined
  frameId?: string | undefined
  commandId?: string | undefined
  payloadRef?: JsonValue | undefined
  aggregateId?: string | undefined
  aggregateType?: string | undefined
  schemaName?: string | undefined
  schemaVersion?: number | undefined
}

const KEYS = [
  'stage_id',
  'frame_id',
  'command_id',
  'payload_ref',
  'aggregate_id',
  'aggregate_type',
  'schema_name',
  'schema_version',
]
const INT32_MAX = 2_147_483_647

/** Undefined when there are none. A key that is neither an envelope's nor one of these is refused, not lost. */
export function parseEventDetails(extra: JsonObject, at = ''): EventDetails | undefined {
  for (const key of Object.keys(extra)) {
    if (!KEYS.includes(key)) throw refuseField(pointerTo(at, key), 'is no field of an exported event; remove it')
  }
  const id = (key: string) =>
    parseOptionalId((value, field) => parseInt64(value, field ?? key), readField(extra, key), pointerTo(at, key))
  const details: EventDetails = {
    stageId: id('stage_id'),
    frameId: id('frame_id'),
    commandId: id('command_id'),
    payloadRef: readField(extra, 'payload_ref'),
    aggregateId: readText(extra, 'aggregate_id', at),
    aggregateType: readText(extra, 'aggregate_type', at),
    schemaName: readText(extra, 'schema_name', at),
    schemaVersion: readSchemaVersion(extra, at),
  }
  return Object.values(details).every((value) => value === undefined) ? undefined : details
}

function readSchemaVersion(extra: JsonObject, at: string): number | undefined {
  const value = readField(extra, 'schema_version')
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX) return value
  throw refuseField(pointerTo(at, 'schema_version'), 'must be a whole number')
}
