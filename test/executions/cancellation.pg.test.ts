// Promise: a cascade reaches everything that runs below an execution, however many there are and whether those between
// have ended or not, in every database; a call that was interrupted goes on when it is repeated.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { cancelExecution } from '../../src/services/executions/cancellation.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'

const shards: TestDatabase[] = []
let core: TestCore
beforeAll(async () => {
  shards.push(...(await Promise.all([0, 1].map(() => cloneDatabase(inject('servers'))))))
  core = await openCore(shards)
  await registerPlaybook(core, 'tests/tree')
})
afterAll(async () => {
  await core.close()
  await Promise.all(shards.map((shard) => shard.drop()))
})

const start = async (parentExecutionId?: string): Promise<ExecutionId> =>
  (await startExecution(core, { path: 'tests/tree', parentExecutionId })).executionId as ExecutionId
const cancel = (executionId: ExecutionId, cascade = true) => cancelExecution(core, { executionId, cascade })

async function statusOf(id: string): Promise<string | undefined> {
  const text = 'select status from noetl.execution where execution_id = $1::bigint'
  const [row] = await shards[core.databases.shardOf(id)]!.sql<{ status: string }>(text, [id])
  return row?.status
}

it('cancels more children than any page holds, and they lie behind many that have ended', async () => {
  const root = await start()
  await shards[0]!.sql(
    `insert into noetl.execution (execution_id, catalog_id, parent_execution_id, status)
     select n, 1, ${root}, 'COMPLETED' from generate_series(1000, 6500) n`,
  )
  const running = await Promise.all(Array.from({ length: 620 }, () => start(root)))
  const { status, children } = await cancel(root)
  expect(status).toBe('CANCELLED')
  expect(children.toSorted()).toEqual((running as string[]).toSorted())
  for (const shard of shards) {
    expect(await shard.sql(`select 1 from noetl.execution where status = 'RUNNING'`)).toEqual([])
  }
})

it('goes on below executions that have ended, and is refused only when nothing is left', async () => {
  const root = await start()
  const child = await start(root)
  const grandchild = await start(child)
  await endExecution(core, { executionId: root, outcome: 'COMPLETED' })
  await endExecution(core, { executionId: child, outcome: 'FAILED' })
  await expect(cancel(root, false)).rejects.toMatchObject({ code: 'refused' })
  expect(await cancel(root)).toEqual({ status: 'COMPLETED', children: [grandchild] })
  expect(await Promise.all([root, child, grandchild].map(statusOf))).toEqual(['COMPLETED', 'FAILED', 'CANCELLED'])
  await expect(cancel(root)).rejects.toMatchObject({ code: 'refused' })
})

it('is repeated after a shard was away, and then cancels the rest', async () => {
  const root = await start()
  const children: string[] = []
  while (new Set(children.map(core.databases.shardOf)).size < 2) children.push(await start(root))
  await shards[1]!.sql('alter table noetl.execution rename to away')
  const at = core.databases.shardOf(root)
  await expect(cancel(root)).rejects.toThrow()
  await shards[1]!.sql('alter table noetl.away rename to execution')
  const again = await cancel(root)
  expect(again.status).toBe('CANCELLED')
  expect(again.children.length).toBeGreaterThan(0)
  if (at === 1) expect(again.children.toSorted()).toEqual(children.toSorted())
  expect(new Set(await Promise.all(children.map(statusOf)))).toEqual(new Set(['CANCELLED']))
})

it('ends although parents name each other in a circle', async () => {
  const root = await start()
  const child = await start(root)
  await shards[core.databases.shardOf(root)]!.sql(
    'update noetl.execution set parent_execution_id = $1::bigint where execution_id = $2::bigint',
    [child, root],
  )
  expect(await cancel(root)).toEqual({ status: 'CANCELLED', children: [child] })
})

it('an unknown execution stays unknown', async () => {
  await expect(cancel('77' as ExecutionId)).rejects.toMatchObject({ code: 'not_found' })
})
