// Promise: a document is parsed in a thread, once per catalog id, whoever asks and however often; one that cannot be
// read is not tried again; what is remembered is bounded; a parse that does not end is ended.
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Float } from '../../src/domain/json/value.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { type CatalogDocuments, createCatalogDocuments } from '../../src/services/catalog/catalogDocuments.js'
import { createBacklogWatch } from '../../src/services/subscriptions/backlogWatch.js'
import { registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { createWorkerPool, type WorkerPool } from '../../src/workers/pool.js'
import { pullDocument } from '../subscriptions/specs.js'
import { openCore, playbook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const ENTRY = fileURLToPath(new URL('../../dist/workers/entry.js', import.meta.url))

const database = useDatabase()
let core: TestCore
let threads: WorkerPool
beforeAll(async () => {
  core = await openCore([database.get()])
  threads = createWorkerPool({ threads: 2, queueMax: 100, memoryMb: 256, taskTimeoutMs: 60_000, entry: ENTRY })
})
afterAll(async () => {
  await threads.close(2_000)
  await core.close()
})

/** The real thing, with a count of what reached the threads. */
function counted(timeoutMs?: number): { documents: CatalogDocuments; parsed: string[] } {
  const parsed: string[] = []
  const documents = createCatalogDocuments({
    databases: core.databases,
    clock: core.clock,
    parse: (input, deadlineMs) => {
      parsed.push(input.text)
      return threads.run('catalogDocument', input, { timeoutMs: timeoutMs ?? deadlineMs })
    },
    locate: (input, deadlineMs) => threads.run('documentPlaces', input, { timeoutMs: timeoutMs ?? deadlineMs }),
  })
  return { documents, parsed }
}

async function store(path: string, content: string, kind = 'playbook'): Promise<string> {
  const id = core.ids.next()
  await database
    .get()
    .sql('insert into noetl.catalog (catalog_id, path, version, kind, content) values ($1, $2, 1, $3, $4)', [
      id,
      path,
      kind,
      content,
    ])
  return id
}

describe('a document', () => {
  it('comes back from its thread without a lost digit', async () => {
    const content = playbook('exact/it', '{big: 9223372036854775807, ratio: 1.0, __proto__: {a: 1}}')
    const { documents } = counted()
    const { catalogId } = await registerEntry({ ...core, documents }, { content })
    const found = await documents.of(catalogId)
    expect(found).toMatchObject({ path: 'exact/it', kind: 'playbook', version: 1, catalogId })
    const workload = found.value()['workload'] as Record<string, unknown>
    expect(workload['big']).toBe(9223372036854775807n)
    expect(workload['ratio']).toEqual(new Float(1))
    expect(Object.keys(workload)).toEqual(['big', 'ratio', '__proto__'])
    expect(found.value()).toBe(found.value())
    const [row] = await database
      .get()
      .sql('select payload::text as payload from noetl.catalog where catalog_id = $1', [catalogId])
    expect(row!['payload']).toContain('9223372036854775807')
  })

  it('is parsed once per id, for all who ask at once and for those who come later', async () => {
    const { documents, parsed } = counted()
    const ids = [await store('once/a', playbook('once/a')), await store('once/b', playbook('once/b'))]
    await Promise.all(Array.from({ length: 40 }, (_, index) => documents.of(ids[index % 2]!)))
    for (const id of ids) await documents.of(id)
    expect(parsed).toHaveLength(2)
  })

  it('of a subscription is not parsed again by every look at its backlog', async () => {
    const { documents, parsed } = counted()
    const deps = { ...core, documents }
    await registerEntry(core, { content: pullDocument({ path: 'once/pull', stream: 'S' }) })
    await registerSubscription(deps, 'once/pull')
    let looks = 0
    const watch = createBacklogWatch({
      ...deps,
      bus: undefined,
      random: Math.random,
      onBacklog: () => {
        looks += 1
      },
      onError: (error) => {
        throw error
      },
    })
    await watch.start()
    for (let pass = 1; pass <= 5; pass++) {
      await until('the backlog was looked at', () => looks >= pass)
      watch.nudge()
    }
    await watch.stop(2_000)
    expect(parsed).toHaveLength(1)
  })

  it('that cannot be read is told, and not tried again', async () => {
    const { documents, parsed } = counted()
    const id = await store('broken/it', 'metadata: {name: x}\na: [')
    for (let tries = 0; tries < 3; tries++) {
      await expect(documents.of(id)).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('YAML'),
      })
    }
    expect(parsed).toHaveLength(1)
  })

  it('that takes too long is given up, its thread is stopped, and it is left alone for a while', async () => {
    const { documents, parsed } = counted(1)
    const id = await store('slow/it', `metadata: {name: x}\n${'- !t '.repeat(40_000)}`)
    await expect(documents.of(id)).rejects.toMatchObject({ code: 'timeout' })
    await expect(documents.of(id)).rejects.toMatchObject({ code: 'timeout' })
    expect(parsed).toHaveLength(1)
    await expect(counted().documents.read(playbook('after/it'))).resolves.toMatchObject({ path: 'after/it' })
  })

  it('that is not there is asked for again', async () => {
    const { documents } = counted()
    const id = core.ids.next()
    await expect(documents.of(id)).rejects.toMatchObject({ code: 'not_found' })
  })
})

it('remembers a bounded number of documents, the newest used', async () => {
  const { documents, parsed } = counted()
  const entry = (id: number) => ({
    catalog_id: String(id),
    path: `many/${id}`,
    version: 1,
    kind: 'playbook',
    content: playbook(`many/${id}`),
    layout: null,
    payload: null,
    meta: null,
    created_at: '',
    archived_at: null,
  })
  for (let id = 0; id < 501; id++) {
    await documents.ofEntry(entry(id))
    await documents.ofEntry(entry(0))
  }
  expect(parsed).toHaveLength(501)
  await documents.ofEntry(entry(0))
  expect(parsed).toHaveLength(501)
  await documents.ofEntry(entry(1))
  expect(parsed).toHaveLength(502)
})
