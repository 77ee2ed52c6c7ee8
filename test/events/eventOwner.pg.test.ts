// Promise: an event belongs to the tenant and organisation of its execution. Without a word about them it gets them,
// with another word it is refused and nothing is written; the same for what is projected. So replays and subjects find it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ingestBatch, ingestEvent } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { projectEnvelopes } from '../../src/services/projector/projector.js'
import { pageOfQuarantine } from '../../src/services/projector/quarantine.js'
import { openReplay, replay } from '../replay/replayHarness.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let core: TestCore
beforeAll(async () => {
  core = await openCore([database.get()])
  await registerPlaybook(core, 'tests/owner')
})
afterAll(() => core.close())

const start = async (): Promise<string> =>
  (await startExecution(core, { path: 'tests/owner', tenantId: 'acme', organizationId: 'west' })).executionId
const event = (executionId: string, more = {}) => ({
  execution_id: executionId,
  event_type: 'step.enter',
  step: 's',
  ...more,
})
async function ownersOf(executionId: string): Promise<string[]> {
  const rows = await database.get().sql<{ owner: string }>(
    `select e.tenant_id || '/' || e.organization_id || ' ' || coalesce(o.subject, 'unpublished') as owner
     from noetl.event e left join noetl.outbox o using (execution_id, event_id)
     where execution_id = $1 order by e.stream_version`,
    [executionId],
  )
  return rows.map((row) => row.owner)
}
const own = (executionId: string) => `acme/west noetl.events.acme.west.${executionId}.0`

describe('a posted event', () => {
  it('without a tenant gets the tenant, organisation and subject of its execution', async () => {
    const executionId = await start()
    await ingestEvent(core, event(executionId))
    await ingestBatch(core, { execution_id: executionId, events: [{ event_type: 'step.exit', step: 's' }] })
    await ingestEvent(core, event(executionId, { tenant_id: 'acme' }))
    expect(await ownersOf(executionId)).toEqual(Array.from({ length: 4 }, () => own(executionId)))
    const reader = openReplay(database.get())
    try {
      const whose = { tenant_id: 'acme', organization_id: 'west' }
      expect((await replay(reader, { execution_id: executionId, ...whose })).eventCount).toBe('4')
      expect((await replay(reader, { execution_id: executionId })).eventCount).toBe('0')
    } finally {
      await reader.close()
    }
  })
  it.each([{ tenant_id: 'default' }, { tenant_id: 'other' }, { organization_id: 'east' }])(
    'with %o is refused and says whose the execution is',
    async (other) => {
      const executionId = await start()
      await expect(ingestEvent(core, event(executionId, other))).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringMatching(/"acme".*"west"/),
      })
      const events = [{ event_type: 'step.exit', step: 's', ...other }]
      await expect(ingestBatch(core, { execution_id: executionId, events })).rejects.toMatchObject({ code: 'refused' })
      expect(await ownersOf(executionId)).toHaveLength(1)
    },
  )
  it('is the same event when it comes again, with or without the tenant', async () => {
    const executionId = await start()
    const eventId = core.ids.next()
    await ingestEvent(core, event(executionId, { event_id: eventId }))
    for (const more of [{}, { tenant_id: 'acme', organization_id: 'west' }]) {
      expect(await ingestEvent(core, event(executionId, { event_id: eventId, ...more }))).toMatchObject({
        kind: 'duplicate',
      })
    }
  })
})

describe('a projected event', () => {
  const envelope = (executionId: string, more = {}) => ({
    execution_id: BigInt(executionId),
    event_id: BigInt(core.ids.next()),
    event_type: 'step.enter',
    node_name: 's',
    ...more,
  })
  const project = (value: ReturnType<typeof envelope>) => projectEnvelopes(core, [{ value }], 'test')

  it('without a tenant gets the one of its execution; with another it is set aside', async () => {
    const executionId = await start()
    expect(await project(envelope(executionId))).toMatchObject({ projected: 1 })
    expect(await project(envelope(executionId, { tenant_id: 'other' }))).toMatchObject({ projected: 0, quarantined: 1 })
    const [aside] = await pageOfQuarantine(core.databases, '0', 10)
    expect(aside?.reason).toMatch(/belongs to tenant "acme"/)
    expect(await ownersOf(executionId)).toEqual([own(executionId), 'acme/west unpublished'])
  })
  it('that came before the start follows the owner that the start names, and is still known', async () => {
    const executionId = core.ids.next()
    const early = envelope(executionId)
    await project(early)
    const first = envelope(executionId, {
      event_type: 'playbook_started',
      tenant_id: 'acme',
      organization_id: 'west',
    })
    expect(await project(first)).toMatchObject({ projected: 1, quarantined: 0 })
    expect(await ownersOf(executionId)).toEqual(['acme/west unpublished', 'acme/west unpublished'])
    expect(await project(early)).toMatchObject({ projected: 0, duplicates: 1, quarantined: 0 })
    expect(await project(envelope(executionId, { tenant_id: 'other' }))).toMatchObject({ quarantined: 1 })
  })
})
