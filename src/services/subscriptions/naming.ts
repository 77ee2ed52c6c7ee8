// The durable consumer of a subscription is named after its path, not its id: an id that is registered after
// the one before was deactivated goes on where that one stopped.
import { sha256Hex } from '../../domain/json/canonical.js'
import { cleanToken } from '../../domain/outbox/subject.js'
import type { NatsSource } from './entry.js'

export function durableOf(path: string, source: NatsSource): string {
  return source.durable ?? `noetl-${cleanToken(path).slice(0, 60)}-${sha256Hex(path).slice(0, 8)}`
}
