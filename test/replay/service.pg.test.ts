// Promise: a replay from the database is the fold of exactly the events that were visible when it began, whatever
// the order they were written in, with or without a snapshot, on any number of threads.
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/domain/json/canonical.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { Float, type JsonObject } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { foldEvents } from '../../src/domain/replay/fold.js'
import { REGISTRY_DIGEST } from '../../src/domain/replay/schemaLabel.js'
import { diffExecution, verifyExecution } from '../../src/services/replay/replay.js'
import { parseDiffRequest, parseReplayRequest } from '../../src/services/replay/request.js'
import { takeSeed } from '../../src/services/replay/seeds.js'
import { useDatabase } from '../support/database.js'
import { clearLogs, type Harness, openReplay, plantLog, replay } from './replayHarness.js'

const database = useDatabase()
let harness: Harness

beforeAll(() => {
  harness = openReplay(database.get())
})
afterAll(() => harness.close())
beforeEach(async () => {
  harness.seeds.length = 0
  await clearLogs(database.get())
})

const ID = '612345678901236660'
const LOG = { executionId: ID, tenantId: 'default', organizationId: 'default' }

/** A small log with everything that is awkward: big ids, floats, odd text, references, unknown types. */
function log(count: number, from = 1): JsonObject[] {
  return Array.from({ length: count }, (_, offset) => {
    const n = from + offset
    const types = ['step.enter', 'command.issued', 'command.completed', 'step_exit', 'frame.committed', 'odd.thing']
    return {
      execution_id: BigInt(ID),
      event_id: BigInt(ID) + BigInt(n),
      stream_version: n,
      event_type: n === 1 ? 'playbook_started' : types[n % types.length]!,
      node_name: `step ${n % 7} é😀`,
      status: n % 3 === 0 ? 'COMPLETED' : null,
      event_time: `2026-03-01T00:00:${String(n % 60).padStart(2, '0')}.${String(n % 1_000_000).padStart(6, '0')}Z`,
      command_id: 900 + (n % 50),
      frame_id: 40 + (n % 20),
      stage_id: 7,
      worker_id: `w${n % 3}`,
      meta: { loop_id: 'L', total: 10, big: 2n ** 62n + BigInt(n), ratio: new Float(1), cursor: { at: 1.5 } },
      ...(n % 5 === 0 ? { payload_ref: { ref: `noetl://r/${n}`, row_count: 0 } } : {}),
      ...(n % 7 === 0 ? { result: { status: 'success', reference: { ref: `noetl://x/${n}` } } } : {}),
    } as JsonObject
  })
}

function folded(events: readonly JsonObject[]) {
  return foldEvents(
    {
      profile: 'cp',
      tenantId: 'default',
      organizationId: 'default',
      executionId: BigInt(ID),
      projection: 'all',
      upcasterRegistryDigest: REGISTRY_DIGEST,
    },
    events,
  )
}

const ask = (parameters: Record<string, string> = {}) => replay(harness, { execution_id: ID, ...parameters })

describe('a replay from the database', () => {
  it('equals the fold in memory, also when rows were written in any order', async () => {
    const events = log(12_345)
    const shuffled = [...events].sort((a, b) => Number(a['command_id']) - Number(b['command_id']))
    await plantLog(database.get(), shuffled)
    const expected = folded(events)
    const output = await ask()
    expect(output.checksum).toBe(expected.checksum)
    expect(output.projectionChecksums).toEqual(expected.projectionChecksums)
    expect(output.eventsRead).toBe(12_345)
    const { warnings: _remarks, ...state } = output.state
    expect(canonicalJson(state)).toBe(canonicalJson(expected.state))
  })

  it('stops at every kind of cutoff, inclusively', async () => {
    const events = log(300)
    await plantLog(database.get(), events)
    const upTo = (n: number) => folded(events.slice(0, n)).checksum
    expect((await ask({ as_of_event_id: String(BigInt(ID) + 120n) })).checksum).toBe(upTo(120))
    expect((await ask({ as_of_position: String(BigInt(ID) + 121n) })).checksum).toBe(upTo(121))
    expect((await ask({ as_of_version: '77' })).checksum).toBe(upTo(77))
    expect((await ask({ as_of_event_id: '0' })).state['event_count']).toBe(0)
    const time = '2026-03-01T00:00:30.000030Z'
    const within = events.filter((event) => String(event['event_time']) <= time)
    const byTime = await ask({ as_of_time: time })
    expect(byTime.checksum).toBe(folded(within).checksum)
    expect((await ask({ as_of_time: '2026-03-01T00:00:30.000029Z' })).checksum).not.toBe(byTime.checksum)
  })

  it('says where a limit stopped it', async () => {
    const events = log(20)
    await plantLog(database.get(), events)
    const output = await ask({ limit: '7' })
    expect(output).toMatchObject({ truncated: true, nextEventId: String(BigInt(ID) + 8n), eventsRead: 7 })
    expect(output.state).toMatchObject({ truncated: true, next_event_id: BigInt(ID) + 8n })
    expect(output.checksum).toBe(folded(events.slice(0, 7)).checksum)
    expect(await ask({ limit: '20' })).toMatchObject({ truncated: false, nextEventId: null })
  })

  it('keeps tenants apart and does not know what is not there', async () => {
    await plantLog(database.get(), log(5))
    expect((await ask({ tenant_id: 'other' })).state['event_count']).toBe(0)
    expect((await replay(harness, { execution_id: '5' })).state['event_count']).toBe(0)
  })

  it('numbers rows of others before it stops at a version', async () => {
    const events = log(10).map(({ stream_version: _number, ...row }) => row as JsonObject)
    await plantLog(database.get(), events)
    expect((await ask({ as_of_version: '4' })).state['event_count']).toBe(4)
  })

  it('writes ids as text when asked, outside the checksum', async () => {
    await plantLog(database.get(), log(9))
    const [numbers, texts] = [await ask(), await ask({ ids: 'string' })]
    expect(texts.state['last_event_id']).toBe(String(numbers.state['last_event_id']))
    expect(texts.state['execution_id']).toBe(ID)
    expect(texts.checksum).toBe(numbers.checksum)
  })

  it('names the event that cannot be understood', async () => {
    const events = log(30)
    events[10] = { ...events[10]!, event_type: 'frame.dispatched', meta: { attempt: 'many' } }
    await plantLog(database.get(), events)
    await expect(replay(harness, { execution_id: ID }, { profile: 'python' })).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(String(BigInt(ID) + 11n)),
    })
    const lenient = await ask()
    expect(parseJson(lenient.warnings)).toContainEqual(expect.objectContaining({ kind: 'unreadable_value' }))
  })

  it('gives the same bytes on 1, 2 and 8 threads at once', async () => {
    await plantLog(database.get(), log(6_000))
    const texts = new Set<string>()
    for (const threads of [1, 2, 8]) {
      const other = openReplay(database.get(), { threads })
      const outputs = await Promise.all(Array.from({ length: 8 }, () => replay(other, { execution_id: ID })))
      for (const output of outputs) texts.add(Buffer.from(output.document).toString('latin1'))
      await other.close()
    }
    expect(texts.size).toBe(1)
  })

  it('sees one moment of the log although events arrive meanwhile', async () => {
    await plantLog(database.get(), log(8_000))
    let next = 8_001
    let isOver = false
    const writer = (async () => {
      while (!isOver) {
        // Ten at a time, in one transaction each: a replay sees all of them or none.
        await plantLog(database.get(), log(10, next))
        next += 10
      }
    })()
    try {
      for (let round = 0; round < 5; round++) {
        const output = await ask()
        const count = Number(output.state['event_count'])
        expect(count % 10).toBe(0)
        expect(output.checksum).toBe(folded(log(count)).checksum)
      }
    } finally {
      isOver = true
      await writer
    }
    expect(next).toBeGreaterThan(8_001)
  })
})

describe('a seed', () => {
  const seeded = (parameters: Record<string, string> = {}) => ask({ from_snapshot: 'true', ...parameters })

  it('spares its events and changes no byte, at every cut', async () => {
    const events = log(400)
    for (const cut of [1, 57, 200, 399]) {
      await clearLogs(database.get())
      await plantLog(database.get(), events.slice(0, cut))
      expect(await takeSeed(harness, LOG)).toMatchObject({ stored: true, eventCount: String(cut) })
      await plantLog(database.get(), events.slice(cut))
      const [full, fast] = [await ask(), await seeded()]
      expect(fast.eventsRead).toBe(400 - cut)
      expect(fast.checksum).toBe(full.checksum)
      const { warnings: _a, ...a } = full.state
      const { warnings: _b, ...b } = fast.state
      expect(canonicalJson(b)).toBe(canonicalJson(a))
    }
    expect(harness.seeds.filter((outcome) => outcome === 'used').length).toBe(4)
  })

  it('serves other projections and later cutoffs, not earlier ones', async () => {
    await plantLog(database.get(), log(100))
    await takeSeed(harness, LOG)
    await plantLog(database.get(), log(50, 101))
    expect((await seeded({ projection: 'loop' })).checksum).toBe((await ask({ projection: 'loop' })).checksum)
    expect((await seeded({ as_of_event_id: String(BigInt(ID) + 120n) })).eventsRead).toBe(20)
    expect((await seeded({ as_of_event_id: String(BigInt(ID) + 99n) })).seed.found).toBe(false)
    expect((await seeded({ as_of_version: '120' })).seed.found).toBe(false)
  })

  it('is continued by the next one and never replaced by an older one', async () => {
    await plantLog(database.get(), log(100))
    await takeSeed(harness, LOG)
    await plantLog(database.get(), log(10, 101))
    expect(await takeSeed(harness, LOG)).toMatchObject({ eventsRead: 10, continued: 'used', stored: true })
    await database.get().sql('delete from noetl.event where event_id > $1::bigint', [String(BigInt(ID) + 105n)])
    // Claims events that are gone: a seed of the log as it is replaces it.
    expect(await takeSeed(harness, LOG)).toMatchObject({ continued: 'future', stored: true, eventCount: '105' })
  })

  it.each([
    ['unreadable', `update noetl.projection_snapshot set snapshot_bytes = substr(snapshot_bytes, 1, 40)`],
    ['unreadable', `update noetl.projection_snapshot set snapshot_bytes = 'no gzip at all'`],
    ['unreadable', `update noetl.projection_snapshot set snapshot_codec = 'zstd'`],
    ['checksum', `update noetl.projection_snapshot set checksum = 'x'`],
    ['version', `update noetl.projection_snapshot set version = version - 1`],
    ['straggler', `update noetl.projection_snapshot set meta = '{}'`],
    ['registry', `update noetl.projection_snapshot set snapshot_bytes = null, snapshot_codec = null`],
  ])('that is broken (%s) costs a full replay and nothing else', async (reason, damage) => {
    await plantLog(database.get(), log(60))
    await takeSeed(harness, LOG)
    harness.seeds.length = 0
    await database.get().sql(damage)
    const output = await seeded()
    expect(harness.seeds).toEqual([reason])
    expect(output.eventsRead).toBe(60)
    expect(output.checksum).toBe(folded(log(60)).checksum)
  })

  it.each([
    ['checksum', (state: JsonObject) => ({ ...state, event_count: 61 })],
    ['profile', (state: JsonObject) => ({ ...state, fold_profile: 'cp/2' })],
    ['registry', (state: JsonObject) => ({ ...state, upcaster_registry_digest: 'x' })],
    ['execution', (state: JsonObject) => ({ ...state, execution_id: 7 })],
    ['projection', (state: JsonObject) => ({ ...state, projection: 'loop' })],
  ])('with a foreign or tampered state (%s) is not believed', async (reason, change) => {
    await plantLog(database.get(), log(60))
    await takeSeed(harness, LOG)
    const [row] = await database.get().sql<{ snapshot_bytes: Uint8Array }>('select * from noetl.projection_snapshot')
    const state = parseJson(gunzipSync(row!.snapshot_bytes).toString('utf8')) as JsonObject
    await database
      .get()
      .sql('update noetl.projection_snapshot set snapshot_bytes = $1::bytea', [
        gzipSync(writeJson(change(state) as JsonObject)),
      ])
    harness.seeds.length = 0
    expect((await seeded()).checksum).toBe(folded(log(60)).checksum)
    expect(harness.seeds).toEqual([reason])
  })

  it('is not used when an event below it came later', async () => {
    const events = log(60)
    await plantLog(
      database.get(),
      events.filter((_, index) => index !== 30).map((event, index) => ({ ...event, stream_version: index + 1 })),
    )
    await takeSeed(harness, LOG)
    harness.seeds.length = 0
    for (const late of [{ ...events[30]!, stream_version: 60 }]) await plantLog(database.get(), [late as JsonObject])
    expect((await seeded()).checksum).toBe(folded(events).checksum)
    expect(harness.seeds).toEqual(['straggler'])
    // A fresh one takes it in and is used again.
    await takeSeed(harness, LOG)
    expect((await seeded()).seed.version).toBe(String(BigInt(ID) + 60n))
  })
})

describe('verification and differences', () => {
  const verify = () => verifyExecution(harness, unlimited({ execution_id: ID }))

  function unlimited(parameters: Record<string, string>) {
    const { profile, query } = parseReplayRequest('cp', parameters)
    return { profile, query: { ...query, limit: Number.POSITIVE_INFINITY } }
  }

  it('agrees about a healthy log and tells what differs', async () => {
    const events = log(80).map(({ stream_version: _number, ...row }) => row as JsonObject)
    await plantLog(database.get(), events.slice(0, 50))
    expect((await verify()).checks).toMatchObject([
      { check: 'snapshot', ok: true, skipped: true },
      { check: 'read model', ok: true, skipped: false },
    ])
    await takeSeed(harness, LOG)
    await plantLog(database.get(), events.slice(50))
    expect((await verify()).checks.every((check) => check.ok && !check.skipped)).toBe(true)
    await database.get().sql(`update noetl.execution set status = 'FAILED'`)
    expect((await verify()).checks[1]).toMatchObject({ ok: false, detail: expect.stringContaining('status is FAILED') })
    await database.get().sql(`update noetl.projection_snapshot set checksum = 'x'`)
    expect((await verify()).checks[0]).toMatchObject({ ok: false })
  })

  it('finds an event that was changed behind the back of a snapshot', async () => {
    await plantLog(database.get(), log(80))
    await takeSeed(harness, LOG)
    await database
      .get()
      .sql(`update noetl.event set status = 'TAMPERED' where event_id = $1::bigint`, [String(BigInt(ID) + 62n)])
    await plantLog(database.get(), log(1, 81))
    const output = await verify()
    expect(output.checks[0]!.ok).toBe(output.checksum === (await ask({ from_snapshot: 'true' })).checksum)
    expect(output.checks[0]!.ok).toBe(false)
  })

  it('lists what changed between two moments, with JSON pointers', async () => {
    await plantLog(database.get(), log(20))
    const between = async (from: string, to: string) => {
      const output = await diffExecution(harness, parseDiffRequest('cp', { execution_id: ID, from, to }))
      return { ...output, list: parseJson(output.differences) as JsonObject[] }
    }
    expect((await between('now', 'version:20')).count).toBe(0)
    const found = await between('version:10', `event:${BigInt(ID) + 20n}`)
    expect(found.list).toContainEqual({ pointer: '/event_count', kind: 'changed', from: 10, to: 20 })
    expect(found.list.some(({ pointer }) => String(pointer).startsWith('/checksum'))).toBe(false)
    await expect(between('snapshot', 'now')).rejects.toMatchObject({ code: 'not_found' })
    await takeSeed(harness, LOG)
    expect((await between('snapshot', 'now')).count).toBe(0)
  })
})
