// Promise: snapshots that the NoETL server wrote stay as they are, whatever happens to the execution here: ours lie
// beside them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { takeSeed } from '../../src/services/replay/seeds.js'
import { pruneAll, rebuildSnapshotOf } from '../../src/services/state/snapshots.js'
import { type Harness, openReplay } from '../replay/replayHarness.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { append, openState, start, type TestState } from './stateHarness.js'

const database = useDatabase()
let core: TestCore
let catalogId: string
let state: TestState
let replay: Harness

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'test/original')
  state = await openState(core, { snapshotEvents: 5 })
  replay = openReplay(database.get())
})
afterAll(async () => {
  await state.close()
  await replay.close()
  await core.close()
})

const INSERT = `insert into noetl.projection_snapshot (aggregate_id, aggregate_type, version, snapshot, checksum, meta)
  values ($1::text, $2::text, 1, '{"steps": {}}', 'theirs', '{"applied_count": 1}')`
const originals = () =>
  database.get().sql(`select *, xmin::text from noetl.projection_snapshot where checksum = 'theirs' order by 1, 2`)
const ours = async (): Promise<string[]> =>
  (
    await database
      .get()
      .sql<{ type: string }>(
        'select aggregate_type as type from noetl.projection_snapshot where snapshot_codec is not null order by 1',
      )
  ).map((row) => row.type)

it('are neither overwritten nor removed by live states, seeds and pruning', async () => {
  const executionId = await start(core, catalogId)
  await database.get().sql(INSERT, [executionId, 'orchestrator_workflow_state'])
  await database.get().sql(INSERT, [`execution/${executionId}/all`, 'replay_state'])
  // Of an execution that is not there, which pruning would take for a leftover.
  await database.get().sql(INSERT, ['17', 'orchestrator_workflow_state'])
  const before = await originals()
  expect(before).toHaveLength(3)

  for (let step = 0; step < 12; step++) {
    await append(core, executionId, 'step.enter', `s${step}`)
    await state.service.ask(executionId, { drive: true })
  }
  await rebuildSnapshotOf({ databases: core.databases, threads: state.threads }, executionId as never)
  await takeSeed(replay, { executionId, tenantId: 'default', organizationId: 'default' })
  expect(await ours()).toEqual(['cp_replay_state', 'cp_workflow_state'])
  expect(await originals()).toEqual(before)

  await append(core, executionId, 'playbook.completed', 'playbook')
  await until('ours is gone', async () => !(await ours()).includes('cp_workflow_state'))
  await pruneAll(core)
  expect(await originals()).toEqual(before)
})
