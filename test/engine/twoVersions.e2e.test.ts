// Promise: during an upgrade daemons of two versions of the engine work side by side on one database. Each decides for the
// executions of its own version alone, in every lane, whichever of them the answers of workers reach; and nothing stands still.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import { FOLD_VERSION } from '../../src/domain/state/workflowState.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const EXECUTIONS = 8
const OTHER_VERSION = ENGINE_VERSION + 1
const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: versions, path: test/versions}
workflow:
  - {step: first, tool: {kind: python, code: x}, next: [second]}
  - {step: second, tool: {kind: python, code: x}, next: [last]}
  - {step: last, tool: {kind: noop}}
`

const database = useDatabase()
const root = fileURLToPath(new URL('../../', import.meta.url))
let folder: string
let ours: Daemon
let theirs: Daemon

/** The program with other versions, and rules that can be told from ours by what they write. */
async function buildOther(): Promise<string> {
  const copied = ['bin', 'dist', 'sql', 'package.json', 'python', 'console']
  for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const change = async (file: string, from: string, to: string): Promise<void> => {
    const path = join(folder, file)
    const text = await readFile(path, 'utf8')
    expect(text).toContain(from)
    await writeFile(path, text.replace(from, to))
  }
  // The modules one by one: what is bundled cannot be told apart.
  await change('bin/noetl-cp.js', 'dist/bundle/main.js', 'dist/cli/main.js')
  await change(
    'dist/domain/engine/settings.js',
    `ENGINE_VERSION = ${ENGINE_VERSION}`,
    `ENGINE_VERSION = ${OTHER_VERSION}`,
  )
  await change(
    'dist/domain/state/workflowState.js',
    `FOLD_VERSION = ${FOLD_VERSION}`,
    `FOLD_VERSION = ${FOLD_VERSION + 1}`,
  )
  await change(
    'dist/domain/engine/emit.js',
    'const meta = { visit: number, from:',
    'const meta = { rules: "other", visit: number, from:',
  )
  return join(folder, 'bin/noetl-cp.js')
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-versions-'))
  const binary = await buildOther()
  // Nobody but this test answers commands.
  const env = { NOETL_DATABASE_URL: database.get().url, NOETL_CP_WORKER: 'false' }
  ours = await startDaemon([], { env })
  theirs = await startDaemon([], { env, binary })
})
afterAll(async () => {
  await ours?.stop()
  await theirs?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function post(daemon: Daemon, path: string, body: unknown): Promise<any> {
  const answer = await fetch(`${daemon.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return JSON.parse(text)
}

async function startAt(daemon: Daemon): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < EXECUTIONS; n++) {
    const { execution_id: id } = await post(daemon, '/api/execute', { path: 'test/versions' })
    ids.push(String(id))
  }
  return ids
}

/** As a worker of the other daemon would. */
async function answer(daemon: Daemon, executionId: string, step: string): Promise<void> {
  const key = `${executionId}:${step}:1`
  await until(`${step} of ${executionId} is issued`, async () => {
    const rows = await database
      .get()
      .sql('select 1 from noetl.command where execution_id = $1::bigint and command_key = $2::text', [executionId, key])
    return rows.length === 1
  })
  const result = { status: 'success', context: { status: 'success', data: { n: 1 } } }
  const event = (event_type: string, status: string, more: object) => ({
    step,
    event_type,
    status,
    payload: { command_id: key, attempt: 1, ...more },
  })
  await post(daemon, '/api/events/batch', {
    execution_id: executionId,
    worker_id: 'w',
    events: [
      event('call.done', 'COMPLETED', { call_index: 0, result }),
      event('command.completed', 'success', { status: 'success' }),
    ],
  })
}

it('lets each decide for its own executions, to their end', async () => {
  await post(ours, '/api/catalog/register', { content: PLAYBOOK })
  const started = [
    { ids: await startAt(ours), version: ENGINE_VERSION, rules: null, answeredAt: theirs },
    { ids: await startAt(theirs), version: OTHER_VERSION, rules: 'other', answeredAt: ours },
  ]
  for (const step of ['first', 'second'])
    for (const { ids, answeredAt } of started) for (const id of ids) await answer(answeredAt, id, step)
  for (const { ids, version, rules } of started) {
    await until('they have ended', async () => {
      const rows = await database
        .get()
        .sql(`select 1 from noetl.execution where execution_id = any($1::bigint[]) and status = 'COMPLETED'`, [ids])
      return rows.length === EXECUTIONS
    })
    const found = await database.get().sql<{ rules: string | null; engine: number; entries: number; ends: number }>(
      `select e.meta ->> 'rules' as rules, x.engine, count(*) filter (where event_type = 'step.enter')::int as entries,
         (select count(*)::int from noetl.event t where t.execution_id = any($1::bigint[]) and t.event_type = 'playbook.completed') as ends
       from noetl.event e join noetl.execution x using (execution_id)
       where e.execution_id = any($1::bigint[]) and event_type = 'step.enter'
       group by 1, 2`,
      [ids],
    )
    expect(found).toEqual([{ rules, engine: version, entries: 3 * EXECUTIONS, ends: EXECUTIONS }])
  }
})
