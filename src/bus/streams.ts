// Makes sure the event stream exists with explicit retention and duplicate window. A stream that is
// already there is left as its owner configured it; what does not fit is reported, not changed.
import {
  DiscardPolicy,
  type NatsConnection,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats'
import { withDeadline } from '../runtime/deadline.js'
import { toBusError } from './busErrors.js'

export interface StreamWanted {
  name: string
  /** Every subject published must lie under this one: `noetl.events.>`. */
  subjects: string[]
  maxAgeSeconds: number
  duplicateWindowSeconds: number
  replicas: number
}

/** What the stream does with messages, whatever was wanted. */
export interface StreamLimits {
  /** The largest message it takes, headers included; infinite when only the server's limit holds. */
  maxMessageBytes: number
  /** How long it remembers message ids. */
  duplicateWindowMs: number
}

export interface StreamFound {
  created: boolean
  messages: number
  bytes: number
  limits: StreamLimits
  /** Differences that matter, in words. */
  complaints: string[]
}

const DEADLINE_MS = 5_000

export async function ensureStream(connection: NatsConnection, wanted: StreamWanted): Promise<StreamFound> {
  try {
    return await withDeadline(ensure(connection, wanted), DEADLINE_MS * 2, { what: `setting up stream ${wanted.name}` })
  } catch (error) {
    throw toBusError(error, `stream ${wanted.name}`)
  }
}

/** The stream as it is; undefined when there is none. Changes nothing. */
export async function findStream(connection: NatsConnection, wanted: StreamWanted): Promise<StreamFound | undefined> {
  try {
    return await withDeadline(find(connection, wanted), DEADLINE_MS * 2, { what: `reading stream ${wanted.name}` })
  } catch (error) {
    throw toBusError(error, `stream ${wanted.name}`)
  }
}

async function ensure(connection: NatsConnection, wanted: StreamWanted): Promise<StreamFound> {
  const found = await find(connection, wanted)
  if (found !== undefined) return found
  const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS })
  const info = await manager.streams.add({
    name: wanted.name,
    subjects: wanted.subjects,
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_age: nanos(wanted.maxAgeSeconds * 1000),
    // The server refuses a window longer than the retention.
    duplicate_window: nanos(Math.min(wanted.duplicateWindowSeconds, wanted.maxAgeSeconds) * 1000),
    num_replicas: wanted.replicas,
  })
  return { ...describe(info, wanted), created: true }
}

async function find(connection: NatsConnection, wanted: StreamWanted): Promise<StreamFound | undefined> {
  const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS })
  try {
    return describe(await manager.streams.info(wanted.name), wanted)
  } catch (error) {
    if ((error as { code?: string }).code === '404') return undefined
    throw error
  }
}

function describe(info: StreamInfo, wanted: StreamWanted): StreamFound {
  return {
    created: false,
    messages: info.state.messages,
    bytes: info.state.bytes,
    limits: {
      maxMessageBytes: info.config.max_msg_size > 0 ? info.config.max_msg_size : Number.POSITIVE_INFINITY,
      duplicateWindowMs: info.config.duplicate_window / 1e6,
    },
    complaints: complaintsAbout(info.config, wanted),
  }
}

function complaintsAbout(config: StreamConfig, wanted: StreamWanted): string[] {
  const complaints: string[] = []
  const window = config.duplicate_window / 1e9
  if (window < wanted.duplicateWindowSeconds && config.max_age / 1e9 > window) {
    complaints.push(`duplicate window is ${window} s, ${wanted.duplicateWindowSeconds} s are wanted`)
  }
  const missing = wanted.subjects.filter((subject) => !config.subjects.includes(subject))
  if (missing.length > 0) complaints.push(`does not bind ${missing.join(', ')} but ${config.subjects.join(', ')}`)
  if (config.storage !== StorageType.File) complaints.push('is kept in memory; a restart of NATS loses it')
  if (config.retention !== RetentionPolicy.Limits) {
    complaints.push(`has retention ${config.retention}; messages vanish when they are consumed`)
  }
  return complaints
}
