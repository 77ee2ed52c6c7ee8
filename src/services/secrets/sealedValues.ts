// The one way back to secrets that were taken out of events, and what an operator must know about the keys. Only the
// engine and a worker's claim may ask; nothing that is shown, logged or published comes from here.
import type { Databases } from '../../db/databases.js'
import type { Queryable } from '../../db/db.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { openEvent } from '../../domain/secrets/eventSecrets.js'
import type { Keyring } from '../../domain/secrets/keyring.js'
import { toCpError } from '../../errors.js'
import { toEventRecord } from '../../stores/events/eventRows.js'
import { type EventKey, listSealKeys, noteSealKey, readSealedEvents } from '../../stores/secrets/sealedStore.js'
import type { Finding } from '../health/finding.js'

/** Whoever opens says who it is; there is no third. */
export type Opener = 'engine' | 'claim'

export interface SealedDeps {
  databases: Databases
  keyring: Keyring
  onOpened?: (by: Opener, events: number) => void
}

/** The events whole, in id order. An id that is not there is left out; a key that is not at hand is an error. */
export function openEvents(
  deps: SealedDeps,
  by: Opener,
  executionId: string,
  eventIds: readonly string[],
): Promise<EventRecord[]> {
  return openEventsOf(
    deps,
    by,
    deps.databases.of(executionId),
    eventIds.map((eventId) => ({ executionId, eventId })),
  )
}

/** Of several executions of one database. */
export async function openEventsOf(
  deps: SealedDeps,
  by: Opener,
  db: Queryable,
  keys: readonly EventKey[],
): Promise<EventRecord[]> {
  const rows = await readSealedEvents(db, keys)
  const events = rows.map((row) => {
    const event = toEventRecord(row)
    return row.sealed === null ? event : openEvent(event, row.sealed, deps.keyring)
  })
  deps.onOpened?.(by, rows.filter((row) => row.sealed !== null).length)
  return events
}

/** The same as they may be shown. */
export async function readEventsOf(db: Queryable, keys: readonly EventKey[]): Promise<EventRecord[]> {
  return (await readSealedEvents(db, keys)).map(toEventRecord)
}

/** Tells the installation which key seals from now on; answers the keys that are in use and not at hand. */
export async function registerSealKey(databases: Databases, keyring: Keyring): Promise<string[]> {
  const { db } = databases.cluster
  if (keyring.sealingKeyId !== undefined) await noteSealKey(db, keyring.sealingKeyId)
  return missingKeys(databases, keyring)
}

async function missingKeys(databases: Databases, keyring: Keyring): Promise<string[]> {
  const used = await listSealKeys(databases.cluster.db)
  return used.map((row) => row.key_id).filter((id) => !keyring.keyIds.includes(id))
}

/** What `doctor` says about the keys. */
export async function sealFindings(deps: Pick<SealedDeps, 'databases' | 'keyring'>): Promise<Finding[]> {
  try {
    return await keyFindings(deps)
  } catch (error) {
    const { code, message } = toCpError(error)
    // Without a schema there is nothing to look at; that, and a database that is away, are findings made elsewhere.
    if (code === 'schema_mismatch' || code === 'unavailable') return []
    return [{ level: 'problem', where: deps.databases.cluster.label, finding: message, fix: 'noetl-cp status' }]
  }
}

async function keyFindings(deps: Pick<SealedDeps, 'databases' | 'keyring'>): Promise<Finding[]> {
  const where = 'secrets'
  const findings: Finding[] = []
  if (deps.keyring.sealingKeyId === undefined) {
    findings.push({
      level: 'advice',
      where,
      finding: 'there is no secret key: secrets in events are removed for good, and no later step can use them',
      fix: 'set NOETL_CP_SECRET_KEY or NOETL_CP_SECRET_KEY_FILE to the same text in every daemon: openssl rand -base64 32',
    })
  }
  for (const id of await missingKeys(deps.databases, deps.keyring)) {
    findings.push({
      level: 'problem',
      where,
      finding: `events were sealed with key ${id}, which is not at hand here`,
      fix: 'add that key after the present one in NOETL_CP_SECRET_KEY, in every daemon',
    })
  }
  return findings
}
