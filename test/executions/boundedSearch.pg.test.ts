// Promise: a search that no index serves looks at so many of the first executions of each database, and says how far back it
// looked. Its pages together are exactly what matches, each once, over several databases and while others begin. What indexes
// find is not cut, and an id is found however old it is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { executionRoutes } from '../../src/http/routes/executions/executions.js'
import { createEntryNames } from '../../src/services/catalog/entryNames.js'
import { type ExecutionPage, pageOfExecutions, searchExecutions } from '../../src/services/executions/executionPages.js'
import { executionHistogram } from '../../src/services/executions/histogram.js'
import { createStepProgress } from '../../src/services/executions/stepProgress.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { openRoutes } from '../support/routeServer.js'

const first = useDatabase()
const second = useDatabase()
const START = Date.parse('2026-03-01T10:00:00Z')
const COUNT = 40
const EVERY = { catalogId: null, pathPattern: null, since: null, until: null, after: null, limit: 3 }
const RARE = { ...EVERY, textPattern: '%needle%' }

let core: TestCore
/** Newest first. */
let rare: string[]
let oldest: string

beforeAll(async () => {
  core = await openCore([first.get(), second.get()])
  const found: string[] = []
  for (let minute = 0; minute < COUNT; minute++) {
    const id = await plant(minute)
    if (minute === 0) oldest = id
    // Far apart, and several at once.
    if (![2, 3, 4, 5, 17, 30].includes(minute)) continue
    const database = core.databases.shardOf(id as never) === 0 ? first : second
    await database
      .get()
      .sql(`update noetl.execution set error = 'a Needle', last_node_name = 'sew' where execution_id = $1`, [id])
    found.unshift(id)
  }
  rare = found
})
afterAll(() => core.close())

async function plant(minute: number): Promise<string> {
  const atMs = START + minute * 60_000
  // Any id will do whose database is the one it is planted in.
  for (let machineId = 1; ; machineId++) {
    const executionId = (BigInt(atMs) << 22n) + BigInt(machineId)
    if (core.databases.shardOf(String(executionId) as never) !== minute % 2) continue
    return plantExecution((minute % 2 === 0 ? first : second).get(), { atMs, executionId, events: 1 })
  }
}

async function everyPage(
  filter: typeof EVERY & { isOldestFirst?: boolean },
  lookedMax: number,
  between?: () => Promise<unknown>,
) {
  const pages: ExecutionPage[] = []
  let after: (typeof EVERY)['after'] | ExecutionPage['next'] = null
  do {
    const page: ExecutionPage = await pageOfExecutions(core, { ...filter, after: after ?? null } as never, lookedMax)
    pages.push(page)
    after = page.next
    await between?.()
  } while (after !== undefined)
  return pages
}

const idsOf = (pages: readonly ExecutionPage[]) => pages.flatMap(({ rows }) => rows.map((row) => row.execution_id))

describe('a search', () => {
  it.each([1, 2, 3, 5, 19, 20, 21, 1_000])(
    'of %i at a time finds everything once, newest or oldest first',
    async (lookedMax) => {
      for (const filter of [RARE, { ...EVERY, step: 'sew' }]) {
        const pages = await everyPage(filter, lookedMax)
        expect(idsOf(pages)).toEqual(rare)
        // A page that is not full tells how far back it looked, unless that was to the beginning.
        for (const page of pages) {
          if (page.rows.length < EVERY.limit) expect(page.lookedUntil !== undefined).toBe(page.next !== undefined)
        }
        expect(pages.length >= COUNT / 2 / lookedMax).toBe(true)
        const turned = await everyPage({ ...filter, isOldestFirst: true }, lookedMax)
        expect(idsOf(turned)).toEqual(rare.toReversed())
      }
    },
  )

  it('is not disturbed by executions that begin meanwhile', async () => {
    let minute = COUNT
    const pages = await everyPage(RARE, 3, () => plant(minute++))
    expect(idsOf(pages)).toEqual(rare)
  })

  it('goes on by itself for whoever can wait', async () => {
    const page = await searchExecutions(core, { ...RARE, limit: 5 })
    expect(page.rows.map((row) => row.execution_id)).toEqual(rare.slice(0, 5))
    expect(page.next).toEqual(expect.objectContaining({ executionId: rare[4] }))
  })

  it('finds an id however old it is, and what indexes find is not cut', async () => {
    const byId = { ...EVERY, textPattern: `%${oldest}%`, textId: oldest }
    expect(idsOf([await pageOfExecutions(core, byId, 1)])).toEqual([oldest])
    const long = { ...EVERY, until: '2026-03-01T10:01:00Z' }
    expect(idsOf([await pageOfExecutions(core, long, 1)])).toEqual([oldest])
  })

  it('says by HTTP how far back it looked, and nothing when it saw all', async () => {
    const queries = {
      databases: core.databases,
      stepProgress: createStepProgress(),
      entryNames: createEntryNames(core.databases),
    }
    const api = openRoutes(executionRoutes({ queries, clock: core.clock } as never))
    const turned = await api.get('/api/executions?ids=string&limit=1&order=oldest')
    expect(turned.body).toMatchObject([{ execution_id: oldest }])
    expect((await api.get('/api/executions?order=odd')).status).toBe(400)
    const { body, headers } = await api.get('/api/executions?ids=string&q=needle')
    expect(body.map((row: { execution_id: string }) => row.execution_id)).toEqual(rare)
    expect(headers['x-noetl-looked-until']).toBeUndefined()
    expect(headers['x-noetl-has-more']).toBe('false')
    // More than one page looks at, in one of the databases.
    await first.get().sql(
      `insert into noetl.execution (execution_id, catalog_id, status, start_time)
       select n, 1, 'COMPLETED', timestamptz '2026-03-02' + n * interval '1 second' from generate_series(1, 50000) as n`,
    )
    const newest = await api.get('/api/executions?ids=string&q=needle')
    expect(newest.body).toEqual([])
    expect(newest.headers['x-noetl-looked-until']).toBe('2026-03-02T00:00:01.000000+00:00')
    expect(newest.headers['x-noetl-has-more']).toBe('true')
    const older = await api.get(`/api/executions?ids=string&q=needle&cursor=${newest.headers['x-noetl-next-cursor']}`)
    expect(older.body.map((row: { execution_id: string }) => row.execution_id)).toEqual(rare)
    await api.close()
  })
})

describe('the histogram of a search', () => {
  it('counts what matches among the newest, and says that there are more', async () => {
    const until = '2026-03-01T10:40:00.000000+00:00' as never
    const counted = async (countedMax: number) => {
      const { buckets, isCut } = await executionHistogram(core, { ...RARE, until }, 1, countedMax)
      return { byStatus: buckets[0]!.byStatus, isCut }
    }
    expect(await counted(1_000)).toEqual({ byStatus: { COMPLETED: rare.length }, isCut: false })
    expect(await counted(3)).toEqual({ byStatus: {}, isCut: true })
  })
})
