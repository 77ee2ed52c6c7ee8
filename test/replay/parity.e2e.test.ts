// Promise: `replay parity` finds every place where the generations, the read model or a snapshot disagree, tells a person within
// 80 columns and a program in JSON, and ends with 5 when there is one. Profile `server` works from the database and from files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { plantLog } from './replayHarness.js'

const database = useDatabase()
let folder: string

const event = (execution_id: number, event_id: number, event_type: string, rest: JsonObject = {}): JsonObject => ({
  execution_id,
  event_id,
  event_type,
  status: '',
  ...rest,
})
/** Every generation says the same of it. */
const plain = (execution: number) => [
  event(execution, 1, 'step.enter', { node_name: 'a' }),
  event(execution, 2, 'command.issued', { node_name: 'a', command_id: 7, meta: { worker_id: 'w' } }),
  event(execution, 3, 'command.completed', {
    node_name: 'a',
    command_id: 7,
    result: { status: 'ok', reference: { ref: 'gs://x' } },
  }),
  event(execution, 4, 'playbook.completed', { node_name: 'a' }),
]
const OTHER = [
  event(9401, 1, 'playbook_started', { node_name: 'start' }),
  event(9401, 2, 'command.failed', { node_name: 'a', command_id: 7, worker_id: 'w' }),
  event(9401, 3, 'playbook.cancelled', {}),
]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-parity-'))
  const ofAnother = { ...event(9400, 5, 'step.exit', { node_name: 'b' }), tenant_id: 'acme' }
  await plantLog(database.get(), [...plain(9400), ...plain(9402), ...OTHER, ofAnother])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const run = (args: string[], columns?: number) =>
  builtCli(args, { env: { NOETL_DATABASE_URL: database.get().url }, ...(columns === undefined ? {} : { columns }) })

interface Answer {
  equal: boolean
  comparisons: {
    from: string
    to: string
    count: number
    skipped: string | null
    differences: { pointer: string; from?: unknown; to?: unknown }[]
  }[]
}
async function parity(
  id: string,
): Promise<{ code: number; between(to: string): Answer['comparisons'][number]; answer: Answer }> {
  const ran = await run(['replay', 'parity', id, '--json'])
  expect([0, 5], ran.stderr).toContain(ran.code)
  const answer = JSON.parse(ran.stdout) as Answer
  return { code: ran.code, answer, between: (to) => answer.comparisons.find((one) => one.to === to)! }
}

describe('replay parity', () => {
  it('names each place where a generation says something else', async () => {
    const { code, between, answer } = await parity('9401')
    expect(code).toBe(5)
    expect(answer.equal).toBe(false)
    const places = (to: string) =>
      Object.fromEntries(between(to).differences.map(({ pointer, from, to: other }) => [pointer, [from, other]]))
    expect(places('python')).toEqual({
      '/commands/7/worker_id': ['w', undefined],
      '/execution/status': ['CANCELLED', 'FAILED'],
    })
    expect(places('server')).toEqual({})
    expect(between('read model')).toMatchObject({ count: 0, skipped: null })
    expect(between('snapshot')).toMatchObject({ count: 0, skipped: 'there is none' })
  })

  it('ends with 0 where all of them agree', async () => {
    const { code, answer } = await parity('9402')
    expect(answer.comparisons.flatMap(({ differences }) => differences)).toEqual([])
    expect({ code, equal: answer.equal }).toEqual({ code: 0, equal: true })
  })

  it('sees that the server does not tell tenants apart, and a row that was changed by hand', async () => {
    expect((await run(['snapshot', 'take', '9400'])).code).toBe(0)
    const { code, between } = await parity('9400')
    expect(code).toBe(5)
    expect(between('python')).toMatchObject({ count: 0 })
    expect(between('server').differences).toEqual([
      { pointer: '/event_count', kind: 'changed', from: 4, to: 5 },
      { pointer: '/execution/last_node_name', kind: 'changed', from: 'a', to: 'b' },
      { pointer: '/last_event_id', kind: 'changed', from: 4, to: 5 },
      { pointer: '/last_event_type', kind: 'changed', from: 'playbook.completed', to: 'step.exit' },
    ])
    expect(between('snapshot')).toMatchObject({ count: 0, skipped: null })
    await database.get().sql("update noetl.execution set status = 'FAILED' where execution_id = 9401")
    expect((await parity('9401')).between('read model').differences).toEqual([
      { pointer: '/status', kind: 'changed', from: 'CANCELLED', to: 'FAILED' },
    ])
  })

  it('tells it to a person, within 80 columns, and knows ids that are none', async () => {
    const ran = await run(['replay', 'parity', '9401'], 80)
    expect(ran.code).toBe(5)
    const text = stripVTControlCharacters(ran.stdout)
    expect(text).toContain('cp → python')
    expect(text).toMatch(/\/execution\/status +│ "CANCELLED" │ "FAILED"/)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect((await run(['replay', 'parity', '5'])).code).toBe(3)
  })
})

describe('replay --profile server', () => {
  it('gives one document, from the database and from a file', async () => {
    const stored = await run(['replay', '9401', '--profile', 'server', '--json'])
    expect(stored).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(stored.stdout)).toMatchObject({
      tenant_id: 'default',
      event_count: 3,
      execution: { status: 'CANCELLED' },
      commands: { 7: { command_id: '7', status: 'FAILED', worker_id: 'w' } },
      checksum: { type: 'sha256', value: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    const file = join(folder, 'events.ndjson')
    await writeFile(file, OTHER.map((row) => JSON.stringify(row)).join('\n'))
    const read = await run(['replay', '--file', file, '--profile', 'server', '--json'])
    expect(read).toMatchObject({ code: 0 })
    expect(read.stdout).toBe(stored.stdout)
    const shown = await run(['replay', '9401', '--profile', 'server'])
    expect(shown.stdout).toMatch(/fold +server/)
    expect(shown.stdout).toContain(JSON.parse(stored.stdout).checksum.value)
  })
})
