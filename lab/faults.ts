// Injects planned faults and heals them again. Nothing in the daemons helps: they are killed, cut and deceived from
// outside.
import type { LabDaemon } from './daemons.js'
import type { FaultRecord, Journal } from './journal.js'
import type { Ledger } from './ledger.js'
import type { NatsNode } from './nats.js'
import type { FaultName, PlannedFault } from './plan.js'
import type { LabPostgres } from './postgres.js'
import { judgeNotReady } from './recovery.js'
import { beginRestore } from './restore.js'
import type { Site } from './site.js'
import type { SmallDisk } from './tmpfs.js'

type Heal = () => Promise<void> | void
interface Struck {
  victim: string
  heal: Heal
}
type Inject = (site: Site, fault: PlannedFault, around: Around) => Promise<Struck> | Struck

/** What faults leave behind besides broken things. */
export interface Around {
  journal: Journal
  ledger: Ledger
}

const HALF_SKEW_MS = 250

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const victimOf = <T>(list: readonly T[], fault: PlannedFault): T => list[fault.victim % list.length]!

const INJECT: Record<FaultName, Inject> = {
  'daemon killed': async (site, fault) => {
    const daemon = victimOf(site.processes, fault)
    await daemon.kill()
    return { victim: daemon.name, heal: () => daemon.start() }
  },
  'daemon frozen': (site, fault) => {
    const daemon = victimOf(site.processes, fault)
    daemon.freeze()
    return { victim: daemon.name, heal: () => daemon.thaw() }
  },
  // The exit code is judged by the runner of the faults, see below.
  'daemon stopped': (site, fault) => {
    const daemon = victimOf(site.processes, fault)
    return { victim: daemon.name, heal: () => daemon.start() }
  },
  'thread killed': async (site, fault) => {
    const daemon = victimOf(site.processes, fault)
    await daemon.order({ thread: fault.dice })
    return { victim: daemon.name, heal: () => undefined }
  },
  // Backward steps of up to 10 s are promised to be absorbed; a step forward is followed by one back.
  'clock jump': async (site, fault) => {
    const daemon = victimOf(site.processes, fault)
    const jumpMs = Math.round((fault.dice * 2 - 1) * 8_000)
    await daemon.order({ clock: jumpMs })
    return { victim: `${daemon.name} by ${(jumpMs / 1000).toFixed(1)} s`, heal: () => daemon.order({ clock: 0 }) }
  },
  // As two hosts are whose clocks nobody keeps.
  'clocks apart': async (site, fault) => {
    const half = fault.dice < 0.5 ? HALF_SKEW_MS : -HALF_SKEW_MS
    await Promise.all(site.daemons.map((daemon, index) => daemon.order({ clock: index % 2 === 0 ? half : -half })))
    return {
      victim: site.daemons.map(({ name }, index) => `${name} ${index % 2 === 0 ? half : -half} ms`).join(', '),
      heal: async () => {
        await Promise.all(site.daemons.map((daemon) => daemon.order({ clock: 0 })))
      },
    }
  },
  'postgres restarted': (site, fault) => onPostgres(site, fault, (server) => server.crash()),
  'postgres frozen': (site, fault) => {
    const struck = onPostgres(site, fault, (server) => server.freeze())
    return { ...struck, heal: () => victimOf(site.shards, fault).thaw() }
  },
  'backends terminated': async (site, fault) => {
    const server = victimOf(site.shards, fault)
    const share = fault.dice
    await server
      .sql(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name <> 'chaos lab' and backend_type = 'client backend' and random() <= $1::float8`,
        [share < 0.5 ? 1 : share],
      )
      .catch(() => undefined)
    return { victim: nameOf(site, server), heal: () => undefined }
  },
  'postgres read-only': async (site, fault, { journal }) => {
    const server = victimOf(site.shards, fault)
    // The other installation has its database on the first server.
    const users = server === site.shards[0] ? site.processes : site.daemons
    const known = users.map((daemon) => ({ daemon, interruptions: daemon.interruptions() }))
    await server.setReadOnly(true)
    return {
      victim: nameOf(site, server),
      heal: async () => {
        const undisturbed = known.filter(({ daemon, interruptions }) => daemon.interruptions() === interruptions)
        await judgeNotReady(
          undisturbed.map(({ daemon }) => daemon),
          'its database takes no writes',
          journal,
        )
        await server.setReadOnly(false)
      },
    }
  },
  'postgres disk full': async (site) => {
    const server = site.shards.find(({ disk }) => typeof disk !== 'string')!
    const disk = server.disk as SmallDisk
    await disk.fill()
    return { victim: nameOf(site, server), heal: () => disk.free() }
  },
  'nats killed': async (site, fault) => {
    const node = victimOf(site.nats.nodes, fault)
    await node.kill()
    return { victim: nodeName(site, node), heal: () => node.start() }
  },
  'nats frozen': (site, fault) => {
    const node = victimOf(site.nats.nodes, fault)
    node.freeze()
    return { victim: nodeName(site, node), heal: () => node.thaw() }
  },
  'nats stalled': (site, fault) => {
    const node = victimOf(site.nats.nodes, fault)
    node.freeze()
    return { victim: nodeName(site, node), heal: () => node.thaw() }
  },
  'nats restored': async (site, _fault, { ledger }) => {
    const node = site.nats.nodes[0]!
    const restore = await beginRestore(site, node, ledger)
    return { victim: nodeName(site, node), heal: restore }
  },
  // JetStream turns itself off when it cannot write, and comes back only with a restart.
  'nats disk full': async (site) => {
    const node = site.nats.nodes[0]!
    const disk = node.disk as SmallDisk
    await disk.fill()
    return {
      victim: nodeName(site, node),
      heal: async () => {
        await disk.free()
        await node.kill()
        await node.start()
      },
    }
  },
  'postgres link black-holed': (site, fault) => onLink(site, fault, 'postgres', 'blackhole'),
  'postgres link refused': (site, fault) => onLink(site, fault, 'postgres', 'refuse'),
  'postgres link reset': (site, fault) => onLink(site, fault, 'postgres', 'reset'),
  'nats link black-holed': (site, fault) => onLink(site, fault, 'nats', 'blackhole'),
  'nats answers lost': (site, fault) => onLink(site, fault, 'nats', 'mute'),
  'nats link refused': (site, fault) => onLink(site, fault, 'nats', 'refuse'),
  'nats link reset': (site, fault) => onLink(site, fault, 'nats', 'reset'),
}

function onPostgres(site: Site, fault: PlannedFault, strike: (server: LabPostgres) => void): Struck {
  const server = victimOf(site.shards, fault)
  strike(server)
  return { victim: nameOf(site, server), heal: () => undefined }
}

/** Half of the time one daemon is cut off, half of the time all are. */
function onLink(
  site: Site,
  fault: PlannedFault,
  kind: 'postgres' | 'nats',
  what: 'blackhole' | 'mute' | 'refuse' | 'reset',
): Struck {
  const daemons = fault.dice < 0.5 ? [victimOf(site.processes, fault)] : [...site.processes]
  // Of a cluster of brokers a whole daemon is cut off, not one link that it would not miss.
  const proxies = daemons.flatMap(({ links }) => (kind === 'nats' ? links.nats : [victimOf(links.postgres, fault)]))
  for (const proxy of proxies) {
    if (what === 'reset') proxy.reset()
    else proxy.setMode(what)
  }
  const shard = kind === 'postgres' ? ` to database ${fault.victim % site.shards.length}` : ''
  return {
    victim: daemons.map(({ name }) => name).join('+') + shard,
    heal: () => {
      for (const proxy of proxies) proxy.setMode('pass')
    },
  }
}

const nameOf = (site: Site, server: LabPostgres): string => `shard ${site.shards.indexOf(server)}`
const nodeName = (site: Site, node: NatsNode): string => `node ${site.nats.nodes.indexOf(node)}`

/** Kinds that this site cannot suffer, with the reason. */
export function impossibleFaults(site: Site): { name: FaultName; reason: string }[] {
  const found: { name: FaultName; reason: string }[] = []
  if (site.shards.every(({ disk }) => typeof disk === 'string'))
    found.push({ name: 'postgres disk full', reason: site.shards[1]!.disk as string })
  const [node] = site.nats.nodes
  if (typeof node!.disk === 'string') found.push({ name: 'nats disk full', reason: node!.disk })
  if (site.nats.nodes.length > 1)
    found.push({ name: 'nats restored', reason: 'a member of a cluster gets from the others what its disk lacks' })
  return found
}

/** From the first bite to the last heal. */
export async function strike(site: Site, faults: readonly PlannedFault[], around: Around): Promise<void> {
  await Promise.all(faults.map((fault) => strikeOne(site, fault, around)))
}

async function strikeOne(site: Site, fault: PlannedFault, around: Around): Promise<void> {
  const { journal } = around
  const { victim, heal } = await INJECT[fault.name](site, fault, around)
  const record: FaultRecord = { name: fault.name, victim, from: journal.seconds() }
  journal.faults.push(record)
  if (fault.name === 'daemon stopped') await stopJudged(victimOf(site.processes, fault), journal)
  await sleep(fault.seconds * 1000)
  await heal()
  record.to = journal.seconds()
}

/** Asked to stop, a daemon ends with 0, whatever goes on around it. */
export async function stopJudged(daemon: LabDaemon, journal: Journal): Promise<void> {
  const begun = journal.seconds()
  const code = await daemon.stop()
  journal.stops.push(journal.seconds() - begun)
  if (code === 0) return
  journal.report({
    invariant: 'I7',
    kind: 'bad exit',
    message: `daemon ${daemon.name}, asked to stop, ended with ${code ?? 'a kill after its deadline'} after ${(journal.seconds() - begun).toFixed(1)} s:\n${daemon.lastWords()}`,
  })
}
