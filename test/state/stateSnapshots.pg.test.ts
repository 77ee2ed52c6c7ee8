// Promise: a snapshot is only ever a shortcut. One that is wrong in any way is told apart, counted, and the state is
// built from the log without anybody noticing; an older one never replaces a newer one.
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FOLD_VERSION } from '../../src/domain/state/workflowState.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { append, foldText, openState, type StateOptions, start, type TestState } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let catalogId: string
/** Drives nothing, so what it counts is what a test asked for. */
let looking: TestState
const states: TestState[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/snapshots')
  looking = await openState(core, { drive: false, threads: 1 })
})
afterEach(async () => {
  await Promise.all(states.splice(0).map((state) => state.close()))
})
afterAll(async () => {
  await looking.close()
  await core.close()
})

async function open(options: StateOptions = {}): Promise<TestState> {
  const state = await openState(core, options)
  states.push(state)
  if (options.drive !== false) await until('lanes are held', () => state.service.stats().lanes[0] === 64)
  return state
}

interface Stored {
  version: string
  checksum: string
  meta: { applied_count: number; digest: string; fold_version: number }
  snapshot_bytes: Uint8Array
  snapshot_codec: string
}

async function stored(executionId: string): Promise<Stored | undefined> {
  const [row] = await database
    .get()
    .sql<Stored>('select * from noetl.projection_snapshot where aggregate_id = $1::text', [executionId])
  return row
}

/** An execution with a snapshot of its 21 events. */
async function withSnapshot(): Promise<string> {
  const executionId = await start(core, catalogId)
  for (let step = 0; step < 20; step++) {
    await append(core, executionId, 'command.completed', `${'long-'.repeat(60)}${step}`)
  }
  await looking.threads.ask(0, 'rebuild', { shard: 0, executionId })
  await looking.threads.ask(0, 'drop', { executionIds: [executionId] })
  expect(await stored(executionId)).toMatchObject({ version: '21', snapshot_codec: 'state+gzip' })
  return executionId
}

describe('a snapshot', () => {
  it('is used when it is sound: only the events after it are read', async () => {
    const executionId = await withSnapshot()
    await append(core, executionId, 'step.enter', 'after')
    const state = await open({ drive: false })
    expect(await state.sealed(executionId)).toBe(await foldText(database.get(), executionId))
    expect(state.counts).toMatchObject({ rebuilds: { snapshot: 1, log: 0 }, applied: 1, rejected: {} })
  })

  it('is written every so many events, says what it contains, and goes when the execution ends', async () => {
    const state = await open({ snapshotEvents: 10 })
    const executionId = await start(core, catalogId)
    for (let step = 0; step < 35; step++) {
      await append(core, executionId, 'step.enter', `s${step}`)
      await state.service.ask(executionId, { drive: true })
    }
    await until(
      'three are written',
      () => state.counts.snapshots === 3 || state.service.ask(executionId, {}).then(() => undefined),
    )
    const row = (await stored(executionId))!
    expect(Number(row.version)).toBeGreaterThanOrEqual(30)
    expect(row.meta).toMatchObject({
      applied_count: Number(row.version),
      fold_version: FOLD_VERSION,
      routing_meta: { emitter: 'control_plane' },
    })
    await append(core, executionId, 'playbook.completed', 'playbook')
    await until('it is gone', async () => (await stored(executionId)) === undefined)
    await until('so is the state', () => (state.counts.evicted['ended'] ?? 0) > 0)
  })

  it('is kept at the end if that is the setting, with the last state', async () => {
    const state = await open({ snapshotAtEnd: 'keep' })
    const executionId = await start(core, catalogId)
    await append(core, executionId, 'playbook.completed', 'playbook')
    await until('it is written', async () => (await stored(executionId))?.version === '2')
    await until('the state is gone', () => (state.counts.evicted['ended'] ?? 0) > 0)
    const reader = await open({ drive: false })
    expect(await reader.sealed(executionId)).toBe(await foldText(database.get(), executionId))
    expect(reader.counts.rebuilds).toEqual({ snapshot: 1, log: 0 })
  })

  it('never goes back: an older one does not replace a newer one', async () => {
    const executionId = await withSnapshot()
    await database
      .get()
      .sql('update noetl.projection_snapshot set version = 30 where aggregate_id = $1::text', [executionId])
    const before = await stored(executionId)
    // This one does not know of the newer one: it built its state before.
    const { saveStateSnapshot } = await import('../../src/stores/state/stateSnapshotStore.js')
    const key = { executionId, tenantId: 'default', organizationId: 'default' }
    const older = {
      ...key,
      version: 25,
      summary: {},
      checksum: 'x',
      meta: { fold_version: FOLD_VERSION },
      bytes: new Uint8Array(1),
      codec: 'state',
    }
    expect(await saveStateSnapshot(database.get().db, older)).toBe(false)
    expect(await stored(executionId)).toEqual(before)
    expect(await saveStateSnapshot(database.get().db, { ...older, version: 31 })).toBe(true)
  })
})

const flip = (bytes: Uint8Array, at: number): Uint8Array => {
  const copy = Uint8Array.from(bytes)
  copy[at]! ^= 1
  return copy
}

describe('a snapshot that cannot be used', () => {
  const DAMAGE: [string, string, (row: Stored) => Partial<Record<keyof Stored, unknown>>][] = [
    ['bytes cut off', 'unreadable', (row) => ({ snapshot_bytes: row.snapshot_bytes.slice(0, 100) })],
    ['a bit flipped in compressed bytes', 'unreadable', (row) => ({ snapshot_bytes: flip(row.snapshot_bytes, 40) })],
    [
      'a bit flipped in plain bytes',
      'checksum',
      (row) => ({ snapshot_bytes: flip(gunzipSync(row.snapshot_bytes), 300), snapshot_codec: 'state' }),
    ],
    [
      'plain bytes cut off',
      'checksum',
      (row) => ({ snapshot_bytes: gunzipSync(row.snapshot_bytes).subarray(0, 200), snapshot_codec: 'state' }),
    ],
    ['another checksum', 'checksum', () => ({ checksum: '0'.repeat(64) })],
    ['another fold version', 'fold_version', (row) => ({ meta: { ...row.meta, fold_version: 99 } })],
    ['another count', 'count', (row) => ({ meta: { ...row.meta, applied_count: 20 } })],
    ['another digest', 'digest', (row) => ({ meta: { ...row.meta, digest: '0'.repeat(16) } })],
    ['another version', 'version', () => ({ version: '20' })],
    ['a form nobody knows', 'format', () => ({ snapshot_codec: 'parquet' })],
    ['no bytes at all', 'format', () => ({ snapshot_bytes: null, snapshot_codec: null })],
  ]
  it.each(DAMAGE)('because of %s is told (%s), and the state is right all the same', async (_, reason, damage) => {
    const executionId = await withSnapshot()
    const row = (await stored(executionId))!
    const { version, checksum, meta, snapshot_bytes, snapshot_codec } = { ...row, ...damage(row) }
    await database.get().sql(
      `update noetl.projection_snapshot set version = $2::bigint, checksum = $3::text, meta = $4::text::jsonb,
         snapshot_bytes = $5::bytea, snapshot_codec = $6::text where aggregate_id = $1::text`,
      [
        executionId,
        version as string,
        checksum as string,
        JSON.stringify(meta),
        snapshot_bytes as Uint8Array,
        snapshot_codec as string,
      ],
    )
    await expectRejected(executionId, reason)
  })

  it('because it belongs to another execution (foreign)', async () => {
    const [mine, other] = [await withSnapshot(), await withSnapshot()]
    await database.get().sql(
      `update noetl.projection_snapshot m set checksum = o.checksum, meta = o.meta, snapshot_bytes = o.snapshot_bytes
       from noetl.projection_snapshot o where m.aggregate_id = $1::text and o.aggregate_id = $2::text`,
      [mine, other],
    )
    await expectRejected(mine, 'foreign')
  })

  it('because it is ahead of the log (future)', async () => {
    const executionId = await withSnapshot()
    await database
      .get()
      .sql('delete from noetl.event where execution_id = $1::bigint and stream_version > 15', [executionId])
    await database
      .get()
      .sql('update noetl.execution set stream_version = 15 where execution_id = $1::bigint', [executionId])
    await expectRejected(executionId, 'future')
  })

  async function expectRejected(executionId: string, reason: string): Promise<void> {
    const before = structuredClone(looking.counts)
    const version = Number((await stored(executionId))!['version'])
    expect(await looking.sealed(executionId)).toBe(await foldText(database.get(), executionId))
    expect(looking.counts.rejected[reason as 'count'] ?? 0).toBe((before.rejected[reason as 'count'] ?? 0) + 1)
    expect(looking.counts.rejectedSnapshots.at(-1)).toEqual({ reason, executionId, version })
    expect(looking.counts.rebuilds).toEqual({ ...before.rebuilds, log: before.rebuilds.log + 1 })
    // It is out of the way of the next one; one of other rules is left to its writer until then.
    expect((await stored(executionId)) === undefined).toBe(reason !== 'fold_version')
  }

  it('because of other rules is overwritten by the next, whatever its version', async () => {
    const executionId = await withSnapshot()
    await database
      .get()
      .sql(
        `update noetl.projection_snapshot set version = 99, meta = meta || '{"fold_version": 99}' where aggregate_id = $1::text`,
        [executionId],
      )
    const state = await open()
    await state.service.ask(executionId, { drive: true })
    await state.close()
    expect(await stored(executionId)).toMatchObject({
      version: '21',
      meta: { fold_version: FOLD_VERSION, applied_count: 21 },
    })
  })
})
