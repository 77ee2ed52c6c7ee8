// What the stream already holds: the last message of a subject, for rows whose fate is unknown.
import type { NatsConnection } from 'nats'
import { withDeadline } from '../runtime/deadline.js'
import { toBusError } from './busErrors.js'

export interface StoredMessage {
  seq: number
  header(name: string): string | undefined
}

const DEADLINE_MS = 5_000

/** Undefined when the subject has none. */
export async function lastOfSubject(
  connection: NatsConnection,
  stream: string,
  subject: string,
): Promise<StoredMessage | undefined> {
  const find = async (): Promise<StoredMessage | undefined> => {
    const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS, checkAPI: false })
    try {
      const message = await manager.streams.getMessage(stream, { last_by_subj: subject })
      return { seq: message.seq, header: (name) => (message.header.has(name) ? message.header.get(name) : undefined) }
    } catch (error) {
      if ((error as { code?: string }).code === '404') return undefined
      throw error
    }
  }
  try {
    return await withDeadline(find(), DEADLINE_MS * 2, { what: `reading the last message of ${subject}` })
  } catch (error) {
    throw toBusError(error, `stream ${stream}`)
  }
}
