// An event that is stored already, and whether one that comes under its id says the same.
import { type EventRecord, eventChecksum } from '../../domain/events/eventRecord.js'
import type { EventSecrets } from '../../domain/secrets/eventSecrets.js'
import { toEventRecord } from '../../stores/events/eventRows.js'
import type { ExistingEvent } from '../../stores/events/eventStore.js'
import { owned } from './eventOwner.js'

export interface KnownEvent {
  streamVersion: string | undefined
  saysTheSame(event: EventRecord): boolean
}

export function fromRow(row: ExistingEvent, secrets: EventSecrets): KnownEvent {
  return {
    streamVersion: row.stream_version ?? undefined,
    saysTheSame: (event) => {
      const stored = toEventRecord(row)
      const said = eventChecksum(owned(event, stored))
      if (row.envelope_checksum === said) return true
      if (row.is_large) return false
      // Written by somebody else, or when other names were secret: compare what the columns would say today.
      return eventChecksum({ ...secrets.hide(stored), createdAtGiven: event.createdAtGiven }) === said
    },
  }
}
