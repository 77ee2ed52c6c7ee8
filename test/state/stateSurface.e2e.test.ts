// Promise: states can be read over HTTP and from the command line, beside a daemon and without one; the internal
// route brings them up to date; snapshots can be listed, checked, made anew and removed.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FOLD_VERSION } from '../../src/domain/state/workflowState.js'
import { decodeTape } from '../../src/domain/tape/decodeTape.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'
import { append, insertForeign, start } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let daemon: Daemon
let executionId: string

beforeAll(async () => {
  core = await openCore([database.get()])
  executionId = await start(core, await registerPlaybook(core, 'test/surface'))
  daemon = await startDaemon([], { env: environment() })
})
afterAll(async () => {
  await daemon?.stop()
  await core?.close()
})

function environment(): Record<string, string> {
  return {
    NOETL_DATABASE_URL: database.get().url,
    NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
    NOETL_CP_SNAPSHOT_EVENTS: '5',
    NOETL_CP_LOG_LEVEL: 'warn',
  }
}

async function advance(ids: unknown[]): Promise<{ status: number; text: string }> {
  const response = await fetch(new URL('/api/internal/projection/advance', daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${INTERNAL_TOKEN}` },
    body: `{"execution_ids":[${ids.join(',')}]}`,
  })
  return { status: response.status, text: await response.text() }
}

async function command(args: string[], code = 0): Promise<any> {
  const result = await builtCli([...args, '--json'], { env: environment() })
  expect(result, result.stderr).toMatchObject({ code })
  return code === 0 || code === 5 ? JSON.parse(result.stdout) : undefined
}

it('GET state: the document, with events of others that were just written', async () => {
  await append(core, executionId, 'step.enter', 'first')
  await insertForeign(database.get(), executionId, { eventId: core.ids.next(), type: 'step.enter', step: 'foreign' })
  const { status, text, body } = await daemon.get(`/api/executions/${executionId}/state`)
  expect(status).toBe(200)
  expect(text).toContain(`"execution_id":${executionId},`)
  expect(body).toMatchObject({ state: 'in_progress', path: 'test/surface' })
  expect(Object.keys(body.steps)).toEqual(['first', 'foreign'])
  expect((await daemon.get('/api/executions/1/state')).status).toBe(404)
  expect((await daemon.get('/api/executions/abc/state')).status).toBe(400)
})

it('POST advance: each once, ids as numbers, unknown ones by name', async () => {
  const { status, text } = await advance([executionId, `"${executionId}"`, '42'])
  expect(status).toBe(200)
  expect(text).toContain(`"advanced":[{"execution_id":${executionId},"version":3,"events":`)
  expect(text).toContain(
    '"failed":[{"execution_id":42,"error":"there is no execution 42; see \\"noetl-cp execution list\\""}]',
  )
  expect(JSON.parse(text).advanced).toHaveLength(1)
  expect((await advance([])).status).toBe(400)
})

it('the command line: state show, why-stuck, snapshots from list to prune', async () => {
  for (let step = 0; step < 6; step++) await append(core, executionId, 'step.enter', `s${step}`)
  await advance([executionId])
  const list = await until('the daemon has written a snapshot', async () => {
    const found = await command(['snapshot', 'list'])
    return found.snapshots.length === 1 && found
  })
  expect(list.snapshots[0]).toMatchObject({ aggregate_id: executionId, execution_status: 'RUNNING' })
  expect((await command(['snapshot', 'show', executionId])).snapshots[0].meta.fold_version).toBe(FOLD_VERSION)
  expect((await command(['state', 'show', executionId])).steps).toHaveProperty('s5')
  const stuck = await command(['state', 'why-stuck', executionId])
  expect(stuck.findings.map((row: { reason: string }) => row.reason)).toContain('entered step')

  expect(await command(['snapshot', 'rebuild', executionId])).toMatchObject({ version: 9 })
  expect(await command(['snapshot', 'verify', executionId])).toMatchObject({ checked: 1, bad: 0 })
  await database.get().sql("update noetl.projection_snapshot set checksum = 'x'")
  const bad = await command(['snapshot', 'verify', '--all'], 5)
  expect(bad).toMatchObject({ bad: 1, snapshots: [{ problem: 'checksum' }] })
  await command(['snapshot', 'verify'], 2)
  await command(['snapshot', 'prune'], 2)

  await database.get().sql("update noetl.execution set status = 'COMPLETED'")
  expect(await command(['snapshot', 'prune', '--yes'])).toMatchObject({ removed_snapshots: 1 })
  await command(['snapshot', 'show', executionId], 3)
  await command(['state', 'show', '42'], 3)
})

it('metrics tell what happened', async () => {
  // A thread reports what it wrote with its next answer.
  await daemon.get(`/api/executions/${executionId}/state`)
  const { text } = await daemon.get('/metrics')
  for (const name of ['noetl_cp_state_advances_total', 'noetl_cp_snapshots_written_total']) {
    expect(Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])).toBeGreaterThan(0)
  }
  expect(text).toContain('noetl_cp_snapshot_rejected_total{reason="checksum"} 0')
  expect(text).toContain('noetl_cp_state_lanes{shard="0"} 64')
})

it('the console asks a daemon for any moment and for reasons, and gets what the commands say', async () => {
  const path = `/api/executions/${executionId}`
  const { total, events } = (await daemon.get(`${path}/events?limit=2`)).body
  const second = events[1].event_id
  const { checksum } = await command(['replay', executionId, '--as-of-event', second])
  expect((await daemon.get(`${path}/checksum?position=2`)).body).toMatchObject({ event_id: second, checksum })
  const now = await command(['replay', executionId])
  expect((await daemon.get(`${path}/checksum`)).body).toMatchObject({ position: total, checksum: now.checksum })
  expect((await daemon.get(`${path}/at?position=2`)).body).toMatchObject({
    position: 2,
    total,
    event: { event_id: second },
  })
  const tape = await fetch(new URL(`${path}/tape?wait_ms=30000`, daemon.url))
  expect(tape.headers.get('x-noetl-tape-total')).toBe(String(total))
  expect(decodeTape(await tape.arrayBuffer()).head.built).toBe(total)
  const { findings } = await command(['state', 'why-stuck', executionId])
  const asked = (await daemon.get(`${path}/why-stuck`)).body.findings
  const plain = (list: any[]) => list.map(({ reason, target, actions, next }) => ({ reason, target, actions, next }))
  expect(plain(asked)).toEqual(plain(findings))
})
