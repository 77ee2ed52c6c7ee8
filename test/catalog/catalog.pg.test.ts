// Promise: versions of a path are 1, 2, 3 … whoever registers at the same time; the same content is the same
// version; what an execution was started from stays readable; pages miss nothing; whoever would start an entry is found.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { deleteEntry, listEntries, registerEntry, restoreEntry } from '../../src/services/catalog/catalog.js'
import { removeDeleted } from '../../src/services/catalog/catalogRemoval.js'
import { findEntry } from '../../src/services/catalog/findEntry.js'
import { USERS_MAX, usedBy } from '../../src/services/catalog/usedBy.js'
import { startEvent, startExecution } from '../../src/services/executions/executions.js'
import { registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { pullDocument, pushDocument } from '../subscriptions/specs.js'
import { openCore, playbook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let core: TestCore
let second: TestCore
beforeAll(async () => {
  core = await openCore([database.get()])
  second = await openCore([database.get()], { hostName: 'second-host' })
})
afterAll(async () => {
  await core.close()
  await second.close()
})

const register = (path: string, workload = '{}', via = core) =>
  registerEntry(via, { content: playbook(path, workload) })
const pageOf = (fields: Partial<Parameters<typeof listEntries>[1]> = {}) =>
  listEntries(core, {
    kind: null,
    includeArchived: false,
    after: null,
    limit: 100,
    includeContent: true,
    bytesMax: 8e6,
    ...fields,
  })
const list = async (...given: Parameters<typeof pageOf>) => (await pageOf(...given)).entries

describe('versions', () => {
  it('of 16 at once on two daemons are 1..16', async () => {
    const done = await Promise.all(
      Array.from({ length: 16 }, (_, n) => register('race/different', `{n: ${n}}`, n % 2 === 0 ? core : second)),
    )
    expect(done.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 16 }, (_, n) => n + 1),
    )
    expect(new Set(done.map(({ catalogId }) => catalogId)).size).toBe(16)
  })
  it('of the same content are one, unless asked for', async () => {
    const done = await Promise.all(Array.from({ length: 8 }, () => register('race/same')))
    expect(new Set(done.map(({ version, catalogId }) => `${version} ${catalogId}`)).size).toBe(1)
    expect(done.filter(({ created }) => created)).toHaveLength(1)
    const plain = Buffer.from(playbook('race/same')).toString('base64')
    expect(await registerEntry(core, { content: plain })).toMatchObject({ version: 1, created: false })
    expect(await registerEntry(core, { content: playbook('race/same'), force: true })).toMatchObject({
      version: 2,
      created: true,
    })
    // Back to what an older version said is a change.
    await register('race/same', '{x: 1}')
    expect(await register('race/same')).toMatchObject({ version: 4, created: true })
  })
  it('go on beyond 32,767', async () => {
    await database
      .get()
      .sql(
        `insert into noetl.catalog (catalog_id, path, version, kind, content) values (1, 'many/versions', 32767, 'playbook', 'x')`,
      )
    expect(await register('many/versions')).toMatchObject({ version: 32768 })
  })
})

describe('entries', () => {
  it('are found by id, path and version, and kinds by any case', async () => {
    const first = await register('find/me', '{v: 1}')
    const newest = await register('find/me', '{v: 2}')
    expect(await findEntry(core, { catalogId: first.catalogId })).toMatchObject({ version: 1, payload: '{"v": 1}' })
    expect(await findEntry(core, { path: 'find/me', version: 1 })).toMatchObject({ catalog_id: first.catalogId })
    expect(await findEntry(core, { path: 'find/me' })).toMatchObject({ catalog_id: newest.catalogId })
    for (const kind of ['Playbook', 'PLAYBOOK', 'playbook']) expect((await list({ kind })).length).toBeGreaterThan(10)
    expect(await list({ kind: 'Subscription' })).toEqual([])
    await expect(findEntry(core, { path: 'find/nobody' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(findEntry(core, {})).rejects.toMatchObject({ code: 'refused' })
  })
  it('in use are archived, others deleted; both can be told, archived ones restored', async () => {
    await register('delete/me', '{v: 1}')
    const { executionId } = await startExecution(core, { path: 'delete/me' })
    await register('delete/me', '{v: 2}')
    const { removed } = await deleteEntry(core, 'delete/me', undefined)
    expect(removed.map(({ version, archived }) => [version, archived])).toEqual([
      [2, false],
      [1, true],
    ])
    await expect(findEntry(core, { path: 'delete/me' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(startExecution(core, { path: 'delete/me' })).rejects.toMatchObject({ code: 'not_found' })
    expect((await list({ includeArchived: true })).some(({ path }) => path === 'delete/me')).toBe(true)
    expect((await list()).some(({ path }) => path === 'delete/me')).toBe(false)
    const ofOne = await list({ path: 'delete/me', includeArchived: true })
    expect(ofOne.length).toBeGreaterThan(0)
    expect(ofOne.every(({ path }) => path === 'delete/me')).toBe(true)
    const [row] = await database
      .get()
      .sql<{ catalog_id: string }>('select catalog_id from noetl.execution where execution_id = $1', [executionId])
    expect(await findEntry(core, { catalogId: row!.catalog_id })).toMatchObject({ version: 1 })
    expect((await restoreEntry(core, 'delete/me', undefined)).removed).toMatchObject([{ version: 1, archived: false }])
    expect(await findEntry(core, { path: 'delete/me' })).toMatchObject({ version: 1 })
    // The number of a deleted version is not given again.
    expect(await register('delete/me', '{v: 3}')).toMatchObject({ version: 3 })
    expect((await deleteEntry(core, 'delete/nobody', undefined)).removed).toEqual([])
  })
  it('deleted while a start of theirs commits stay readable; the others leave the table later', async () => {
    const used = await register('delete/race', '{v: 1}')
    const unused = await register('delete/race', '{v: 2}')
    const entry = await findEntry(core, { catalogId: used.catalogId })
    const { removed } = await deleteEntry(core, 'delete/race', undefined)
    expect(removed.map(({ archived }) => archived)).toEqual([false, false])
    for (const { catalogId } of [used, unused])
      await expect(findEntry(core, { catalogId })).rejects.toMatchObject({ code: 'not_found' })
    expect((await restoreEntry(core, 'delete/race', undefined)).removed).toEqual([])
    // The start had read the entry before it was deleted.
    const executionId = core.ids.next() as ExecutionId
    const event = startEvent(core, { path: 'delete/race' }, executionId, entry)
    await core.appender.append([{ event, idGiven: false, publish: true, createExecution: true, path: entry.path }])
    expect(await removeDeleted(core.databases)).toEqual({ removed: 0, kept: 0 })
    await database
      .get()
      .sql(
        `update noetl.catalog set remove_after = now() - interval '1 second' where remove_after is not null and path = 'delete/race'`,
      )
    expect(await removeDeleted(core.databases)).toEqual({ removed: 1, kept: 1 })
    expect(await findEntry(core, { catalogId: used.catalogId })).toMatchObject({ version: 1 })
    const left = await database.get().sql(`select version from noetl.catalog where path = 'delete/race'`)
    expect(left).toEqual([{ version: 1 }])
  })
  it('are paged without gap or repeat', async () => {
    const all = (await list()).map(({ catalog_id }) => catalog_id)
    const seen: string[] = []
    let after: { createdAt: string; catalogId: string } | null = null
    for (;;) {
      const page: Awaited<ReturnType<typeof list>> = await list({ after, limit: 7 })
      if (page.length === 0) break
      seen.push(...page.map(({ catalog_id }) => catalog_id))
      const last = page[page.length - 1]!
      after = { createdAt: last.created_at, catalogId: last.catalog_id }
    }
    expect(seen).toEqual(all)
  })
  it('are counted by path where the newest of each is asked for', async () => {
    for (const n of [1, 2, 3]) await register('newest/kept', `{n: ${n}}`)
    await startExecution(core, { path: 'newest/kept' })
    await deleteEntry(core, 'newest/kept', 3)
    const newest = await list({ newestOnly: true })
    expect(newest.length).toBe(new Set((await list()).map(({ path }) => path)).size)
    expect(new Set(newest.map(({ path }) => path)).size).toBe(newest.length)
    const kept = { path: 'newest/kept', newestOnly: true }
    expect(await list(kept)).toMatchObject([{ version: 2, versions: 2 }])
    expect(await list({ ...kept, includeArchived: true })).toMatchObject([{ version: 3, versions: 3 }])
    expect((await list({ path: 'newest/kept' })).map(({ versions }) => versions)).toEqual([null, null])
    const { entries, hasMore } = await pageOf({ newestOnly: true, limit: 2 })
    expect(entries.map(({ path }) => path)).toEqual(newest.slice(0, 2).map(({ path }) => path))
    expect(hasMore).toBe(true)
  })
  it('with aliases that explode or deep nesting are refused before they cost anything', async () => {
    let bomb = `${playbook('bomb/it')}a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n`
    for (let n = 1; n < 12; n++)
      bomb += `a${n}: &a${n} [${Array(10)
        .fill(`*a${n - 1}`)
        .join(', ')}]\n`
    const before = process.cpuUsage()
    await expect(registerEntry(core, { content: bomb })).rejects.toMatchObject({ code: 'refused' })
    await expect(registerEntry(core, { content: `${playbook('bomb/it')}x: ${'['.repeat(20_000)}` })).rejects.toThrow()
    // Processor time: a busy machine must not decide.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000)
  })
})

describe('what uses an entry', () => {
  const used = (path: string, onFailure?: string) => usedBy({ ...core, onFailure }, path)
  const usersOf = async (path: string) =>
    (await used(path)).users.map((user) => [
      user.path,
      user.state,
      ...user.places.map(({ step, pointer }) => step ?? pointer),
    ])
  const calling = (path: string, tool: string, rest = '') =>
    registerEntry(core, {
      content: `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: x, path: ${path}}\nworkflow:\n  - step: call it\n    tool: ${tool}\n${rest}`,
    })

  it('is every document in force that names it, however it is written, and no other', async () => {
    const child = await register('used/受注 "1"')
    await register('used/受注 "1" not')
    await calling('by/step', `{kind: playbook, path: 'used/受注 "1"'}`)
    await calling('by/escaped', `[{a: {kind: noop}}, {b: {kind: playbook, path: "used/\\u53d7\\u6ce8 \\"1\\""}}]`)
    await calling('by/id', `{kind: playbook, catalog_id: ${child.catalogId}}`)
    await calling('by/list', `{kind: playbooks, playbooks: ['used/受注 "1"', {path: 'used/受注 "1" not'}]}`)
    await calling(
      'by/workbook',
      '{kind: workbook, name: w}',
      `workbook:\n  - {name: w, tool: {kind: playbook, path: 'used/受注 "1"'}}\n`,
    )
    await calling('by/none', '{kind: noop}', `# used/受注 "1"\n`)
    await calling('by/template', `{kind: playbook, path: 'used/受注 "{{ workload.n }}"'}`)
    await calling('by/older', `{kind: playbook, path: 'used/受注 "1"'}`)
    await calling('by/older', '{kind: noop}')
    await calling('by/deleted', `{kind: playbook, path: 'used/受注 "1"'}`)
    await deleteEntry(core, 'by/deleted', undefined)
    await registerEntry(core, {
      content: `${playbook('by/failure').replace('name: demo', `name: demo\n  on_failure: 'used/受注 "1"'`)}`,
    })
    expect(await usersOf('used/受注 "1"')).toEqual([
      ['by/escaped', null, 'call it'],
      ['by/failure', null, '/metadata/on_failure'],
      ['by/id', null, 'call it'],
      ['by/list', null, 'call it'],
      ['by/step', null, 'call it'],
      ['by/workbook', null, '/workbook/0/tool/path'],
    ])
    expect(await usersOf('used/受注 "1" not')).toEqual([['by/list', null, 'call it']])
  })

  it('is a subscription in the version that it runs, its own schedule, and the setting for failures', async () => {
    await registerEntry(core, {
      content: playbook('used/often').replace('name: demo', 'name: demo\n  schedule: {cron: "0 7 * * *"}'),
    })
    const pull = { path: 'by/pull', stream: 's', subject: 'x.>' }
    await registerEntry(core, { content: pullDocument({ ...pull, playbook: 'used/often' }) })
    const { row } = await registerSubscription(core, 'by/pull')
    await registerEntry(core, { content: pullDocument({ ...pull, playbook: 'used/later' }) })
    const headers = `  headers: {directives: [{header: x-to, controls: dispatch.playbook, allowed: [a, used/often]}]}\n`
    await registerEntry(core, { content: pushDocument({ path: 'by/push', listener: 'used', extra: headers }) })
    const found = await used('used/often', 'used/often')
    expect(found).toMatchObject({
      users: [
        {
          path: 'by/pull',
          version: 1,
          kind: 'subscription',
          subscription_id: row.subscription_id,
          state: 'REGISTERED',
        },
        { path: 'by/push', state: null, places: [{ pointer: '/spec/headers/directives/0/allowed/1' }] },
      ],
      schedule: { cron: '0 7 * * *', timezone: 'UTC', paused: false },
      on_failure_of_all: true,
      is_complete: true,
    })
    expect(Date.parse(found.schedule!.next_at!)).toBeGreaterThan(0)
    await expect(used('used/nowhere')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is read up to a bound, and what was not read is told', async () => {
    await register('used/everywhere')
    await database.get().sql(
      `insert into noetl.catalog (catalog_id, path, version, kind, content)
       select 1000 + n, 'many/' || n, 1, 'playbook', $1 from generate_series(0, ${USERS_MAX}) n`,
      ['used/everywhere: ['],
    )
    expect(await used('used/everywhere')).toMatchObject({ users: [], is_complete: false })
  })
})
