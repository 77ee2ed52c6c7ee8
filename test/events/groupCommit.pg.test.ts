// Promise: callers that share a transaction share a bounded one, in bytes as in events, and what waits to be written is
// bounded, too: beyond that a caller is told to come again, and nobody else pays for large events.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { noEventSecrets } from '../../src/domain/secrets/eventSecrets.js'
import { createAppender } from '../../src/services/events/appender.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
const MEGABYTE = 1_048_576
const BATCH_BYTES_MAX = 4 * MEGABYTE
let core: TestCore
beforeAll(async () => {
  core = await openCore([database.get()])
  await registerPlaybook(core, 'tests/group')
})
afterAll(() => core.close())

const start = async (): Promise<string> => (await startExecution(core, { path: 'tests/group' })).executionId
const large = (executionId: string, bytes: number) => ({
  execution_id: executionId,
  event_type: 'step.exit',
  step: 's',
  payload: { text: 'x'.repeat(bytes) },
})

it('large events of many callers are spread over transactions of a bounded size, in order', async () => {
  const executionId = await start()
  const bytes = Math.floor(1.3 * MEGABYTE)
  await Promise.all(Array.from({ length: 12 }, () => ingestEvent(core, large(executionId, bytes))))
  const groups = await database.get().sql<{ bytes: string; events: number }>(
    `select sum(octet_length(result::text))::bigint as bytes, count(*)::int as events
     from noetl.event where execution_id = $1 group by xmin::text`,
    [executionId],
  )
  expect(groups.reduce((sum, group) => sum + group.events, 0)).toBe(13)
  for (const group of groups) expect(Number(group.bytes ?? 0)).toBeLessThanOrEqual(BATCH_BYTES_MAX)
  // They do share: a transaction for each would be slow for small ones.
  expect(groups.length).toBeLessThan(13)
})

it('what is larger than a shared transaction goes alone, and small ones beside it are not held up', async () => {
  const executionId = await start()
  const [huge, small] = await Promise.all([
    ingestEvent(core, large(executionId, 6 * MEGABYTE)),
    ingestEvent(core, large(executionId, 10)),
  ])
  expect([huge.kind, small.kind]).toEqual(['stored', 'stored'])
})

it('beyond the bound of what may wait a caller is told to come again, and can', async () => {
  const context = { subjectOf: () => 'noetl.events.x', mintAbove: core.ids.above, secrets: noEventSecrets }
  const appender = createAppender(core.databases, context, { heldBytesMax: 3 * MEGABYTE })
  const deps = { ...core, appender: { ...core.appender, append: appender.append } }
  const executionId = await start()
  const attempts = await Promise.allSettled(
    Array.from({ length: 5 }, () => ingestEvent(deps, large(executionId, MEGABYTE))),
  )
  const refused = attempts.filter((attempt) => attempt.status === 'rejected').map((attempt) => attempt.reason)
  expect(refused).toHaveLength(3)
  for (const reason of refused) {
    expect(reason).toMatchObject({
      code: 'overloaded',
      message: expect.stringMatching(/MB already wait/),
      details: { retryAfterSeconds: 1 },
    })
  }
  expect((await ingestEvent(deps, large(executionId, MEGABYTE))).kind).toBe('stored')
  // Alone, anything that was let in is written.
  expect((await ingestEvent(deps, large(executionId, 5 * MEGABYTE))).kind).toBe('stored')
})
