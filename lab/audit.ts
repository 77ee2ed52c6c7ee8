// The audit as an operator runs it, straight at the servers.
import { type Finished, runBinary } from '../test/support/binary.js'
import type { Site } from './site.js'

const GIVE_UP_MS = 180_000

export function runAudit(site: Site, maxSeconds: number): Promise<Finished> {
  const args = ['outbox', 'audit', '--republish', '--json', '--max-seconds', String(maxSeconds)]
  return runBinary(args, {
    env: {
      ...site.env,
      NOETL_SHARDS: site.shards.map(({ url }) => url).join(','),
      NOETL_NATS_URL: site.nats.nodes.map(({ port }) => `nats://127.0.0.1:${port}`).join(','),
    },
    timeoutMs: GIVE_UP_MS,
  })
}
