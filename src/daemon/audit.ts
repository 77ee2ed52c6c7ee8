// What an audit of the outbox needs: the databases, and the stream to compare them with.
import { CpError } from '../errors.js'
import type { AuditDeps } from '../services/outbox/audit.js'
import type { Deps } from './deps.js'

const CONNECT_MS = 5_000

export async function auditDeps({ databases, bus, clock, config }: Deps): Promise<AuditDeps> {
  if (bus === undefined) throw new CpError('config', 'NATS is not configured; set NOETL_NATS_URL')
  await bus.untilConnected(CONNECT_MS)
  return { databases, bus, clock, stream: config.streamName, streamMaxAgeMs: config.streamRetentionMs }
}
