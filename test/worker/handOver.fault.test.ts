// Promise: a daemon that is killed between any two moments of a hand-over loses nothing: the commands it held for its own worker
// go to the next one when their leases are over, and the execution ends as undisturbed.
import { afterAll, expect, it } from 'vitest'
import { post } from '../commands/foreignWorker.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const STEPS = 40
const KILLED_AFTER = [3, 17]

const database = useDatabase()
let daemon: Daemon | undefined

afterAll(() => daemon?.stop())

function launch(): Promise<Daemon> {
  const env = {
    NOETL_DATABASE_URL: database.get().url,
    NOETL_CP_STATE_LEASE: '3',
    NOETL_CP_ENGINE_NATIVE_NOOP: 'false',
    HOSTNAME: 'mortal',
  }
  return startDaemon([], { env })
}

async function countOf(id: string, eventType: string): Promise<number> {
  const [row] = await database
    .get()
    .sql<{ count: number }>(
      `select count(*)::int as count from noetl.event where execution_id = $1::bigint and event_type = $2::text`,
      [id, eventType],
    )
  return row!.count
}

it('goes on after every kill, with every command answered once', { timeout: 500_000 }, async () => {
  daemon = await launch()
  const steps = Array.from({ length: STEPS }, (_, n) => {
    const next = n + 1 < STEPS ? `, next: [s${n + 1}]` : ''
    return `- {step: s${n}, tool: {kind: noop}${next}}`
  })
  const head = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: test/handover}\nworkflow:\n'
  await post(daemon.url, '/api/catalog/register', { content: `${head}${steps.join('\n')}\n` })
  const started = await post(daemon.url, '/api/execute', { path: 'test/handover' })
  const id = /"execution_id":"?(\d+)/.exec(started.text)![1]!
  for (const answered of KILLED_AFTER) {
    await until(`${answered} commands are answered`, async () => (await countOf(id, 'command.completed')) >= answered, {
      everyMs: 2,
    })
    daemon.signal('SIGKILL')
    await daemon.finished
    // Instead of half a minute.
    await database.get().sql(`update noetl.command set lease_until = now() where status in ('CLAIMED', 'RUNNING')`)
    daemon = await launch()
  }
  await until('it ends', async () => (await countOf(id, 'playbook.completed')) === 1, {
    timeoutMs: 200_000,
  })
  const [row] = await database.get().sql<{ status: string; commands: number; open: number; handed: number }>(
    `select e.status,
       (select count(distinct command_key)::int from noetl.command c where c.execution_id = e.execution_id) as commands,
       (select count(*)::int from noetl.command c where c.execution_id = e.execution_id and c.status <> 'COMPLETED') as open,
       (select count(*)::int from noetl.event v where v.execution_id = e.execution_id and v.meta ->> 'handed_over' = 'true') as handed
     from noetl.execution e where e.execution_id = $1::bigint`,
    [id],
  )
  expect(row).toMatchObject({ status: 'COMPLETED', commands: STEPS, open: 0 })
  expect(row!.handed).toBeGreaterThan(0)
  expect(await countOf(id, 'command.issued')).toBe(STEPS)
  expect(await countOf(id, 'command.completed')).toBe(STEPS)
})
