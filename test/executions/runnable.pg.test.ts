// Promise: a playbook that cannot run is never started: whoever asks hears everything that is wrong with it, and nothing is
// written. Registering it is allowed, because incomplete documents are kept in catalogs; so are entries of other kinds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { dispatch } from '../../src/services/subscriptions/dispatch.js'
import { openCore, playbook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let core: TestCore
beforeAll(async () => {
  core = await openCore([database.get()])
})
afterAll(() => core.close())

const INCOMPLETE = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {path: tests/incomplete}\nworkflow: [{stp: a}]\n'
const PROBLEMS = [
  { pointer: '/workflow/0/step', severity: 'error', message: 'is missing' },
  { pointer: '/workflow/0/tool', severity: 'error', message: 'the step has no tool' },
  { pointer: '/workflow/0/stp', severity: 'warning', message: '"stp" is not a known key here; do you mean step?' },
]

const counts = async (): Promise<unknown> =>
  (
    await database.get().sql(
      `select (select count(*)::int from noetl.event) as events, (select count(*)::int from noetl.execution) as executions,
         (select count(*)::int from noetl.outbox) as outbox, (select count(*)::int from noetl.subscription_dedup) as dedup`,
    )
  )[0]

const insert = (id: string, path: string, kind: string, content: string) =>
  database
    .get()
    .sql('insert into noetl.catalog (catalog_id, path, version, kind, content) values ($1, $2, 1, $3, $4)', [
      id,
      path,
      kind,
      content,
    ])

describe('an incomplete playbook', () => {
  it('is registered, with what is wrong with it', async () => {
    const { created, warnings } = await registerEntry(core, { content: INCOMPLETE })
    expect(created).toBe(true)
    expect(warnings).toEqual(PROBLEMS.map(({ pointer, ...rest }) => ({ path: pointer, ...rest })))
  })

  it('is not started, and leaves no trace of the attempt', async () => {
    const before = await counts()
    await expect(
      startExecution(core, { path: 'tests/incomplete', dedup: { key: 'k', windowSeconds: 60 } }),
    ).rejects.toMatchObject({
      code: 'refused',
      message:
        'the playbook tests/incomplete cannot run: /workflow/0/step: is missing; /workflow/0/tool: the step has no tool',
      details: { problems: PROBLEMS },
    })
    expect(await counts()).toEqual(before)
  })

  it('is not started by a message either', async () => {
    const before = await counts()
    const target = { subscriptionId: '7', epoch: '1', lastEventId: null, playbook: 'tests/incomplete' }
    const delivery = { identity: 'm-1', windowSeconds: 60, payload: {} }
    await expect(dispatch(core, target, [delivery])).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('cannot run'),
    })
    expect(await counts()).toEqual(before)
  })

  it('is started once it is complete', async () => {
    await registerEntry(core, { content: playbook('tests/incomplete') })
    expect(await startExecution(core, { path: 'tests/incomplete' })).toMatchObject({ status: 'started' })
    await expect(startExecution(core, { path: 'tests/incomplete', version: 1 })).rejects.toMatchObject({
      code: 'refused',
    })
  })
})

describe('an adopted entry', () => {
  it('that cannot even be read is not started', async () => {
    await insert('71', 'tests/unreadable', 'playbook', 'a: [')
    await expect(startExecution(core, { path: 'tests/unreadable' })).rejects.toMatchObject({
      code: 'refused',
      details: {
        problems: [{ pointer: '', severity: 'error', message: expect.stringMatching(/^is not readable as YAML/) }],
      },
    })
  })

  it('of another kind is started as it is', async () => {
    await insert('72', 'tests/agent', 'agent', 'a: [')
    expect(await startExecution(core, { path: 'tests/agent' })).toMatchObject({ status: 'started' })
  })
})
