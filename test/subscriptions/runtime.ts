// Pull subscriptions with everything they need, for tests: databases, daemons' parts on them, a link to NATS, and
// looks from outside at what was started.
import { randomBytes } from 'node:crypto'
import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import { type Bus, createBus } from '../../src/bus/connect.js'
import { systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import type { MessageOutcome } from '../../src/services/subscriptions/driver.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { createSupervisor, type Supervisor } from '../../src/services/subscriptions/supervisor.js'
import { openCore, type TestCore, testMember } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import type { TestServers } from '../support/servers.js'
import { until } from '../support/until.js'
import { type PullSpec, pullDocument, registerDocuments } from './specs.js'

export interface RuntimeOptions {
  shards?: number
  /** Daemons over the same databases. */
  cores?: number
  /** Default the shared server. */
  nats?: { url: string; token?: string }
}

export interface PullRuntime {
  shards: TestDatabase[]
  cores: TestCore[]
  buses: Bus[]
  connection: NatsConnection
  jsm: JetStreamManager
  /** How many messages of each outcome the drivers reported. */
  outcomes: Map<MessageOutcome, number>
  /** A document registered and activated; answers its id. */
  activate(spec: PullSpec): Promise<string>
  publish(subject: string, count: number, from?: number): Promise<void>
  /** The numbers in the messages that started something, in their order. */
  started(id: string): Promise<number[]>
  untilStarted(id: string, count: number, timeoutMs?: number): Promise<unknown>
  drive(index?: number, options?: { attemptsMax?: number; leaseMs?: number }): Promise<Supervisor>
  /** Stops what `drive` began. */
  rest(): Promise<void>
  close(): Promise<void>
}

export async function openPullRuntime(servers: TestServers, options: RuntimeOptions = {}): Promise<PullRuntime> {
  const nats = options.nats ?? { url: servers.natsUrl, token: servers.natsToken }
  const shards = await Promise.all(Array.from({ length: options.shards ?? 1 }, () => cloneDatabase(servers)))
  const cores = await Promise.all(
    Array.from({ length: options.cores ?? 1 }, (_, index) => openCore(shards, { hostName: `host-${index}` })),
  )
  const buses = cores.map(() => createBus({ ...nats, name: 'test' }, { clock: systemClock, log: silentLog }))
  await Promise.all(buses.map((bus) => bus.start()))
  const link = { servers: nats.url, ...(nats.token === undefined ? {} : { token: nats.token }) }
  const connection = await connect({ ...link, maxReconnectAttempts: -1, reconnectTimeWait: 100 })
  const jsm = await connection.jetstreamManager()
  const outcomes = new Map<MessageOutcome, number>()
  const running: Supervisor[] = []
  await registerDocuments(cores[0]!)

  async function started(id: string): Promise<number[]> {
    const rows = await Promise.all(
      shards.map((shard) =>
        shard.sql<{ n: number }>(
          `select (context -> 'workload' ->> 'n')::int as n from noetl.event
           where parent_execution_id = $1::bigint and event_type = 'playbook_started'`,
          [id],
        ),
      ),
    )
    return rows
      .flat()
      .map((row) => row.n)
      .sort((a, b) => a - b)
  }
  const rest = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((supervisor) => supervisor.stop(5_000)))
  }

  return {
    shards,
    cores,
    buses,
    connection,
    jsm,
    outcomes,
    started,
    rest,
    activate: async (spec) => {
      await registerEntry(cores[0]!, { content: pullDocument(spec) })
      const { row } = await registerSubscription(cores[0]!, spec.path)
      await changeSubscription(cores[0]!, { id: row.subscription_id, action: 'activate' })
      return row.subscription_id
    },
    publish: async (subject, count, from = 0) => {
      // A link of its own: what was published must not depend on how a client survives its server.
      const own = await connect(link)
      const js = own.jetstream({ timeout: 60_000 })
      await Promise.all(Array.from({ length: count }, (_, n) => js.publish(subject, JSON.stringify({ n: from + n }))))
      await own.close()
    },
    untilStarted: (id, count, timeoutMs = 30_000) =>
      until(`${count} executions`, async () => (await started(id)).length >= count, { timeoutMs }),
    drive: async (index = 0, given = {}) => {
      const supervisor = createSupervisor({
        ...cores[index]!,
        bus: buses[index]!,
        random: () => 0,
        membership: testMember(cores[index]!, `test-${index}-${randomBytes(3).toString('hex')}`),
        leaseMs: given.leaseMs ?? 10_000,
        attemptsMax: given.attemptsMax ?? 3,
        onMessages: (outcome, count) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count),
        onDriven: () => undefined,
        onError: () => undefined,
      })
      await supervisor.start()
      running.push(supervisor)
      return supervisor
    },
    close: async () => {
      await rest()
      await Promise.all(buses.map((bus) => bus.stop(1_000)))
      await connection.close()
      await Promise.all(cores.map((core) => core.close()))
      await Promise.all(shards.map((shard) => shard.drop()))
    },
  }
}

export const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, n) => from + n)
