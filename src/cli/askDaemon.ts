// Sends one request to the daemon of this instance and answers undefined when it does not reply within a few seconds.
import { messageOf } from '../errors.js'

export interface DaemonAnswer {
  /** 0 when there is no answer. */
  status: number
  text: string
  /** Why there is no answer. */
  error?: string
}

const DEADLINE_MS = 3_000

export async function askDaemon(url: string, path: string): Promise<DaemonAnswer> {
  try {
    const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(DEADLINE_MS) })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause
    return { status: 0, text: '', error: messageOf(cause ?? error) }
  }
}
