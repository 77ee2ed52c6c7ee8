// Promise: tape, state and checksum of an execution at any event are those of `replay`, through the thread and the routes
// that the console uses; a late event moves the places after it, raises the epoch, and everything is right again.
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { contentDifferences } from '../../src/domain/replay/diff.js'
import { decodeTape, OUTCOMES, type Tape } from '../../src/domain/tape/decodeTape.js'
import { scrubRoutes } from '../../src/http/routes/replay/scrub.js'
import { systemClock } from '../../src/runtime/clock.js'
import { openSettings, toWorkerDatabase } from '../../src/services/replay/inThread/database.js'
import { shownAt } from '../../src/services/replay/inThread/scrubAnswers.js'
import { ScrubbedLog } from '../../src/services/replay/inThread/scrubbedLog.js'
import { openTapes } from '../../src/services/replay/inThread/tapeTasks.js'
import { createScrubbing, type Scrubbing, type ScrubPlace } from '../../src/services/replay/scrubbing.js'
import { createTapeThread } from '../../src/workers/resident.js'
import { useDatabase } from '../support/database.js'
import { openRoutes, type RouteServer } from '../support/routeServer.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { ENTRY, type Harness, openReplay, plantLog, replay } from './replayHarness.js'
import { readBenchLog } from './replayVectors.js'

const database = useDatabase()
const ID = '88001'
const EVENTS = 2_500
const EVERY_US = 1_000_123
let harness: Harness
let scrubbing: Scrubbing
let api: RouteServer
let rows: JsonObject[]

beforeAll(async () => {
  harness = openReplay(database.get())
  scrubbing = createScrubbing({ databases: harness.databases, clock: systemClock, openThread, idleMs: 600_000 })
  api = openRoutes(scrubRoutes({ scrubbing }))
  const log = (readBenchLog()['events'] as JsonObject[]).slice(0, EVENTS)
  rows = log.map((row, index) => ({
    ...row,
    execution_id: ID,
    stream_version: index + 1,
    event_time: timeText((index + 1) * EVERY_US),
  }))
  await database.get().sql(
    `insert into noetl.execution (execution_id, catalog_id, status, start_time, stream_version, event_count, path)
     values ($1, 1, 'RUNNING', now(), $2, $2, 'test/scrub')`,
    [ID, EVENTS],
  )
  await plantLog(database.get(), rows)
})
afterAll(async () => {
  await api.close()
  await scrubbing.stop(5_000)
  await harness.close()
})

const openThread = () =>
  createTapeThread({
    memoryMb: 256,
    parallelMax: 4,
    stallMs: 120_000,
    entry: ENTRY.replace('entry.js', 'tapeEntry.js'),
    onLost: () => undefined,
    setup: {
      databases: harness.databases.shards.map(({ settings }) => toWorkerDatabase(settings)),
      bytesMax: 64_000_000,
      deadlineMs: 60_000,
      secretNames: [],
    },
  })

const at = async (query: string) => (await api.get(`/api/executions/${ID}/at?${query}`)).body
const tape = async (query = '', headers: Record<string, string> = {}) => {
  const {
    rawPayload,
    headers: sent,
    statusCode,
  } = await api.server.app.inject({
    method: 'GET',
    url: `/api/executions/${ID}/tape?wait_ms=30000&${query}`,
    headers,
  })
  const buffer = new Uint8Array(rawPayload).buffer as ArrayBuffer
  return { status: statusCode, headers: sent, decoded: statusCode === 200 ? decodeTape(buffer) : undefined }
}

const OWNER = { tenant_id: 'default', organization_id: 'default' }
const HEAD_ALONE = { head: true, counts: false, touched: false, entities: [], pages: [] }

const questionAt = (place: ScrubPlace) => ({
  shard: 0,
  executionId: ID,
  owner: OWNER,
  mark: 'x',
  cancelled: new SharedArrayBuffer(4),
  place,
  timeMs: 0,
  parts: HEAD_ALONE,
})

async function expectReplayed(position: number, eventId: string): Promise<void> {
  const { state, checksum } = await replay(harness, { execution_id: ID, as_of_event_id: eventId, ids: 'string' })
  const sum = (await api.get(`/api/executions/${ID}/checksum?position=${position}`)).body
  expect(sum).toMatchObject({
    position,
    event_id: eventId,
    checksum,
    projection_checksums: state['projection_checksums'],
  })
  const shown = await at(`position=${position}&part=head,counts,touched,page:commands:0`)
  expect(shown).toMatchObject({ position, event: { event_id: eventId }, head: { event_count: position } })
  const commands = state['commands'] as Record<string, JsonObject>
  expect(shown.pages[0].total).toBe(Object.keys(commands).length)
  for (const { key, value } of shown.pages[0].entries) expect(value, key).toEqual(commands[key])
  for (const { surface, key, after } of shown.touched) expect(after).toEqual((state[surface] as JsonObject)[key])
}

/** What is equal by checksum is equal. */
async function expectSame(positions: readonly number[]): Promise<void> {
  for (const position of positions) {
    const { checksum } = await replay(harness, { execution_id: ID, as_of_event_id: idAt(position), ids: 'string' })
    const found = (await api.get(`/api/executions/${ID}/checksum?position=${position}`)).body
    expect(found).toMatchObject({ position, event_id: idAt(position), checksum })
  }
}

function timeText(afterUs: number): string {
  const second = new Date(Date.UTC(2026, 0, 1) + Math.floor(afterUs / 1e6) * 1_000).toISOString().slice(0, 19)
  return `${second}.${String(afterUs % 1e6).padStart(6, '0')}Z`
}

const documentAt = async (position: number): Promise<JsonObject> => {
  const cutoff = position === 0 ? { as_of_version: '0' } : { as_of_event_id: idAt(position) }
  return (await replay(harness, { execution_id: ID, ...cutoff, ids: 'string' })).state
}

/** Anywhere in the log, up and down, the same on every machine. */
function scattered(count: number, seed: number): number[] {
  let value = seed
  return Array.from({ length: count }, () => {
    value = (value * 1_103_515_245 + 12_345) % 2_147_483_648
    return 1 + (value % rows.length)
  })
}

const idAt = (position: number) => String(rows[position - 1]!['event_id'])

/** What a span is when so many events have happened. */
function spanStatusAt({ columns }: Tape, span: number, position: number): string {
  const isOver = (name: string) => columns[name]![span] !== 0 && columns[name]![span]! <= position
  if (isOver('span_ended')) return OUTCOMES[columns['span_outcome']![span]!]!
  if (isOver('span_started')) return 'running'
  if (isOver('span_claimed')) return 'claimed'
  return columns['span_issued']![span]! <= position ? 'waiting' : 'later'
}

describe('an execution at any event', () => {
  it('has the state and the checksum of a replay, whichever way it is asked for', async () => {
    for (const position of [1, 2, 1_000, 1_001, 2_499, EVENTS, 700, 1_700])
      await expectReplayed(position, idAt(position))
    await expectSame(scattered(100, 17))
    expect(await at(`event=${idAt(1_234)}`)).toMatchObject({ position: 1_234, version: '1234' })
    expect(await at('version=77')).toMatchObject({ position: 77, event: { event_id: idAt(77) } })
    expect(await at(`time=${timeText(1_234 * EVERY_US)}`)).toMatchObject({ position: 1_234 })
    expect(await at(`time=${timeText(1_234 * EVERY_US - 1)}`)).toMatchObject({ position: 1_233 })
    expect(await at('position=0')).toMatchObject({ position: 0, event: null, touched: [], head: { event_count: 0 } })
    expect(await at('')).toMatchObject({ position: EVENTS, total: EVENTS })
    expect((await api.get(`/api/executions/${ID}/at?position=${EVENTS + 1}`)).status).toBe(400)
    expect((await api.get(`/api/executions/${ID}/at?position=1&event=2`)).status).toBe(400)
    expect((await api.get(`/api/executions/${ID}/at?part=all`)).status).toBe(400)
    expect((await api.get('/api/executions/4711/at')).status).toBe(404)
  })

  it('differs from another moment in what a replay of both says, with ids as text', async () => {
    for (const [since, position] of [
      [0, 40],
      [1_200, 1_205],
      [2_400, 900],
      [0, EVENTS],
    ] as const) {
      const [from, to] = await Promise.all([since, position].map(documentAt))
      const told = contentDifferences(from!, to!)
      const asked = await at(`position=${position}&since=${since}&part=counts`)
      expect(asked).toMatchObject({ position, since, differences_count: told.length })
      expect(asked.differences).toEqual(told.slice(0, 1_000))
    }
    expect(await at('position=7&since=7')).toMatchObject({ differences_count: 0, differences: [] })
    expect(await at('position=7')).not.toHaveProperty('differences')
    const beyond = await api.get(`/api/executions/${ID}/at?position=1&since=${EVENTS + 1}`)
    expect([beyond.status, beyond.body.error]).toEqual([
      400,
      expect.stringContaining(`position ${EVENTS + 1} is beyond`),
    ])
  })

  it('is on a tape: every event in its place, spans as places, and the status of a bar equals the state', async () => {
    const { decoded, headers } = await tape()
    const { head, columns } = decoded!
    expect(head).toMatchObject({ level: 'full', total: EVENTS, built: EVENTS, from: 1, to: EVENTS })
    for (const position of [1, 3, 1_500, EVENTS]) {
      expect(head.types[columns['type']![position - 1]!]).toBe(rows[position - 1]!['event_type'])
      expect(columns['version']![position - 1]).toBe(position)
    }
    const states: Record<string, string> = { PENDING: 'waiting', CLAIMED: 'claimed', RUNNING: 'running' }
    const { state } = await replay(harness, { execution_id: ID, as_of_event_id: idAt(1_300), ids: 'string' })
    let compared = 0
    const keys = decoded!.keys()
    for (const [span, number] of columns['span_key']!.entries()) {
      const key = keys[number]!
      const command = (state['commands'] as Record<string, JsonObject>)[key.replace(/^command:/, '')]
      if (!key.startsWith('command:') || command === undefined) continue
      const status = String(command['status'])
      expect(spanStatusAt(decoded!, span, 1_300), key).toBe(states[status] ?? status.toLowerCase())
      compared++
    }
    expect(compared).toBe(Object.keys(state['commands'] as JsonObject).length)
    expect((await tape('', { 'if-none-match': String(headers['etag']) })).status).toBe(304)
    const window = (await tape('from=100&to=199&level=full')).decoded!
    expect(window.columns['type']).toEqual(columns['type']!.slice(99, 199))
    const coarse = (await tape('level=coarse')).decoded!
    expect(coarse.columns['bucket_from']!.length).toBe(2_048)
    const begun = Array.from(coarse.columns['row_begun']!).reduce((sum, count) => sum + count, 0)
    expect(begun).toBe(columns['span_row']!.filter((row) => row !== 0).length)
  })

  it('is the same tape for those who take it packed', async () => {
    const get = (headers: Record<string, string>) =>
      api.server.app.inject({ method: 'GET', url: `/api/executions/${ID}/tape?level=full&wait_ms=30000`, headers })
    const [plain, packed] = [await get({}), await get({ 'accept-encoding': 'gzip' })]
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
  })

  it('is right after a late event, under another epoch, and follows what is added', async () => {
    const { epoch } = await at('position=10')
    const lateId = BigInt(idAt(1_200)) + 1n
    const added = { ...rows[1_200]!, event_id: lateId, stream_version: EVENTS + 1 } as unknown as JsonObject
    await plantLog(database.get(), [added])
    rows = [...rows.slice(0, 1_200), added, ...rows.slice(1_200)]
    const after = await at('position=10')
    expect(after.total).toBe(EVENTS + 1)
    expect(after.epoch).not.toBe(epoch)
    for (const position of [1_200, 1_201, 1_202, 2_000, EVENTS + 1]) await expectReplayed(position, idAt(position))
    await expectSame(scattered(100, 23))
    const { decoded } = await tape()
    expect(decoded!.columns['flags']![1_200]! & 2).toBe(2)
    const next = {
      ...rows.at(-1)!,
      event_id: BigInt(idAt(rows.length)) + 1n,
      stream_version: EVENTS + 2,
    } as unknown as JsonObject
    await plantLog(database.get(), [next])
    rows.push(next)
    expect(await at('')).toMatchObject({ position: EVENTS + 2, epoch: after.epoch })
    await expectReplayed(EVENTS + 2, idAt(EVENTS + 2))
  })

  it('that nobody asks about any more gives its thread back, and is read again for who comes later', async () => {
    const threads: ReturnType<typeof openThread>[] = []
    const resting = createScrubbing({
      databases: harness.databases,
      clock: systemClock,
      idleMs: 20,
      openThread: () => {
        threads.push(openThread())
        return threads.at(-1)!
      },
    })
    const parts = { head: true, counts: false, touched: false, entities: [], pages: [] }
    const ask = () =>
      resting.at(ID as ExecutionId, { by: 'position', value: '7' }, 0, parts, AbortSignal.timeout(30_000))
    const first = await ask()
    await expect.poll(() => resting.stats(), { timeout: 30_000 }).toEqual({ logs: 0, bytes: 0 })
    await expect(threads[0]!.ask(0, 'stats', {})).rejects.toThrow('closed')
    const shown = ({ bytes }: { bytes: Uint8Array }) => JSON.parse(Buffer.from(bytes).toString()).head
    expect(shown(await ask())).toEqual(shown(first))
    expect(threads.length).toBe(2)
    await resting.stop(5_000)
  })

  it('whose reading was broken off is read to its end by whoever comes next', async () => {
    const { settings } = harness.databases.shards[0]!
    const log = new ScrubbedLog(toWorkerDatabase(settings), ID, OWNER, 'x', 64_000_000, 60_000)
    // Somebody comes back while the page that was on its way is thrown away.
    const answers = [false, true]
    await log.catchUp(() => answers.shift() ?? true)
    expect(log.ids.length).toBeLessThan(log.total)
    const connection = createConnection(openSettings(toWorkerDatabase(settings)))
    expect(await log.check(connection)).toBe('behind')
    await connection.close(5_000)
    await log.catchUp(() => true)
    expect(log.ids.length).toBe(log.total)
  })

  it('is not told from a reading that was broken off for somebody who has gone', async () => {
    const { catchUp } = ScrubbedLog.prototype
    // As if this question came when those who began the reading had just gone.
    const reading = vi.spyOn(ScrubbedLog.prototype, 'catchUp').mockImplementationOnce(function (this: ScrubbedLog) {
      return catchUp.call(this, () => false)
    })
    const { settings } = harness.databases.shards[0]!
    const databases = [toWorkerDatabase(settings)]
    const tapes = openTapes({ databases, bytesMax: 64_000_000, deadlineMs: 60_000, secretNames: [] })
    const { bytes } = await tapes.at(questionAt({ by: 'event', value: idAt(rows.length) }))
    reading.mockRestore()
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ position: rows.length })
  })

  it('is answered in time, or refused, when the database says nothing any more', async () => {
    const { settings } = harness.databases.shards[0]!
    const proxy = await startTcpProxy(settings.target.host, settings.target.port)
    const target = { ...settings.target, port: proxy.port }
    const database = toWorkerDatabase({ ...settings, target, statementTimeoutMs: 2_000 })
    const tapes = openTapes({ databases: [database], bytesMax: 64_000_000, deadlineMs: 3_600_000, secretNames: [] })
    const end = questionAt({ by: 'end' })
    await tapes.at(end)
    proxy.setMode('blackhole')
    await expect(tapes.at(end)).rejects.toMatchObject({ code: 'timeout' })
    proxy.setMode('pass')
    expect(await tapes.checksum(end)).toMatchObject({ position: rows.length })
    await proxy.close()
  })

  it("is its owner's alone: another owner sees another log, and one that is gone is not answered from memory", async () => {
    const { sql } = database.get()
    const other = '88077'
    const total = async () => (await api.get(`/api/executions/${other}/at`)).body.total
    await sql(
      `insert into noetl.execution (execution_id, catalog_id, status, path, event_count) values ($1, 1, 'RUNNING', 'test/owner', 90)`,
      [other],
    )
    const plant = (from: number, to: number, tenant: string) =>
      sql(
        `insert into noetl.event (execution_id, event_id, catalog_id, event_type, stream_version, tenant_id)
         select $1::bigint, n, 1, 'step.enter', n, $4::text from generate_series($2::int, $3::int) as n`,
        [other, from, to, tenant],
      )
    await plant(1, 3, 'default')
    await plant(4, 8, 'acme')
    // What the read model counted was an estimate: nobody had read the log yet.
    expect([await total(), await total()]).toEqual([3, 3])
    await sql(`update noetl.execution set tenant_id = 'acme' where execution_id = $1`, [other])
    expect([await total(), await total()]).toEqual([5, 5])
    await sql('delete from noetl.execution where execution_id = $1', [other])
    expect((await api.get(`/api/executions/${other}/at`)).status).toBe(404)
  })

  it('that nobody waits for is given up, and answered when somebody asks again', async () => {
    const { settings } = harness.databases.shards[0]!
    const log = new ScrubbedLog(toWorkerDatabase(settings), ID, OWNER, 'x', 64_000_000, 60_000)
    await log.catchUp(() => true)
    const connection = createConnection(openSettings(toWorkerDatabase(settings)))
    const reached = await log.stateAt(connection, EVENTS, 0)
    await connection.close(5_000)
    let compared = 0
    const leaves = () => {
      if (++compared === 10) throw new Error('nobody waits')
    }
    expect(() => shownAt(log, reached, HEAD_ALONE, 0, [], leaves)).toThrow('nobody waits')

    const gone = new AbortController()
    const asked = scrubbing.checksum(ID as never, { by: 'end' }, 0, gone.signal)
    gone.abort()
    await expect(asked).rejects.toMatchObject({ code: 'timeout' })
    expect((await api.get(`/api/executions/${ID}/checksum`)).status).toBe(200)
    expect(await scrubbing.stats()).toMatchObject({ logs: 1, bytes: expect.any(Number) })
  })
})
