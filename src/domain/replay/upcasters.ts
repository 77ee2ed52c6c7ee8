// Upcasters: functions that lift an event of an older schema version to the next one before it is
// folded. A chain ends where no function is registered. The digest names which lifts exist, so that a
// snapshot made with others is not continued; the functions themselves do not enter it.

import { CpError } from '../../errors.js'
import { canonicalChecksum } from '../json/canonical.js'
import { compareCodePoints } from '../json/codePoints.js'
import type { JsonObject } from '../json/value.js'
import { compareIntegers, firstTruthy, type Integer, integerOf, type Maybe, textOf } from './coerce.js'

export type Upcaster = (event: JsonObject) => JsonObject

const DEFAULT_SCHEMA = 'noetl.event'
// Two schemas that lift into each other would never end.
const STEPS_MAX = 1000

interface Registered {
  schemaName: string
  fromVersion: number
  upcaster: Upcaster
}

export class UpcasterRegistry {
  private readonly byKey = new Map<string, Registered>()

  register(schemaName: string, fromVersion: number, upcaster: Upcaster): void {
    if (schemaName === '') throw new CpError('invalid_input', 'an upcaster needs a schema name')
    if (!Number.isSafeInteger(fromVersion) || fromVersion < 1) {
      throw new CpError(
        'invalid_input',
        `an upcaster of ${schemaName} starts at version ${fromVersion}; 1 is the first`,
      )
    }
    const key = keyOf(schemaName, fromVersion)
    if (this.byKey.has(key)) {
      throw new CpError('invalid_input', `two upcasters for ${schemaName} version ${fromVersion}`)
    }
    this.byKey.set(key, { schemaName, fromVersion, upcaster })
  }

  digest(): string {
    const registered = Array.from(this.byKey.values()).sort(
      (left, right) => compareCodePoints(left.schemaName, right.schemaName) || left.fromVersion - right.fromVersion,
    )
    return canonicalChecksum(
      registered.map(({ schemaName, fromVersion }) => ({ from_version: fromVersion, schema_name: schemaName })),
    )
  }

  /** The event at the end of its chain, with its schema name and version written into it. */
  upcast(event: JsonObject): JsonObject {
    let current = event
    let name = textOf(firstTruthy(event['schema_name'], DEFAULT_SCHEMA))
    let version = versionOf(event, event['schema_version'])
    for (let step = 0; step < STEPS_MAX; step++) {
      const registered = this.byKey.get(keyOf(name, version))
      if (registered === undefined) return labelled(current, name, version)
      const lifted = registered.upcaster({ ...current })
      const nextName = textOf(firstTruthy(lifted['schema_name'], name))
      const nextVersion = versionOf(event, lifted['schema_version'])
      if (nextName === name && compareIntegers(nextVersion, version) <= 0) {
        throw failure(event, `the upcaster for ${name} version ${version} did not advance the version`)
      }
      current = lifted
      name = nextName
      version = nextVersion
    }
    throw failure(event, `more than ${STEPS_MAX} upcasting steps; two schemas lift into each other`)
  }
}

function keyOf(schemaName: string, version: Integer): string {
  return `${version} ${schemaName}`
}

function labelled(event: JsonObject, name: string, version: Integer): JsonObject {
  if (event['schema_name'] === name && event['schema_version'] === version) return event
  return { ...event, schema_name: name, schema_version: version }
}

function versionOf(event: JsonObject, value: Maybe): Integer {
  if (value === null || value === undefined) return 1
  const version = integerOf(value)
  if (version === undefined || version < 1) throw failure(event, 'its schema version is not a positive integer')
  return version
}

function failure(event: JsonObject, what: string): CpError {
  const id = integerOf(event['event_id'])
  const event_id = id === undefined ? null : String(id)
  return new CpError('corrupt', `event ${event_id ?? 'without id'} cannot be upcast: ${what}`, {
    details: { event_id },
  })
}
