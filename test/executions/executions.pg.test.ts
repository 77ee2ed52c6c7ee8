// Promise: a start is one transaction: catalog entry, start event, outbox row, read model and dedup record, or none
// of them. One key starts one execution, in one database, for as long as its window lasts.
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { shardOf } from '../../src/domain/shards/shards.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { type StartRequest, startExecution } from '../../src/services/executions/executions.js'
import { openCore, playbook, registerPlaybook, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase, useDatabase } from '../support/database.js'

const database = useDatabase()
let core: TestCore
let second: TestCore
beforeAll(async () => {
  core = await openCore([database.get()])
  second = await openCore([database.get()], { hostName: 'second-host' })
  await registerEntry(core, { content: playbook('tests/start', '{a: 1, b: {c: 2}, password: hunter22}') })
})
afterAll(async () => {
  await core.close()
  await second.close()
})

const sql = <R = Record<string, unknown>>(text: string, values: string[] = []) => database.get().sql<R>(text, values)
const start = (fields: Partial<StartRequest> = {}, via = core) =>
  startExecution(via, { path: 'tests/start', ...fields })
const dedup = (key: string, windowSeconds = 60) => ({ dedup: { key, windowSeconds } })
const executions = async (): Promise<number> =>
  (await sql<{ n: number }>('select count(*)::int as n from noetl.execution'))[0]!.n

describe('a start', () => {
  it('overlays the workload, hides secrets, and writes everything together', async () => {
    const parent = (await start()).executionId
    const { executionId } = await start({
      payload: { b: 3, api_key: 'k-123' },
      parentExecutionId: parent,
      executionPool: 'gpu',
    })
    const [row] = await sql(
      `select e.event_type, e.context, e.meta, e.parent_execution_id, x.status, x.path, x.parent_execution_id as parent, o.status as outbox
       from noetl.event e join noetl.execution x using (execution_id) join noetl.outbox o using (execution_id, event_id) where execution_id = $1`,
      [executionId],
    )
    expect(row).toMatchObject({
      event_type: 'playbook_started',
      context: { path: 'tests/start', workload: { a: 1, b: 3, api_key: '[REDACTED]', password: '[REDACTED]' } },
      meta: { execution_pool: 'gpu' },
      parent_execution_id: parent,
      parent,
      status: 'RUNNING',
      path: 'tests/start',
      outbox: 'PENDING',
    })
  })
  it('finds its parent on another shard than its id says, and refuses one that none knows', async () => {
    const other = await cloneDatabase(inject('servers'))
    const both = await openCore([database.get(), other], { hostName: 'both' })
    try {
      await registerPlaybook(both, 'tests/start')
      // Written when there was one database: half of them hash to the other by now.
      const parents = await Promise.all(Array.from({ length: 32 }, () => start()))
      const moved = parents.find(({ executionId }) => both.databases.shardOf(executionId) === 1)!
      expect((await start({ parentExecutionId: moved.executionId }, both)).status).toBe('started')
      await expect(start({ parentExecutionId: both.ids.next() }, both)).rejects.toMatchObject({ code: 'refused' })
    } finally {
      await both.close()
      await other.drop()
    }
  })
  it('takes the newest version that is not archived', async () => {
    await registerEntry(core, { content: playbook('tests/newest', '{v: 1}') })
    const newest = await registerEntry(core, { content: playbook('tests/newest', '{v: 2}') })
    const { executionId } = await start({ path: 'tests/newest' })
    const [row] = await sql('select catalog_id from noetl.execution where execution_id = $1', [executionId])
    expect(row).toEqual({ catalog_id: newest.catalogId })
  })
})

describe('a dedup key', () => {
  it('starts one execution, however many ask at once on two daemons', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => start(dedup('fifty'), n % 2 === 0 ? core : second)),
    )
    expect(answers.filter(({ status }) => status === 'started')).toHaveLength(1)
    expect(new Set(answers.map(({ executionId }) => executionId)).size).toBe(1)
    const [row] = await sql('select count(*)::int as n from noetl.event where execution_id = $1', [
      answers[0]!.executionId,
    ])
    expect(row).toEqual({ n: 1 })
  })
  it('is not taken by a start that fails', async () => {
    await expect(start({ path: 'no/such', ...dedup('unlucky') })).rejects.toMatchObject({ code: 'not_found' })
    await sql(`alter table noetl.outbox add constraint test_no check (subject is null) not valid`)
    const before = await executions()
    await expect(start(dedup('unlucky'))).rejects.toMatchObject({ code: 'refused' })
    expect(await executions()).toBe(before)
    await sql('alter table noetl.outbox drop constraint test_no')
    expect(await start(dedup('unlucky'))).toMatchObject({ status: 'started' })
  })
  it('is free again after its own window, whatever window the next caller has', async () => {
    const first = await start(dedup('window', 60))
    expect(await start(dedup('window', 1))).toEqual({ executionId: first.executionId, status: 'duplicate' })
    await sql(`update noetl.subscription_dedup set expires_at = now() - interval '1 second' where dedup_key = 'window'`)
    const next = await start(dedup('window'))
    expect(next.status).toBe('started')
    expect(next.executionId).not.toBe(first.executionId)
  })
  it('counts within one parent', async () => {
    const [a, b] = [(await start()).executionId, (await start()).executionId]
    const answers = [
      await start(dedup('scope')),
      await start({ ...dedup('scope'), parentExecutionId: a }),
      await start({ ...dedup('scope'), parentExecutionId: b }),
      await start({ ...dedup('scope'), parentExecutionId: a }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(['started', 'started', 'started', 'duplicate'])
    expect(answers[3]!.executionId).toBe(answers[1]!.executionId)
  })
  it('written by the NoETL server, without an expiry, counts by the time it was seen', async () => {
    await sql(
      `insert into noetl.subscription_dedup (subscription_id, dedup_key, execution_id, seen_at) values (0, 'old', 77, now() - interval '30 seconds')`,
    )
    expect(await start(dedup('old', 60))).toEqual({ executionId: '77', status: 'duplicate' })
    expect(await start(dedup('old', 10))).toMatchObject({ status: 'started' })
  })
})

describe('over three databases', () => {
  const shards: TestDatabase[] = []
  afterEach(async () => {
    await Promise.all(shards.splice(0).map((shard) => shard.drop()))
  })
  it('the record of a key lies beside its execution, and every daemon finds it', async () => {
    shards.push(...(await Promise.all([0, 1, 2].map(() => cloneDatabase(inject('servers'))))))
    const [one, two] = [await openCore(shards), await openCore(shards, { hostName: 'second-host' })]
    try {
      await registerPlaybook(one, 'tests/start')
      const keys = Array.from({ length: 9 }, (_, n) => `key-${n}`)
      const first = await Promise.all(keys.map((key) => start(dedup(key), one)))
      const again = await Promise.all(keys.map((key) => start(dedup(key), two)))
      expect(again).toEqual(first.map(({ executionId }) => ({ executionId, status: 'duplicate' })))
      const used = new Set<number>()
      for (const { executionId } of first) {
        const shard = shardOf(executionId, 3)
        used.add(shard)
        const [row] = await shards[shard]!.sql(
          `select count(*)::int as n from noetl.subscription_dedup join noetl.execution using (execution_id) join noetl.event using (execution_id) where execution_id = $1`,
          [executionId],
        )
        expect(row).toEqual({ n: 1 })
      }
      expect(used.size).toBeGreaterThan(1)
    } finally {
      await one.close()
      await two.close()
    }
  })
})
