// What `doctor` says about NATS: reachable, stream as it should be, and whether an acknowledged message
// survives a power cut (JetStream's default is to sync every two minutes).
import type { Bus } from '../../bus/connect.js'
import { findStream, type StreamWanted } from '../../bus/streams.js'
import { toCpError } from '../../errors.js'
import type { Finding } from './finding.js'

export interface NatsInspection {
  stream: StreamWanted
  /** Monitoring address of nats-server. */
  monitorUrl: string | undefined
  /** The same of our own server, from its configuration; without either durability cannot be told. */
  ownSyncsAlways: boolean | undefined
  connectDeadlineMs: number
}

export async function inspectNats(bus: Bus | undefined, inspection: NatsInspection): Promise<Finding[]> {
  if (bus === undefined) {
    return [{ level: 'advice', where: 'nats', finding: 'not configured: outbox rows wait', fix: 'set NOETL_NATS_URL' }]
  }
  try {
    await bus.untilConnected(inspection.connectDeadlineMs)
    return [...(await streamFindings(bus, inspection.stream)), ...(await durabilityFindings(inspection))]
  } catch (error) {
    return [
      {
        level: 'problem',
        where: 'nats',
        finding: toCpError(error).message,
        fix: 'start nats-server with JetStream, or check NOETL_NATS_URL and credentials',
      },
    ]
  }
}

async function streamFindings(bus: Bus, wanted: StreamWanted): Promise<Finding[]> {
  const found = await findStream(bus.connection(), wanted)
  if (found === undefined) {
    return [
      {
        level: 'advice',
        where: 'nats',
        finding: `stream ${wanted.name} does not exist yet`,
        fix: 'the daemon creates it at start; run noetl-cp serve',
      },
    ]
  }
  return found.complaints.map((complaint) => ({
    level: 'problem',
    where: `stream ${wanted.name}`,
    finding: complaint,
    fix: `nats stream edit ${wanted.name}, or delete it and let the daemon make it again`,
  }))
}

async function durabilityFindings({ monitorUrl, ownSyncsAlways }: NatsInspection): Promise<Finding[]> {
  if (monitorUrl === undefined && ownSyncsAlways !== undefined)
    return ownSyncsAlways ? [] : [lateSync('the embedded nats-server')]
  if (monitorUrl === undefined) {
    return [
      {
        level: 'advice',
        where: 'nats',
        finding: 'durability cannot be checked without the monitoring address',
        fix: 'set NOETL_NATS_MONITOR_URL, for instance http://127.0.0.1:8222',
      },
    ]
  }
  const response = await fetch(new URL('/varz', monitorUrl), { signal: AbortSignal.timeout(3000) })
  const varz = (await response.json()) as {
    version?: string
    jetstream?: { config?: { sync_always?: boolean; sync_interval?: number } }
  }
  if (varz.jetstream?.config === undefined) {
    return [
      {
        level: 'problem',
        where: 'nats',
        finding: 'JetStream is off',
        fix: 'add "jetstream { store_dir: … }" to nats-server.conf',
      },
    ]
  }
  if (varz.jetstream.config.sync_always === true) return []
  return [lateSync(`nats-server ${varz.version ?? ''}`)]
}

function lateSync(server: string): Finding {
  return {
    level: 'advice',
    where: 'nats',
    finding: `${server} acknowledges before syncing to disk; a power cut may lose the last two minutes of acknowledged messages`,
    fix: 'jetstream { sync_interval: always } in the nats-server.conf of a server of your own (2.10 or newer), or replicas on several machines',
  }
}
