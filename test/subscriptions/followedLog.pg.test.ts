// Promise: the log decides, whoever wrote it. A start is refused from the moment the log says so, although the row does
// not know yet; ids that another server registered are adopted, and the path answers the first of them; shards that
// were adopted beside a cluster database bring their subscriptions there; the table can always be made anew.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { applyMigrations } from '../../src/db/migrations.js'
import { SUBSCRIPTION_TRANSITIONS } from '../../src/domain/subscriptions/subscription.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { adoptExecution } from '../../src/services/events/adoption.js'
import type { Starter } from '../../src/services/events/starts.js'
import { dispatch } from '../../src/services/subscriptions/dispatch.js'
import { subscriptionFindings } from '../../src/services/subscriptions/doctor.js'
import { followNews } from '../../src/services/subscriptions/following.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { createLogWatch } from '../../src/services/subscriptions/logWatch.js'
import { rebuildSubscriptions } from '../../src/services/subscriptions/rebuild.js'
import { pageOfSubscriptions } from '../../src/services/subscriptions/views.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { changeForeign, writeForeign } from './foreignEvents.js'
import { pullDocument, registerDocuments } from './specs.js'

let shards: TestDatabase[]
let core: TestCore
let serial = 0

beforeAll(async () => {
  shards = await Promise.all([1, 2].map(() => cloneDatabase(inject('servers'))))
  core = await openCore(shards)
  await registerDocuments(core)
})
afterAll(async () => {
  await core.close()
  await Promise.all(shards.map((shard) => shard.drop()))
})

async function entry(): Promise<{ path: string; catalogId: string }> {
  const path = `tests/followed-${++serial}`
  return { path, catalogId: (await registerEntry(core, { content: pullDocument({ path, stream: 'S' }) })).catalogId }
}

async function active() {
  const { path } = await entry()
  const { row } = await registerSubscription(core, path)
  return (await changeSubscription(core, { id: row.subscription_id, action: 'activate' })).row
}

const targetOf = (row: Awaited<ReturnType<typeof active>>) => ({
  subscriptionId: row.subscription_id,
  epoch: row.epoch,
  lastEventId: row.last_event_id,
  playbook: 'tests/handler',
})
const messages = (count: number) =>
  Array.from({ length: count }, () => ({ identity: `nats:S:${++serial}`, windowSeconds: 300, payload: {} }))

async function startsOf(id: string): Promise<number> {
  const counts = await Promise.all(
    shards.map((shard) =>
      shard.sql<{ n: number }>('select count(*)::int as n from noetl.event where parent_execution_id = $1::bigint', [
        id,
      ]),
    ),
  )
  return counts.reduce((sum, [row]) => sum + row!.n, 0)
}

describe('the right to start', () => {
  it('ends with the commit of an event that nobody told us of, in every shard', async () => {
    const row = await active()
    await dispatch(core, targetOf(row), messages(10))
    await changeForeign(core, shards, row.subscription_id, 'paused')
    for (let round = 0; round < 5; round++) {
      await expect(dispatch(core, targetOf(row), messages(4))).rejects.toMatchObject({ code: 'lost_claim' })
    }
    expect(await startsOf(row.subscription_id)).toBe(10)
    expect((await findSubscription(core, row.subscription_id)).state).toBe('ACTIVE')
  })

  it('ends for a start that was under way when the event came, if it takes long', async () => {
    const row = await active()
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    let inside = 0
    const slow: Starter = {
      ...core.appender,
      startWith: (shard, work) =>
        core.appender.startWith(shard, (tx, start) =>
          work(tx, async (items) => {
            await start(items)
            inside += 1
            await gate
          }),
        ),
    }
    const starting = dispatch({ ...core, appender: slow }, targetOf(row), messages(20))
    const refused = expect(starting).rejects.toMatchObject({ code: 'lost_claim' })
    await until('both shards are at it', () => inside === 2)
    const began = performance.now()
    await changeForeign(core, shards, row.subscription_id, 'draining')
    await until('it takes long', () => performance.now() - began > 600)
    open()
    await refused
    expect(await startsOf(row.subscription_id)).toBe(0)
  })
})

describe('an id that another server registered', () => {
  async function foreign(types: readonly string[]): Promise<{ id: string; path: string }> {
    const { path, catalogId } = await entry()
    const id = core.ids.next()
    const shard = shards[core.databases.shardOf(id)]!
    for (const type of types) await writeForeign(shard, { id, type, eventId: core.ids.next(), path, catalogId })
    return { id, path }
  }

  it('is answered when the path is registered a moment later', async () => {
    const { id, path } = await foreign(['registered', 'activated'])
    const { row } = await registerSubscription(core, path)
    expect(row).toMatchObject({ subscription_id: id, state: 'ACTIVE', mode: 'pull', live: true })
    expect((await changeSubscription(core, { id, action: 'pause' })).row.state).toBe('PAUSED')
  })

  it('is taken over by the log watch, and its changes are followed', async () => {
    const { id, path } = await foreign(['registered'])
    const watch = createLogWatch({
      ...core,
      random: () => 0.5,
      onFollowed: () => undefined,
      onError: (error) => {
        throw error
      },
    })
    await watch.start()
    const state = async () => (await findSubscription(core, id).catch(() => undefined))?.state
    await until('it is known', async () => (await state()) === 'REGISTERED')
    await until('its entry is read', async () => (await findSubscription(core, id)).mode === 'pull')
    expect(await findSubscription(core, id)).toMatchObject({ path, live: true })
    await changeForeign(core, shards, id, 'activated', path)
    await until('it is active', async () => (await state()) === 'ACTIVE')
    await changeForeign(core, shards, id, 'deactivated', path)
    await until('it is over', async () => (await state()) === 'DEACTIVATED')
    await watch.stop(1_000)
    expect((await registerSubscription(core, path)).row.subscription_id).not.toBe(id)
  })

  it('is found although somebody else has numbered its events and died', async () => {
    const { id } = await foreign(['registered', 'activated'])
    expect(await adoptExecution(core.databases.of(id), id)).toBe(2)
    const { ids, failures } = await followNews(core)
    expect(failures).toEqual([])
    expect(ids).toContain(id)
    expect((await findSubscription(core, id)).state).toBe('ACTIVE')
    expect((await followNews(core)).ids).not.toContain(id)
  })

  it('falls back to the path of the catalog', async () => {
    const { path, catalogId } = await entry()
    const id = core.ids.next()
    await writeForeign(shards[core.databases.shardOf(id)]!, {
      id,
      type: 'registered',
      eventId: core.ids.next(),
      catalogId,
    })
    await followNews(core)
    expect((await findSubscription(core, id)).path).toBe(path)
  })
})

describe('made anew', () => {
  it('finishes when another server has a higher id for a path of ours, and says what that superseded', async () => {
    const ours = await active()
    const untouched = await active()
    const higher = core.ids.next()
    const { catalog_id: catalogId, path } = ours
    const shard = shards[core.databases.shardOf(higher)]!
    // Numbered, as if by a version that took no notes.
    for (const type of ['registered', 'activated']) {
      await writeForeign(shard, { id: higher, type, eventId: core.ids.next(), path, catalogId })
    }
    await adoptExecution(core.databases.of(higher), higher)
    await shard.sql('delete from noetl.subscription_news where subscription_id = $1::bigint', [higher])

    const rebuilt = await rebuildSubscriptions(core)
    expect(rebuilt.failed).toEqual([])
    expect(rebuilt.superseded).toContain(ours.subscription_id)
    expect(rebuilt.corrected).toEqual(expect.arrayContaining([higher, ours.subscription_id]))
    expect(await findSubscription(core, higher)).toMatchObject({ state: 'ACTIVE', live: true })
    expect(await findSubscription(core, ours.subscription_id)).toMatchObject({ state: 'ACTIVE', live: false })
    expect(await findSubscription(core, untouched.subscription_id)).toMatchObject({ version: untouched.version })
    expect((await rebuildSubscriptions(core)).corrected).toEqual([])
    // Its right is over, and it can only be deactivated.
    const findings = await subscriptionFindings({ ...core, bus: undefined })
    expect(findings).toContainEqual(
      expect.objectContaining({
        where: `subscription ${ours.subscription_id}`,
        fix: expect.stringContaining('deactivate'),
      }),
    )
    await expect(changeSubscription(core, { id: ours.subscription_id, action: 'pause' })).resolves.toBeDefined()
    await expect(changeSubscription(core, { id: ours.subscription_id, action: 'resume' })).rejects.toMatchObject({
      code: 'illegal_transition',
      message: expect.stringContaining(higher),
    })
  })
})

describe('two shards adopted beside a cluster database', () => {
  it('bring their subscriptions there, and doctor names what is left', async () => {
    const all = await Promise.all([1, 2, 3].map(() => cloneDatabase(inject('servers'), { empty: true })))
    const [cluster, ...parts] = all as [TestDatabase, TestDatabase, TestDatabase]
    await Promise.all(parts.map((part) => applyMigrations(part.settings, { upTo: 6 })))
    await applyMigrations(cluster.settings)
    const adopted = await openCore(parts, { cluster, hostName: 'adopted' })
    try {
      const ids = Array.from({ length: 20 }, () => adopted.ids.next())
      for (const id of ids) {
        const shard = parts[adopted.databases.shardOf(id)]!
        for (const type of ['registered', 'activated']) {
          await writeForeign(shard, { id, type, eventId: adopted.ids.next(), path: `shop/${id}` })
        }
      }
      await Promise.all(parts.map((part) => applyMigrations(part.settings)))
      const named = async () =>
        (await subscriptionFindings({ ...adopted, bus: undefined })).filter(({ finding }) =>
          finding.includes('not known here'),
        )
      expect((await named()).map(({ where }) => where)).toEqual(['shard0', 'shard1'])

      const watch = createLogWatch({
        ...adopted,
        random: () => 0.5,
        onFollowed: () => undefined,
        onError: () => undefined,
      })
      await watch.start()
      const list = () =>
        pageOfSubscriptions(adopted, {
          state: null,
          pathPattern: null,
          mode: null,
          cursor: null,
          limit: 100,
          order: 'newest',
        })
      await until('all are there', async () => (await list()).rows.length === ids.length)
      await watch.stop(1_000)
      expect((await list()).rows.map((row) => [row.subscription_id, row.state]).sort()).toEqual(
        ids.map((id) => [id, 'ACTIVE']).sort(),
      )
      expect(await named()).toEqual([])
    } finally {
      await adopted.close()
      await Promise.all(all.map((database) => database.drop()))
    }
  })
})

it('the database knows the same types as the code', async () => {
  const types = [
    'subscription.registered',
    ...Object.values(SUBSCRIPTION_TRANSITIONS).map(({ eventType }) => eventType),
  ]
  const written = types.flatMap((type) => [type, type.replace('.', '_')])
  const others = ['subscription.updated', 'subscription.circuit.opened', 'playbook_started']
  const rows = await shards[0]!.sql<{ type: string; known: boolean }>(
    'select type, noetl.is_lifecycle(type) as known from unnest($1::text[]) as type',
    [[...written, ...others]],
  )
  expect(rows.filter((row) => row.known).map((row) => row.type)).toEqual(written)
})
