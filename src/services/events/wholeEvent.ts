// One event with everything it holds, for readers of pages that had to leave a column out.
import type { Databases } from '../../db/databases.js'
import { writeExportedEvent } from '../../domain/events/exportedEvent.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import { CpError } from '../../errors.js'
import { readBytes, readWhole } from '../../stores/events/eventTransferStore.js'
import type { EventPart } from './inThread/shownEvent.js'

export interface WholeEventDeps {
  databases: Databases
  /** The task `shownEvent`, in a thread. */
  shownEvent(text: string, part: EventPart | undefined): Promise<{ bytes: Uint8Array | undefined }>
}

const BYTES_MAX = 64 * 1_048_576

/** Where it is served. */
export function wholeEventPath(executionId: string, eventId: string): string {
  return `/api/executions/${executionId}/events/${eventId}`
}

/** JSON text in UTF-8, without secrets; of one part of the event if that is asked for. */
export async function wholeEvent(
  deps: WholeEventDeps,
  executionId: ExecutionId,
  eventId: EventId,
  part?: EventPart,
): Promise<Uint8Array> {
  const db = deps.databases.of(executionId)
  const bytes = await readBytes(db, executionId, eventId)
  if (bytes === undefined) throw new CpError('not_found', `execution ${executionId} has no event ${eventId}`)
  if (bytes > BYTES_MAX) {
    throw new CpError(
      'too_large',
      `event ${eventId} has ${Math.round(bytes / 1_048_576)} MB; use "noetl-cp events export ${executionId}"`,
    )
  }
  const [row] = await readWhole(db, executionId, [eventId])
  if (row === undefined) throw new CpError('not_found', `execution ${executionId} has no event ${eventId}`)
  const { bytes: shown } = await deps.shownEvent(writeExportedEvent({ ...row, sealed: null }), part)
  if (shown === undefined) throw new CpError('not_found', `event ${eventId} has no ${part?.name}`)
  return shown
}
