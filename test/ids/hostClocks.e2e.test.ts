// Promise: clocks of hosts decide nothing. Daemons half a second apart keep causes before effects, one that was an hour
// ahead for a moment goes on writing, and whoever takes over the machine id of a killed process repeats none of its ids.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const PRELOAD = fileURLToPath(new URL('../../lab/preload/orders.mjs', import.meta.url))
const HALF = 250
let database: TestDatabase
let folder: string
const daemons: Daemon[] = []

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  folder = await mkdtemp(join(tmpdir(), 'noetl-clocks-'))
})
afterAll(async () => {
  for (const daemon of daemons) await daemon.stop()
  await database.drop()
  await rm(folder, { recursive: true })
})

async function start(name: string, shiftMs: number, machineId?: string): Promise<Daemon & { shift(ms: number): void }> {
  const orders = join(folder, name)
  const daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.url,
      CHAOS_ORDERS: orders,
      CHAOS_CLOCK: String(shiftMs),
      NOETL_SERVER_MACHINE_ID: machineId,
    },
    preload: [PRELOAD],
  })
  daemons.push(daemon)
  const shift = async (ms: number): Promise<void> => {
    await writeFile(orders, JSON.stringify({ clock: ms }))
    daemon.signal('SIGUSR2')
  }
  return { ...daemon, shift }
}

async function post(daemon: Daemon, path: string, body: unknown): Promise<any> {
  const response = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  expect(response.status, JSON.stringify(answer)).toBe(200)
  return answer
}
const execute = async (daemon: Daemon): Promise<string> =>
  (await post(daemon, '/api/execute', { path: 'tests/clocks', driven: false })).execution_id
const event = (daemon: Daemon, id: string, event_type: string) =>
  post(daemon, '/api/events', { execution_id: id, event_type, step: 's' })

it('half a second apart, an hour ahead for a moment, and over a kill', async () => {
  const ahead = await start('ahead', HALF, '7')
  const behind = await start('behind', -HALF)
  await post(ahead, '/api/catalog/register', { content: playbook('tests/clocks') })

  const id = await execute(ahead)
  for (let round = 0; round < 10; round++) {
    await event(ahead, id, 'step.enter')
    await event(behind, id, 'step.exit')
  }
  const rows = await database.sql<{ event_id: string; event_type: string }>(
    `select event_id, event_type from noetl.event where execution_id = ${id} order by event_id`,
  )
  const types = ['playbook_started', ...Array.from({ length: 10 }, () => ['step.enter', 'step.exit']).flat()]
  expect(rows.map((row) => row.event_type)).toEqual(types)

  behind.shift(3_600_000)
  const stamps = async (one: string) =>
    (
      await database.sql<{ ms: string }>(
        `select extract(epoch from created_at) * 1000 as ms from noetl.event where execution_id = ${one}`,
      )
    )[0]!.ms
  await until(
    'its clock is an hour ahead',
    async () => Number(await stamps(await execute(behind))) > Date.now() + 3_000_000,
  )
  const during = await execute(behind)
  behind.shift(-HALF)
  await until('its clock is back', async () => Number(await stamps(await execute(behind))) < Date.now() + 60_000)
  const after = [await execute(behind), await execute(ahead)]
  for (const one of after) expect(BigInt(one)).toBeGreaterThan(BigInt(during))
  const ready = await behind.get('/readyz')
  expect(ready).toMatchObject({ status: 200 })
  expect(ready.text).toContain('ids')

  const minted = [...(await Promise.all(Array.from({ length: 50 }, () => execute(ahead))))]
  await ahead.stop('SIGKILL')
  // As if its lease had run out: with thirty seconds it takes that long.
  await database.sql(`update noetl.lease set lease_until = now() where kind = 'machine' and slot = 7`)
  const slow = await start('slow', -20_000, '7')
  const next = await Promise.all(Array.from({ length: 50 }, () => execute(slow)))
  const highest = minted
    .map(BigInt)
    .sort((left, right) => (left < right ? -1 : 1))
    .at(-1)!
  for (const one of next) expect(BigInt(one)).toBeGreaterThan(highest)
})
