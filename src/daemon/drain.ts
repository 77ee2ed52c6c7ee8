// What one drain of the outbox needs: the stream, and relays that take free lanes only.
import { ensureStream } from '../bus/streams.js'
import { CpError } from '../errors.js'
import { type Drained, type DrainLimits, drainOutbox } from '../services/outbox/drain.js'
import { readClusterId } from '../stores/ids/identityStore.js'
import { buildCore } from './core.js'
import type { Deps } from './deps.js'
import { wantedStream } from './endpoints.js'
import { buildRelays } from './relays.js'

export interface DrainOptions extends DrainLimits {
  /** The daemon's address, for references to payloads too large for the stream. */
  httpUrl: string
  shard: number | undefined
}

const CONNECT_MS = 5_000

export async function drain(deps: Deps, options: DrainOptions): Promise<Drained> {
  const { bus, clock, config } = deps
  if (bus === undefined) throw new CpError('config', 'NATS is not configured; set NOETL_NATS_URL')
  const databases = deps.databases.shards.filter((_, shard) => options.shard === undefined || options.shard === shard)
  if (databases.length === 0)
    throw new CpError('invalid_input', `--shard must be from 0 to ${deps.databases.shards.length - 1}`)
  const clusterId = await readClusterId(deps.databases.cluster.db)
  await bus.untilConnected(CONNECT_MS)
  const { limits } = await ensureStream(bus.connection(), wantedStream(config))
  const { relays } = buildRelays(deps, buildCore(deps, 'oneShot'), bus, {
    clusterId,
    share: false,
    allowance: options.maxRows === undefined ? undefined : { left: options.maxRows },
    shard: options.shard,
    httpUrl: () => options.httpUrl,
    stream: () => limits,
  })
  return drainOutbox({ bus, clock, databases, relays }, options)
}
