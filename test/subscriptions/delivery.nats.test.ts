// Promise: every message of a source starts exactly one execution, however often it is delivered and whoever drives
// it; nothing starts after a pause has returned; what fails comes back, then is kept with its reason.
import { randomBytes } from 'node:crypto'
import { headers as natsHeaders } from 'nats'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Bus, createBus } from '../../src/bus/connect.js'
import { systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { createBacklogWatch, type StateBacklog } from '../../src/services/subscriptions/backlogWatch.js'
import { pageOfDead, redriveDead } from '../../src/services/subscriptions/deadLetters.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { createLifecycleTimer } from '../../src/services/subscriptions/lifecycleTimer.js'
import { createSupervisor, type Supervisor } from '../../src/services/subscriptions/supervisor.js'
import { backlogOf } from '../../src/services/subscriptions/views.js'
import { keepDead } from '../../src/stores/subscriptions/subscriptionDeliveryStore.js'
import { openCore, playbook, type TestCore, testMember } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { holds, until } from '../support/until.js'
import { pullDocument, registerDocuments } from './specs.js'

let serial = 0

describe.each([1, 2])('over %i database(s)', (count) => {
  let shards: TestDatabase[]
  let cores: TestCore[]
  let buses: Bus[]
  let stream: TestStream
  const running: Supervisor[] = []

  beforeAll(async () => {
    const servers = inject('servers')
    shards = await Promise.all(Array.from({ length: count }, () => cloneDatabase(servers)))
    cores = [
      await openCore(shards, { hostName: 'one', connectionsMax: 4 }),
      await openCore(shards, { hostName: 'two', connectionsMax: 4 }),
    ]
    buses = cores.map(() =>
      createBus(
        { url: servers.natsUrl, token: servers.natsToken, name: 'test' },
        { clock: systemClock, log: silentLog },
      ),
    )
    await Promise.all(buses.map((bus) => bus.start()))
    stream = await useStream(servers)
    await stream.make({ max_age: 0, duplicate_window: 1e8 })
    await registerDocuments(cores[0]!)
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((supervisor) => supervisor.stop(5_000)))
  })
  afterAll(async () => {
    await Promise.all(buses.map((bus) => bus.stop(1_000)))
    await stream.close()
    await Promise.all(cores.map((core) => core.close()))
    await Promise.all(shards.map((shard) => shard.drop()))
  })

  async function drive(index = 0, options: { attemptsMax?: number; leaseMs?: number } = {}): Promise<Supervisor> {
    const supervisor = createSupervisor({
      ...cores[index]!,
      bus: buses[index]!,
      random: () => 0,
      membership: testMember(cores[index]!, `test-${index}-${randomBytes(3).toString('hex')}`),
      leaseMs: options.leaseMs ?? 10_000,
      attemptsMax: options.attemptsMax ?? 3,
      onMessages: () => undefined,
      onDriven: () => undefined,
      onError: () => undefined,
    })
    await supervisor.start()
    running.push(supervisor)
    return supervisor
  }

  async function active(extra = '', options: { playbook?: string } = {}): Promise<{ id: string; subject: string }> {
    const path = `tests/pull-${++serial}`
    const subject = `${stream.prefix}.s${serial}`
    await registerEntry(cores[0]!, {
      content: pullDocument({ path, stream: stream.name, subject, extra, ...options }),
    })
    const { row } = await registerSubscription(cores[0]!, path)
    await changeSubscription(cores[0]!, { id: row.subscription_id, action: 'activate' })
    return { id: row.subscription_id, subject }
  }

  async function publish(subject: string, count: number, from = 0): Promise<void> {
    const js = stream.connection.jetstream({ timeout: 60_000 })
    await Promise.all(
      Array.from({ length: count }, (_, index) => js.publish(subject, JSON.stringify({ n: from + index }))),
    )
  }

  async function started(id: string): Promise<{ execution_id: string; n: number | null }[]> {
    const rows = await Promise.all(
      shards.map((shard) =>
        shard.sql<{ execution_id: string; n: number | null }>(
          `select execution_id, (context -> 'workload' ->> 'n')::int as n from noetl.event
           where parent_execution_id = $1::bigint and event_type = 'playbook_started'`,
          [id],
        ),
      ),
    )
    return rows.flat()
  }
  const untilStarted = (id: string, wanted: number) =>
    until(`${wanted} executions`, async () => (await started(id)).length >= wanted, { timeoutMs: 120_000 })

  it('starts one execution per message, with lineage, outbox row and dedup record', async () => {
    const { id, subject } = await active()
    await publish(subject, 300)
    const supervisor = await drive()
    await untilStarted(id, 300)
    const rows = await started(id)
    expect(rows.map((row) => row.n).sort((a, b) => a! - b!)).toEqual(Array.from({ length: 300 }, (_, n) => n))
    const counts = await Promise.all(
      shards.map((shard) =>
        shard.sql<{ n: number }>(
          `select count(*)::int as n from noetl.event e
           join noetl.outbox o using (execution_id, event_id)
           join noetl.execution x using (execution_id)
           join noetl.subscription_dedup d on d.execution_id = e.execution_id
           where e.parent_execution_id = $1::bigint and x.parent_execution_id = $1::bigint and d.subscription_id = $1::bigint`,
          [id],
        ),
      ),
    )
    expect(counts.reduce((sum, [row]) => sum + row!.n, 0)).toBe(300)
    await until('everything is acknowledged', async () => {
      const { pending, ackPending } = await backlogOf({ ...cores[0]!, bus: buses[0] }, id)
      return pending + ackPending === 0
    })
    expect(supervisor.driven()).toContain(id)
  })

  it('starts nothing after a pause has returned, loses nothing, and goes on after resume', async () => {
    const { id, subject } = await active()
    let sent = 0
    let isSending = true
    const sender = (async () => {
      while (isSending) {
        await publish(subject, 50, sent)
        sent += 50
      }
    })()
    await drive()
    await untilStarted(id, 200)
    // From another process' point of view: the pauser shares nothing with the runtime but the databases.
    await changeSubscription(cores[1]!, { id, action: 'pause', reason: 'stop', actor: 'test' })
    const atReturn = (await started(id)).length
    await holds('nothing is started', async () => (await started(id)).length === atReturn, { forMs: 1_000 })
    isSending = false
    await sender
    expect((await started(id)).length).toBe(atReturn)
    expect(sent).toBeGreaterThan(atReturn)
    await until('the runtime lets go', async () => (await findSubscription(cores[0]!, id)).owner === null)
    await changeSubscription(cores[1]!, { id, action: 'resume' })
    await untilStarted(id, sent)
    await until('all are acknowledged', async () => {
      const { pending, ackPending } = await backlogOf({ ...cores[0]!, bus: buses[0] }, id)
      return pending + ackPending === 0
    })
    expect((await started(id)).map((row) => row.n).sort((a, b) => a! - b!)).toEqual(
      Array.from({ length: sent }, (_, n) => n),
    )
  })

  it('stays paused over a restart of the runtime', async () => {
    const { id, subject } = await active()
    await changeSubscription(cores[0]!, { id, action: 'pause' })
    await publish(subject, 5)
    const supervisor = await drive()
    await holds('it is not driven', () => !supervisor.driven().includes(id), { forMs: 1_500 })
    expect(await started(id)).toEqual([])
    expect((await findSubscription(cores[0]!, id)).state).toBe('PAUSED')
  })

  it('recognises redelivered messages and messages with the same id', async () => {
    const { id, subject } = await active('  dedup: {enabled: true, window_secs: 600}\n')
    const js = stream.connection.jetstream({ timeout: 60_000 })
    const send = async (messageId: string) => {
      const headers = natsHeaders()
      headers.set('Nats-Msg-Id', messageId)
      await js.publish(subject, '{"n": 1}', { headers })
    }
    await send('order-1')
    // Beyond the stream's own window of 100 ms: JetStream stores both.
    const forgottenAt = Date.parse(String((await stream.jsm.streams.info(stream.name)).state.last_ts)) + 400
    await until('the stream has forgotten it', () => Date.now() > forgottenAt)
    await send('order-1')
    await send('order-2')
    const supervisor = await drive()
    await untilStarted(id, 2)
    await until('all acknowledged', async () => (await backlogOf({ ...cores[0]!, bus: buses[0] }, id)).ackPending === 0)
    expect(await started(id)).toHaveLength(2)
    // The position is lost: everything is delivered again.
    await supervisor.stop(5_000)
    for await (const consumer of stream.jsm.consumers.list(stream.name)) {
      if (consumer.config.filter_subject === subject) await stream.jsm.consumers.delete(stream.name, consumer.name)
    }
    await drive()
    await until('delivered again', async () => {
      const { pending, ackPending } = await backlogOf({ ...cores[0]!, bus: buses[0] }, id)
      return pending + ackPending === 0
    })
    expect(await started(id)).toHaveLength(2)
  })

  it('names a playbook that is missing before the first message, and starts what waited when it is there', async () => {
    const missing = `tests/missing-${serial}-${count}`
    const { id, subject } = await active('', { playbook: missing })
    await drive(0, { attemptsMax: 2 })
    const trouble = async () => (await findSubscription(cores[0]!, id)).trouble
    await until('it is named', async () => (await trouble())?.includes(missing))
    await publish(subject, 2)
    await registerEntry(cores[0]!, { content: playbook(missing) })
    await untilStarted(id, 2)
    await until('the trouble is over', async () => (await trouble()) === null)
    expect(await pageOfDead(cores[0]!, id, '0', 10)).toEqual([])
  })

  it('does not take the key of a message that is given up; keeps it with its reason and starts it later', async () => {
    const { id, subject } = await active()
    await stream.connection.jetstream({ timeout: 60_000 }).publish(subject, 'no json')
    await drive(0, { attemptsMax: 2 })
    await until('a dead letter', async () => (await pageOfDead(cores[0]!, id, '0', 10)).length === 1)
    // Two more, given up for a reason that has gone meanwhile.
    for (const n of [1, 2]) {
      const message = { subscriptionId: id, identity: `nats:S:${n}`, subject, headers: {}, reason: 'x', attempts: 2 }
      await keepDead(cores[0]!.databases.cluster.db, { ...message, body: Buffer.from(JSON.stringify({ n })) })
    }
    const dead = await pageOfDead(cores[0]!, id, '0', 10)
    expect(await started(id)).toEqual([])
    const keys = await Promise.all(
      shards.map((shard) =>
        shard.sql('select 1 from noetl.subscription_dedup where subscription_id = $1::bigint', [id]),
      ),
    )
    expect(keys.flat()).toEqual([])

    const results = []
    for (const row of dead) results.push(await redriveDead(cores[0]!, row.dead_letter_id))
    expect(results.filter((result) => result.outcome === 'started')).toHaveLength(2)
    expect(results.filter((result) => result.outcome === 'failed')).toHaveLength(1)
    expect(await started(id)).toHaveLength(2)
    expect(await pageOfDead(cores[0]!, id, '0', 10)).toHaveLength(1)
    await changeSubscription(cores[0]!, { id, action: 'pause' })
    await expect(
      redriveDead(cores[0]!, (await pageOfDead(cores[0]!, id, '0', 1))[0]!.dead_letter_id),
    ).rejects.toMatchObject({ code: 'illegal_transition' })
  })

  it('shares subscriptions among runtimes and takes over from one that vanished', async () => {
    const made: { id: string; subject: string }[] = []
    for (let index = 0; index < 6; index++) made.push(await active())
    const [one, two] = [await drive(0, { leaseMs: 3_000 }), await drive(1, { leaseMs: 3_000 })]
    await until('both drive some', () => one.driven().length > 0 && two.driven().length > 0)
    await until('each is driven once', () => {
      const all = [...one.driven(), ...two.driven()]
      return made.every(({ id }) => all.filter((driven) => driven === id).length === 1)
    })
    await Promise.all(made.map(({ subject }) => publish(subject, 20)))
    await Promise.all(made.map(({ id }) => untilStarted(id, 20)))
    // It vanishes without a word: its lease runs out. What it still believes in is shut out by the epoch.
    const stale = await findSubscription(cores[0]!, one.driven()[0]!)
    await shards[0]!.sql(`update noetl.subscription set owner = 'gone', lease_until = now() - interval '1 second'`)
    await until('somebody else has it', async () => {
      const { epoch } = await findSubscription(cores[0]!, stale.subscription_id)
      return BigInt(epoch) > BigInt(stale.epoch)
    })
    await Promise.all(made.map(({ subject }) => publish(subject, 20, 20)))
    await Promise.all(made.map(({ id }) => untilStarted(id, 40)))
    for (const { id } of made) {
      expect((await started(id)).map((row) => row.n).sort((a, b) => a! - b!)).toEqual(
        Array.from({ length: 40 }, (_, n) => n),
      )
    }
  })

  it('keeps to its limits', async () => {
    const { id, subject } = await active('  limits: {max_in_flight: 5, max_dispatch_per_sec: 20}\n')
    await publish(subject, 200)
    await drive()
    await untilStarted(id, 1)
    const before = (await started(id)).length
    const began = performance.now()
    let inFlight = 0
    await until('40 more are started', async () => {
      inFlight = Math.max(inFlight, (await backlogOf({ ...cores[0]!, bus: buses[0] }, id)).ackPending)
      return (await started(id)).length >= before + 40
    })
    // A second's worth may come at once, then so many per second; five were on their way when we began to count.
    const more = (await started(id)).length - before
    expect(more).toBeLessThanOrEqual(20 + 20 * ((performance.now() - began) / 1000) + 5)
    expect(inFlight).toBeLessThanOrEqual(5)
  })

  it('tells how many messages wait and how long the oldest of them, also while it is paused', async () => {
    const { id, subject } = await active()
    const views = { ...cores[0]!, bus: buses[0] }
    // Somebody else's message in the same stream, older than ours.
    await publish(`${stream.prefix}.other`, 1)
    expect(await backlogOf(views, id)).toMatchObject({ pending: 0, oldestSeconds: null, exists: false })
    await drive()
    await until('its consumer is there', async () => (await backlogOf(views, id)).exists)
    expect(await backlogOf(views, id)).toMatchObject({ pending: 0, oldestSeconds: null })
    await changeSubscription(cores[0]!, { id, action: 'pause' })
    await publish(subject, 3)
    const later = { ...views, clock: { ...systemClock, now: () => systemClock.now() + 60_000 } }
    const aged = await backlogOf(later, id)
    // A request under way may still take them; they are given back, and count as delivered.
    expect(aged.pending + aged.ackPending).toBe(3)
    expect(aged.oldestSeconds).toBeGreaterThanOrEqual(60)
    expect(aged.oldestSeconds).toBeLessThan(90)

    const seen: Map<string, StateBacklog>[] = []
    const watch = createBacklogWatch({
      ...later,
      random: () => 0.5,
      onBacklog: (byState) => seen.push(new Map(byState)),
      onError: (error) => expect.fail(error.message),
    })
    await watch.start()
    await until('it was counted', () => seen.length > 0)
    await watch.stop(1_000)
    expect(seen[0]!.get('PAUSED')!.messages).toBeGreaterThanOrEqual(3)
    expect(seen[0]!.get('PAUSED')!.oldestSeconds).toBeGreaterThanOrEqual(60)
  })

  it('finishes what is in flight when it drains, then is deactivated', async () => {
    const { id, subject } = await active()
    await publish(subject, 500)
    await drive()
    await untilStarted(id, 50)
    await changeSubscription(cores[1]!, { id, action: 'drain' })
    const keeper = createLifecycleTimer({
      ...cores[1]!,
      random: () => 0.5,
      onCounts: () => undefined,
      onError: () => undefined,
    })
    await keeper.start()
    await until('it is deactivated', async () => (await findSubscription(cores[0]!, id)).state === 'DEACTIVATED')
    await keeper.stop(1_000)
    const done = (await started(id)).length
    // Nothing is in between: started or still waiting in the source. The server counts acknowledgements a moment later.
    const { pending } = await until('all are acknowledged', async () => {
      const backlog = await backlogOf({ ...cores[0]!, bus: buses[0] }, id)
      return backlog.ackPending === 0 && backlog
    })
    expect(done + pending).toBe(500)
  })
})
