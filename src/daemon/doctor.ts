// What `doctor` looks at, for the command and for the daemon's own route.
import { syncsAlways } from '../embedded/natsConfig.js'
import { examine } from '../services/health/doctor.js'
import type { Finding } from '../services/health/finding.js'
import type { Deps } from './deps.js'
import { wantedStream } from './endpoints.js'

const CONNECT_DEADLINE_MS = 3_000

export async function examineInstance(deps: Deps): Promise<Finding[]> {
  const { natsConfigFile, natsMonitorUrl } = deps.endpoints
  return examine({
    databases: deps.databases,
    documents: deps.documents,
    bus: deps.bus,
    clock: deps.clock,
    keyring: deps.keyring,
    nats: {
      stream: wantedStream(deps.config),
      monitorUrl: natsMonitorUrl,
      ownSyncsAlways: natsConfigFile === undefined ? undefined : await syncsAlways(natsConfigFile),
      connectDeadlineMs: CONNECT_DEADLINE_MS,
    },
  })
}
