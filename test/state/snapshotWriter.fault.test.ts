// Promise: a process that is killed while it writes a snapshot leaves the one before, whole. Nothing in between.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHints } from '../../src/services/state/hints.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { scaled } from '../support/scale.js'
import { until } from '../support/until.js'
import { append, foldText, openState, start } from './stateHarness.js'

const KILLS = scaled(2, 6)
const SCRIPT = new URL('./driverProcess.mjs', import.meta.url).pathname

const database = useDatabase()
let core: TestCore
let child: ChildProcess | undefined

beforeAll(async () => {
  core = await openCore([database.get()])
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await core.close()
})

async function launch(name: string): Promise<ChildProcess> {
  const launched = spawn(process.execPath, [SCRIPT, database.get().url, name, '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = launched
  await once(launched.stdout!, 'data')
  return launched
}

async function stored(executionId: string): Promise<number> {
  const [row] = await database
    .get()
    .sql<{ version: string }>('select version from noetl.projection_snapshot where aggregate_id = $1::text', [
      executionId,
    ])
  return Number(row?.version ?? 0)
}

it(`${KILLS} kills while a large state is written after every event`, async () => {
  const hints = createHints({ databases: core.databases, onError: () => undefined })
  const executionId = await start(core, await registerPlaybook(core, 'test/writer'))
  const fill = (n: number): Promise<void> =>
    append(core, executionId, 'ctx.updated', 'fill', {
      context: {
        step: 'fill',
        gen: n,
        values: { [`k${n}`]: Array.from({ length: 2_000 }, (_, at) => Math.sin(at * n)) },
      },
    })
  for (let n = 1; n <= 20; n++) await fill(n)
  let count = 20
  let last = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const launched = await launch(`writer-${kill}`)
    await until('it writes', async () => (await stored(executionId)) > last, { timeoutMs: 120_000 })
    const stopAt = performance.now() + 100 + Math.random() * 600
    while (performance.now() < stopAt) {
      await fill(++count)
      hints.add(0, executionId)
    }
    launched.kill('SIGKILL')
    await once(launched, 'exit')
    const reader = await openState(core, { drive: false, threads: 1 })
    const report = await reader.threads.ask(0, 'verify', { shard: 0, executionId })
    expect(report).toMatchObject({ found: true, ok: true })
    expect(Number(report.version)).toBeGreaterThanOrEqual(last)
    last = Number(report.version)
    expect(await reader.sealed(executionId)).toBe(await foldText(database.get(), executionId))
    expect(reader.counts).toMatchObject({ rejected: {}, rebuilds: { snapshot: 1, log: 0 } })
    await reader.close()
  }
})
