// Promise: the walk of the README as it stands there: its playbook is registered and started from the command line, and the
// running daemon takes it to its end.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { cli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let daemon: Daemon
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-walk-'))
  daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
})
afterAll(async () => {
  await daemon?.stop()
  await rm(folder, { recursive: true, force: true })
})

const command = (...args: string[]) => cli(args, { env: { NOETL_DATABASE_URL: database.get().url } })

it('ends COMPLETED', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  const document = /cat > hello\.yaml <<'END'\n([\s\S]*?)\nEND\n/.exec(readme)![1]!
  const file = join(folder, 'hello.yaml')
  await writeFile(file, document)
  expect((await command('catalog', 'register', file)).code).toBe(0)
  const started = await command('execution', 'start', 'shop/hello', '--payload', '{"who": "you"}', '--quiet')
  const id = started.stdout.trim()
  await until('it has ended', async () => {
    const [row] = await database
      .get()
      .sql<{ status: string }>('select status from noetl.execution where execution_id = $1::bigint', [id])
    return row?.status === 'COMPLETED'
  })
  const tail = (await command('events', 'tail', id)).stdout
  expect(tail.match(/playbook[._]\w+|step\.\w+/g)).toEqual([
    'playbook_started',
    'step.enter',
    'step.exit',
    'step.skipped',
    'step.enter',
    'step.exit',
    'playbook.completed',
  ])
  const [last] = await database
    .get()
    .sql<{ result: unknown }>(
      `select result from noetl.event where execution_id = $1::bigint and event_type = 'playbook.completed'`,
      [id],
    )
  expect(JSON.stringify(last!.result)).toContain('Hello, you')
})
