// Makes sure the event stream exists with explicit retention and duplicate window. A stream that is
// already there is left as its owner configured it; what does not fit is reported, not changed.
import { DiscardPolicy, type NatsConnection, nanos, RetentionPolicy, StorageType, type StreamConfig } from 'nats'
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

export interface StreamFound {
  created: boolean
  messages: number
  bytes: number
  duplicateWindowSeconds: number
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

async function ensure(connection: NatsConnection, wanted: StreamWanted): Promise<StreamFound> {
  const manager = await connection.jetstreamManager({ timeout: DEADLINE_MS })
  let created = false
  let info = await manager.streams.info(wanted.name).catch((error: { code?: string }) => {
    if (error.code === '404') return undefined
    throw error
  })
  if (info === undefined) {
    created = true
    info = await manager.streams.add({
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
  }
  const window = info.config.duplicate_window / 1e9
  return {
    created,
    messages: info.state.messages,
    bytes: info.state.bytes,
    duplicateWindowSeconds: window,
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
