// Names the durable consumer of a subscription after its path, not its id: when a path is registered again after it was
// deactivated, delivery goes on where it stopped.
import { sha256Hex } from '../../domain/json/canonical.js'
import { cleanToken } from '../../domain/outbox/subject.js'
import type { NatsSource } from './entry.js'

export function durableOf(path: string, source: NatsSource): string {
  return source.durable ?? `noetl-${cleanToken(path).slice(0, 60)}-${sha256Hex(path).slice(0, 8)}`
}
