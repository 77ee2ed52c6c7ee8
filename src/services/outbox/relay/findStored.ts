// Whether a row that was sent, and got no answer, is in the stream.
import type { Bus } from '../../../bus/connect.js'
import { lastOfSubject } from '../../../bus/streamLookup.js'
import { findMessageId } from '../../../bus/streamReader.js'
import { compareIds } from '../../../domain/ids/ids.js'
import type { OutboxRow } from '../../../stores/outbox/outboxStore.js'
import { LATE_HEADER, messageId, OUTBOX_ID_HEADER } from './message.js'

/** What the stream says about it. */
export type Found =
  | { kind: 'stored'; seq: number }
  /**
   * `lastSeq`: of the last message of its subject, 0 when there is none; undefined when others write there, too.
   * `nothingNewer`: no later row of its execution is there either.
   */
  | { kind: 'absent'; lastSeq: number | undefined; nothingNewer: boolean }
  | { kind: 'unclear' }

// A subject is one execution's; reading this many headers takes a fraction of a second.
const SUBJECT_READ_MAX = 10_000

/**
 * The last message of the subject answers most questions: it is the row's own, or an older one that came in its turn, and
 * then the row has not arrived. A row that was sent back comes after newer ones: then, and behind a newer one, the whole
 * subject is read.
 */
export async function findStored(bus: Bus, stream: string, subject: string, row: OutboxRow): Promise<Found> {
  const last = await lastOfSubject(bus.connection(), stream, subject)
  if (last === undefined) return { kind: 'absent', lastSeq: 0, nothingNewer: true }
  const outboxId = last.header(OUTBOX_ID_HEADER)
  // Not where a subject is shared by several executions, or has messages of another writer.
  const isOurs = outboxId !== undefined && last.header('Noetl-Execution-Id') === row.execution_id
  const lastSeq = isOurs ? last.seq : undefined
  if (isOurs) {
    const order = compareIds(outboxId, row.outbox_id)
    if (order === 0) return { kind: 'stored', seq: last.seq }
    if (order < 0 && last.header(LATE_HEADER) === undefined) return { kind: 'absent', lastSeq, nothingNewer: true }
  }
  const place = { subject, messageId: messageId(row), most: SUBJECT_READ_MAX }
  const seq = await findMessageId(bus.connection(), stream, place)
  if (seq === 'unclear') return { kind: 'unclear' }
  return seq === undefined ? { kind: 'absent', lastSeq, nothingNewer: false } : { kind: 'stored', seq }
}
