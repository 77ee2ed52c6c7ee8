// Promise: a playbook that logs in and uses the token it was given works, and nobody but the engine and the worker that claims
// the command ever sees the token: not the log, the messages, the state, its snapshots, nor the errors.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import { isJsonObject, type JsonObject } from '../../src/domain/json/value.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { openEvents } from '../../src/services/secrets/sealedValues.js'
import { openState, type StateOptions, type TestState } from '../state/stateHarness.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
const TOKEN = 'kq7-a-token-that-nobody-may-see'
let core: TestCore
const states: TestState[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
})
afterAll(async () => {
  for (const state of states) await state.close()
  await core.close()
})

async function open(options: StateOptions = {}): Promise<TestState> {
  const state = await openState(core, { engine: {}, ...options })
  states.push(state)
  return state
}

async function start(workflow: string, payload: JsonObject = {}): Promise<string> {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: test/secret}\n${workflow}`
  const { catalogId } = await registerEntry(core, { content })
  return (await startExecution({ ...core, engine: ENGINE_VERSION }, { catalogId, payload })).executionId
}

async function answer(id: string, step: string, data: JsonObject): Promise<void> {
  const base = { execution_id: id, step, worker_id: 'w' }
  const result = { status: 'success', context: { status: 'success', data } }
  const command = `${id}:${step}:1`
  await ingestEvent(core, { ...base, event_type: 'call.done', payload: { command_id: command, call_index: 0, result } })
  await ingestEvent(core, {
    ...base,
    event_type: 'command.completed',
    status: 'success',
    payload: { command_id: command },
  })
}

/** What the worker that claims the command of a step is given. */
async function claimed(id: string, step: string): Promise<JsonObject> {
  let eventId: string | undefined
  await until(`${step} is issued`, async () => {
    const [row] = await database
      .get()
      .sql<{ event_id: string }>(
        `select event_id::text from noetl.event where execution_id = $1::bigint and node_name = $2::text and event_type = 'command.issued'`,
        [id, step],
      )
    eventId = row?.event_id
    return row !== undefined
  })
  const [event] = await openEvents(core, 'claim', id, [eventId!])
  return isJsonObject(event?.context) ? event.context : {}
}

async function everythingStored(): Promise<string> {
  const db = database.get()
  const parts = await Promise.all(
    ['event', 'outbox', 'command', 'execution'].map((table) => db.sql(`select t::text from noetl.${table} t`)),
  )
  const snapshots = await db.sql(
    `select t::text, convert_from(snapshot_bytes, 'latin1') as bytes from noetl.projection_snapshot t`,
  )
  return JSON.stringify([...parts, snapshots])
}

const LOGIN = `workflow:
- step: login
  tool: {kind: http, url: "http://x/login"}
  set: {ctx.session: "{{ output.data }}"}
  next: [use]
- step: use
  tool: {kind: http, url: "http://x/data", headers: {Authorization: "Bearer {{ login.access_token }}"}, params: {user: "{{ ctx.session.user }}"}}
  next: [again]
- step: again
  tool: {kind: http, url: "http://x/data", headers: {Authorization: "Bearer {{ ctx.session.access_token }}"}}
`

describe('a playbook that logs in', () => {
  it('hands the token to the next steps, also after a restart, and shows it nowhere', async () => {
    let state = await open({ snapshotEvents: 1 })
    const id = await start(LOGIN)
    await claimed(id, 'login')
    await answer(id, 'login', { access_token: TOKEN, user: 'ann' })
    expect(await claimed(id, 'use')).toMatchObject({
      tool_config: { headers: { Authorization: `Bearer ${TOKEN}` }, params: { user: 'ann' } },
    })
    await until('a snapshot is written', () => state.counts.snapshots > 0)
    const { view } = await state.service.ask(id, { view: true })
    expect(Buffer.from(view!).toString()).not.toContain(TOKEN)
    await state.close()
    state = await open({ snapshotEvents: 1 })
    await answer(id, 'use', { rows: [] })
    expect(await claimed(id, 'again')).toMatchObject({ tool_config: { headers: { Authorization: `Bearer ${TOKEN}` } } })
    expect(state.counts.rebuilds.snapshot).toBeGreaterThan(0)
    const stored = await everythingStored()
    expect(stored).toContain('[REDACTED]')
    expect(stored).not.toContain(TOKEN)
    expect(state.counts.errors.join()).not.toContain(TOKEN)
  })

  it('takes a secret from its payload as well', async () => {
    if (states.length === 0) await open()
    const id = await start(
      'workflow:\n- {step: a, tool: {kind: http, url: "http://x", json: {password: "{{ workload.password }}"}}}\n',
      {
        password: TOKEN,
      },
    )
    expect(await claimed(id, 'a')).toMatchObject({ tool_config: { json: { password: TOKEN } } })
    expect(await everythingStored()).not.toContain(TOKEN)
  })

  it('waits, and says why, when the key is not at hand', async () => {
    for (const state of states.splice(0)) await state.close()
    const id = await start(LOGIN)
    const blind = await open({ secretKeys: [] })
    await claimed(id, 'login')
    await answer(id, 'login', { access_token: TOKEN, user: 'ann' })
    await until('it says why', () => blind.counts.errors.some((error) => error.includes('which is not at hand')))
    const rows = await database
      .get()
      .sql(`select 1 from noetl.event where execution_id = $1::bigint and node_name = 'use'`, [id])
    expect(rows).toEqual([])
    await blind.close()
    await open()
    expect(await claimed(id, 'use')).toMatchObject({ tool_config: { headers: { Authorization: `Bearer ${TOKEN}` } } })
  })
})
