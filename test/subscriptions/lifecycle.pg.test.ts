// Promise: whatever operators do at once, a path has one live id, the log of an id is a legal history, a repeated
// change writes nothing, a refused one says what is allowed; rows follow the log, over one database or several.

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import { parseExecutionId } from '../../src/domain/ids/ids.js'
import {
  decideSubscription,
  lifecycleStatusOf,
  SUBSCRIPTION_ACTIONS,
  SUBSCRIPTION_STATES,
  SUBSCRIPTION_TRANSITIONS,
  type SubscriptionAction,
  type SubscriptionState,
} from '../../src/domain/subscriptions/subscription.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { pageOfExecutions } from '../../src/services/executions/executionPages.js'
import { findExecution } from '../../src/services/executions/executionQueries.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { createLifecycleTimer } from '../../src/services/subscriptions/lifecycleTimer.js'
import { rebuildSubscriptions } from '../../src/services/subscriptions/rebuild.js'
import { historyOf, pageOfSubscriptions, statusOf } from '../../src/services/subscriptions/views.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { pullDocument, pushDocument, registerDocuments } from './specs.js'

/** How to bring a fresh subscription into each state. */
const WAY: Record<SubscriptionState, SubscriptionAction[]> = {
  REGISTERED: [],
  ACTIVE: ['activate'],
  PAUSED: ['activate', 'pause'],
  DRAINING: ['activate', 'drain'],
  DEACTIVATED: ['deactivate'],
}

describe.each([1, 3])('over %i database(s)', (count) => {
  let shards: TestDatabase[]
  let core: TestCore
  let other: TestCore
  let serial = 0

  beforeAll(async () => {
    shards = await Promise.all(Array.from({ length: count }, () => cloneDatabase(inject('servers'))))
    core = await openCore(shards, { hostName: 'one', connectionsMax: 4 })
    other = await openCore(shards, { hostName: 'two', connectionsMax: 4 })
    await registerDocuments(core)
  })
  afterAll(async () => {
    await core.close()
    await other.close()
    await Promise.all(shards.map((shard) => shard.drop()))
  })

  async function fresh(state: SubscriptionState = 'REGISTERED'): Promise<{ id: string; path: string }> {
    const path = `tests/sub-${++serial}`
    await registerEntry(core, { content: pullDocument({ path, stream: 'NOWHERE' }) })
    const { row } = await registerSubscription(core, path)
    for (const action of WAY[state]) await changeSubscription(core, { id: row.subscription_id, action })
    return { id: row.subscription_id, path }
  }

  const typesOf = async (id: string) => (await historyOf(core, id)).map((item) => item.eventType)
  const outboxOf = async (id: string) =>
    (
      await Promise.all(
        shards.map((shard) =>
          shard.sql<{ n: number }>('select count(*)::int as n from noetl.outbox where execution_id = $1::bigint', [id]),
        ),
      )
    ).reduce((sum, rows) => sum + rows[0]!.n, 0)

  const table = SUBSCRIPTION_STATES.flatMap((state) => SUBSCRIPTION_ACTIONS.map((action) => ({ state, action })))
  it.each(table)('$action from $state', async ({ state, action }) => {
    const { id } = await fresh(state)
    const before = await typesOf(id)
    expect((await findSubscription(core, id)).state).toBe(state)
    const { from, status, eventType } = SUBSCRIPTION_TRANSITIONS[action]
    if (!(from as readonly string[]).includes(state)) {
      const refusal = await changeSubscription(core, { id, action }).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: 'illegal_transition' })
      expect(String(refusal)).toContain(state)
      for (const allowed of from) expect(String(refusal)).toContain(allowed)
      expect(await typesOf(id)).toEqual(before)
      return
    }
    const { row, changed } = await changeSubscription(core, { id, action, reason: 'because', actor: 'me' })
    expect({ state: row.state, changed }).toEqual({ state: status, changed: state !== status })
    expect(await typesOf(id)).toEqual(state === status ? before : [...before, eventType])
    const again = await changeSubscription(core, { id, action })
    expect(again).toMatchObject({ changed: false, row: { state: status, version: row.version } })
    expect(await outboxOf(id)).toBe((await typesOf(id)).length)
  })

  it('writes the event the way the NoETL server does', async () => {
    const { id, path } = await fresh()
    await changeSubscription(core, { id, action: 'activate', reason: 'go', actor: 'ann' })
    const [event] = await shards[core.databases.shardOf(id)]!.sql<Record<string, any>>(
      "select * from noetl.event where execution_id = $1::bigint and event_type = 'subscription.activated'",
      [id],
    )
    const row = await findSubscription(core, id)
    expect(event).toMatchObject({
      node_id: 'subscription',
      node_type: 'subscription',
      node_name: path,
      status: 'ACTIVE',
      catalog_id: row.catalog_id,
      context: { subscription_id: id, path, catalog_id: row.catalog_id },
      meta: { emitter: 'control_plane', subscription_lifecycle: true, reason: 'go', actor: 'ann' },
    })
    expect(Object.keys(statusOf(row))).toEqual([
      'subscription_id',
      'path',
      'catalog_id',
      'state',
      'last_event_type',
      'updated_at',
    ])
    expect(statusOf(row)['updated_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
  })

  it('is not an execution to those who list or show executions', async () => {
    const { id } = await fresh()
    await changeSubscription(core, { id, action: 'activate' })
    const any = { statuses: null, catalogId: null, pathPattern: null, since: null, until: null, after: null }
    const { rows } = await pageOfExecutions(core, { ...any, limit: 10_000 })
    expect(rows.map((row) => row.execution_id)).not.toContain(id)
    await expect(findExecution(core, parseExecutionId(id))).rejects.toThrow(`noetl-cp subscription show ${id}`)
  })

  it('gives 100 concurrent registrations of one path one id', async () => {
    const path = `tests/race-${++serial}`
    await registerEntry(core, { content: pullDocument({ path, stream: 'S' }) })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => registerSubscription(index % 2 === 0 ? core : other, path)),
    )
    const ids = new Set(answers.map(({ row }) => row.subscription_id))
    expect(ids.size).toBe(1)
    expect(answers.filter(({ changed }) => changed)).toHaveLength(1)
    expect(await typesOf([...ids][0]!)).toEqual(['subscription.registered'])
  })

  it('leaves legal histories after 200 racing pairs', async () => {
    const actions: SubscriptionAction[] = ['pause', 'resume', 'activate', 'drain', 'deactivate', 'pause', 'resume']
    const subjects = await Promise.all(Array.from({ length: 20 }, () => fresh('ACTIVE')))
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed % below
    }
    for (let wave = 0; wave < 10; wave++) {
      await Promise.all(
        subjects.flatMap(({ id }) =>
          [core, other].map((who) =>
            changeSubscription(who, { id, action: actions[random(actions.length)]! }).catch((error: unknown) => {
              if ((error as { code?: string }).code !== 'illegal_transition') throw error
            }),
          ),
        ),
      )
    }
    for (const { id } of subjects) {
      let state: SubscriptionState | undefined
      for (const item of await historyOf(core, id)) {
        const next = lifecycleStatusOf(item.eventType)!
        if (state !== undefined) {
          const from: SubscriptionState = state
          const action = SUBSCRIPTION_ACTIONS.find((one) => SUBSCRIPTION_TRANSITIONS[one].eventType === item.eventType)!
          expect(decideSubscription(from, action)).toMatchObject({ changed: true, status: next })
        }
        state = next
      }
      expect((await findSubscription(core, id)).state).toBe(state)
    }
  })

  it('picks up a newer version of the entry and keeps the id', async () => {
    const { id, path } = await fresh('ACTIVE')
    const first = await findSubscription(core, id)
    await registerEntry(core, { content: pullDocument({ path, stream: 'OTHER' }) })
    const { row, changed } = await registerSubscription(core, path, { actor: 'bob' })
    expect(changed).toBe(true)
    expect(row).toMatchObject({ subscription_id: id, state: 'ACTIVE', catalog_version: 2, spec: { stream: 'OTHER' } })
    expect(row.catalog_id).not.toBe(first.catalog_id)
    expect(row.last_event_type).toBe('subscription.activated')
    expect((await registerSubscription(core, path)).changed).toBe(false)
    expect((await historyOf(core, id)).at(-1)).toMatchObject({ eventType: 'subscription.updated', actor: 'bob' })
  })

  it('names the newer id when an old one is to be activated', async () => {
    const { id, path } = await fresh('DEACTIVATED')
    const newer = (await registerSubscription(core, path)).row.subscription_id
    expect(newer).not.toBe(id)
    await expect(changeSubscription(core, { id, action: 'activate' })).rejects.toThrow(newer)
    await changeSubscription(core, { id: newer, action: 'activate' })
    // Two at once for one path, from two daemons: one holds it.
    await changeSubscription(core, { id: newer, action: 'deactivate' })
    const outcomes = await Promise.allSettled([
      changeSubscription(core, { id: newer, action: 'activate' }),
      registerSubscription(other, path),
    ])
    expect(outcomes.some((outcome) => outcome.status === 'fulfilled')).toBe(true)
    const { rows } = await pageOfSubscriptions(core, {
      state: null,
      pathPattern: path,
      mode: null,
      order: 'newest',
      cursor: null,
      limit: 10,
    })
    expect(rows.filter((row) => row.state !== 'DEACTIVATED')).toHaveLength(1)
  })

  it('refuses what it cannot deliver, what is not a subscription and what is not there', async () => {
    const path = `tests/elsewhere-${++serial}`
    const content = pullDocument({ path }).replace('source: nats', 'source: {type: nats, stream: S, url: nats://other}')
    await registerEntry(core, { content })
    const { row } = await registerSubscription(core, path)
    const refusal = changeSubscription(core, { id: row.subscription_id, action: 'activate' })
    await expect(refusal).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('driver: external'),
    })
    await expect(registerSubscription(core, 'tests/handler')).rejects.toMatchObject({ code: 'refused' })
    await expect(registerSubscription(core, 'tests/nowhere')).rejects.toMatchObject({ code: 'not_found' })
    await expect(changeSubscription(core, { id: '12345', action: 'pause' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('gives a listener to one path', async () => {
    const [one, two] = [`tests/hook-${++serial}`, `tests/hook-${++serial}`]
    const listener = `hook${serial}`
    for (const path of [one!, two!]) await registerEntry(core, { content: pushDocument({ path, listener }) })
    const first = await registerSubscription(core, one!)
    const refusal = await registerSubscription(core, two!).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'refused' })
    expect(String(refusal)).toContain(first.row.subscription_id)
    await changeSubscription(core, { id: first.row.subscription_id, action: 'deactivate' })
    expect((await registerSubscription(core, two!)).changed).toBe(true)
  })

  it('survives a crash after the event was written and before the row was changed', async () => {
    const { id } = await fresh('ACTIVE')
    const before = await findSubscription(core, id)
    const dying = new Proxy(core.databases.cluster.db, {
      get: (target, name) =>
        name === 'run'
          ? (query: { name: string }, ...rest: unknown[]) =>
              query.name === 'subscription_apply'
                ? Promise.reject(new Error('the process died here'))
                : (target.run as (...args: unknown[]) => unknown)(query, ...rest)
          : Reflect.get(target, name),
    })
    const broken = { ...core, databases: { ...core.databases, cluster: { ...core.databases.cluster, db: dying } } }
    await expect(changeSubscription(broken, { id, action: 'pause', reason: 'r' })).rejects.toThrow('died here')
    const left = await findSubscription(core, id)
    expect(left).toMatchObject({ state: 'ACTIVE', version: before.version })
    expect(left.pending).not.toBeNull()
    // The next one, whatever it wants, finishes it first.
    const { row, changed } = await changeSubscription(other, { id, action: 'pause' })
    expect({ changed, state: row.state, reason: row.reason }).toEqual({ changed: false, state: 'PAUSED', reason: 'r' })
    expect(await typesOf(id)).toEqual(['subscription.registered', 'subscription.activated', 'subscription.paused'])
  })

  it('survives a crash before the event was written; the keeper finishes it', async () => {
    const { id } = await fresh('ACTIVE')
    const broken = {
      ...core,
      appender: { ...core.appender, appendWith: () => Promise.reject(new Error('the process died here')) },
    }
    await expect(changeSubscription(broken, { id, action: 'pause' })).rejects.toThrow('died here')
    expect(await typesOf(id)).toHaveLength(2)
    await shards[0]!.sql(
      "update noetl.subscription set pending_since = now() - interval '1 minute' where pending is not null",
    )
    const keeper = keeperOf(other)
    await keeper.start()
    await until('the intent is finished', async () => (await findSubscription(core, id)).state === 'PAUSED')
    await keeper.stop(1_000)
    expect(await typesOf(id)).toEqual(['subscription.registered', 'subscription.activated', 'subscription.paused'])
  })

  const keeperOf = (who: TestCore) =>
    createLifecycleTimer({
      ...who,
      random: () => 0.5,
      onCounts: () => undefined,
      onError: (error) => {
        throw error
      },
    })

  it('completes a drain, and ends a pause by its own time only', async () => {
    const [draining, paused, timed] = [await fresh('DRAINING'), await fresh('PAUSED'), await fresh('ACTIVE')]
    const end = wireTimeFromMillis(Date.now() + 1_000)
    const { row } = await changeSubscription(core, { id: timed.id, action: 'pause', until: end, reason: 'short' })
    expect(row.paused_until).not.toBeNull()
    const keepers = [keeperOf(core), keeperOf(other)]
    await Promise.all(keepers.map((keeper) => keeper.start()))
    await until(
      'the drain is complete',
      async () => (await findSubscription(core, draining.id)).state === 'DEACTIVATED',
    )
    await until('the pause is over', async () => (await findSubscription(core, timed.id)).state === 'ACTIVE')
    expect(wireTimeFromMillis(Date.now()) >= end).toBe(true)
    await Promise.all(keepers.map((keeper) => keeper.stop(1_000)))
    expect((await findSubscription(core, paused.id)).state).toBe('PAUSED')
    expect((await typesOf(timed.id)).filter((type) => type === 'subscription.resumed')).toHaveLength(1)
    expect((await typesOf(draining.id)).filter((type) => type === 'subscription.deactivated')).toHaveLength(1)
    await expect(
      changeSubscription(core, { id: timed.id, action: 'pause', until: wireTimeFromMillis(Date.now() - 1) }),
    ).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('can be made anew from the log', async () => {
    const { id, path } = await fresh('PAUSED')
    const before = await findSubscription(core, id)
    await shards[0]!.sql('delete from noetl.subscription')
    const { corrected } = await rebuildSubscriptions(core)
    expect(corrected).toContain(id)
    const after = await findSubscription(core, id)
    for (const key of ['path', 'catalog_id', 'state', 'last_event_id', 'mode', 'live', 'updated_at'] as const)
      expect(after[key]).toEqual(before[key])
    expect((await rebuildSubscriptions(core)).corrected).toEqual([])
    expect((await registerSubscription(core, path)).row.subscription_id).toBe(id)
  })

  it('follows lifecycle events that others wrote into the log, and no other types', async () => {
    const { id } = await fresh('ACTIVE')
    const shard = shards[core.databases.shardOf(id)]!
    const write = (type: string, status: string | null) =>
      shard.sql(
        `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status)
         values ($1::bigint, $2::bigint, 1, $3::text, 'x', $4::text)`,
        [id, core.ids.next(), type, status],
      )
    await write('subscription.circuit.opened', 'OPEN')
    expect((await changeSubscription(core, { id, action: 'activate' })).changed).toBe(false)
    await write('subscription.paused', null)
    await expect(changeSubscription(core, { id, action: 'pause' })).resolves.toMatchObject({ changed: false })
    expect((await findSubscription(core, id)).state).toBe('PAUSED')
    // A status that nobody knows: it is shown as such, delivers nothing, and can be ended.
    await write('subscription.resumed', 'WARMING')
    await expect(changeSubscription(core, { id, action: 'activate' })).rejects.toMatchObject({
      code: 'illegal_transition',
      message: expect.stringContaining('UNKNOWN'),
    })
    expect(statusOf(await findSubscription(core, id))['state']).toBe('UNKNOWN')
    expect((await changeSubscription(core, { id, action: 'deactivate' })).row.state).toBe('DEACTIVATED')
  })

  it('moves the end of a pause, and keeps it when nothing else is said', async () => {
    const { id } = await fresh('ACTIVE')
    const [first, later] = [60_000, 120_000].map((ms) => wireTimeFromMillis(Date.now() + ms))
    await changeSubscription(core, { id, action: 'pause', until: first })
    const moved = await changeSubscription(core, { id, action: 'pause', until: later, reason: 'longer' })
    expect(moved).toMatchObject({ changed: true, row: { state: 'PAUSED', reason: 'longer' } })
    expect(Date.parse(moved.row.paused_until!)).toBe(Date.parse(later!))
    for (const until of [later, undefined]) {
      const same = await changeSubscription(core, { id, action: 'pause', until })
      expect(same).toMatchObject({ changed: false, row: { paused_until: moved.row.paused_until } })
    }
    expect((await historyOf(core, id)).filter((item) => item.until !== null).map((item) => item.until)).toEqual([
      first,
      later,
    ])
    // The newest of them are had without those before, page by page.
    const all = (await historyOf(core, id)).toReversed()
    const newest = await historyOf(core, id, { isNewestFirst: true, limit: 2 })
    const before = newest.at(-1)!.eventId
    expect([...newest, ...(await historyOf(core, id, { isNewestFirst: true, before }))]).toEqual(all)
  })
})
