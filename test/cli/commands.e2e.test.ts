import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { cli } from '../support/cli.js'
import { cloneDatabase } from '../support/database.js'
import { useCommands } from './useCommands.js'

const { database, hello: HELLO, folder, run, json, start } = useCommands()

describe('catalog', () => {
  it('the same content is the same version; --force makes a new one; get prints the bytes', async () => {
    const file = join(folder(), 'other.yaml')
    await writeFile(file, HELLO.replace('demo/hello', 'demo/other'))
    const first = await json(['catalog', 'register', file])
    expect(first).toMatchObject({ path: 'demo/other', version: 1, kind: 'playbook', created: true })
    expect(await json(['catalog', 'register', file])).toEqual({ ...first, created: false })
    expect(await json(['catalog', 'register', file, '--force'])).toMatchObject({ version: 2, created: true })
    const got = await run(['catalog', 'get', 'demo/other', '--version', '1'])
    expect(got).toMatchObject({ code: 0, stdout: HELLO.replace('demo/hello', 'demo/other'), stderr: '' })
    expect((await run(['catalog', 'get', first.catalog_id])).stdout).toBe(got.stdout)
    const piped = await run(['catalog', 'register', '-', '--json'], HELLO.replace('demo/hello', 'demo/piped'))
    expect(JSON.parse(piped.stdout)).toMatchObject({ path: 'demo/piped', version: 1 })
  })

  it('kinds are compared without case, and what is not there is exit code 3', async () => {
    const { entries } = await json(['catalog', 'list', '--kind', 'PlayBook', '--limit', '1000'])
    expect(entries.map((entry: { path: string }) => entry.path)).toContain('demo/hello')
    expect(await json(['catalog', 'list', '--kind', 'subscription'])).toEqual({ entries: [], has_more: false })
    expect((await run(['catalog', 'get', 'no/such'])).code).toBe(3)
    expect((await run(['catalog', 'delete', 'no/such', '--yes'])).code).toBe(3)
    expect((await run(['catalog', 'restore', 'demo/hello'])).code).toBe(3)
  })

  it('delete archives what executions were started from, and restore brings it back', async () => {
    await run(['catalog', 'register', '-'], HELLO.replace('demo/hello', 'demo/used'))
    await run(['execution', 'start', 'demo/used'])
    await run(['catalog', 'register', '-'], HELLO.replace('demo/hello', 'demo/used').replace('hi', 'hello'))
    const { versions } = await json(['catalog', 'delete', 'demo/used', '--yes'])
    expect(versions.map((row: any) => [row.version, row.state])).toEqual([
      [2, 'deleted'],
      [1, 'archived'],
    ])
    expect((await run(['catalog', 'get', 'demo/used'])).code).toBe(3)
    expect(await json(['catalog', 'restore', 'demo/used'])).toMatchObject({ versions: [{ version: 1, state: 'live' }] })
    expect((await run(['catalog', 'get', 'demo/used'])).code).toBe(0)
  })

  it('validate names everything that is wrong, without a server', async () => {
    const bad = 'kind: Subscription\nmetadata: {}\nspec:\n  source: 5\n'
    const finished = await cli(['catalog', 'validate', '-', '--json'], { input: bad })
    const { valid, violations } = JSON.parse(finished.stdout)
    expect([finished.code, valid]).toEqual([4, false])
    expect(violations.length).toBeGreaterThan(1)
    expect(violations.map((one: any) => one.path)).toContain('/metadata/path')
    const fine = await cli(['catalog', 'validate', '-'], { input: HELLO })
    expect(fine).toMatchObject({ code: 0, stdout: 'standard input is a valid playbook: demo/hello\n' })
    expect((await cli(['catalog', 'validate', join(folder(), 'none.yaml')])).code).toBe(2)
  })

  it('validate refuses a playbook that could never run', async () => {
    const bad = `${HELLO.split('workflow:')[0]}workflow: [{stp: a}]\n`
    const finished = await cli(['catalog', 'validate', '-', '--json'], { input: bad })
    expect(finished.code).toBe(4)
    expect(JSON.parse(finished.stdout)).toMatchObject({
      valid: false,
      path: 'demo/hello',
      problems: [
        { pointer: '/workflow/0/step', severity: 'error', message: 'is missing' },
        { pointer: '/workflow/0/tool', severity: 'error', message: 'the step has no tool' },
        {
          pointer: '/workflow/0/stp',
          severity: 'warning',
          message: '"stp" is not a known key here; do you mean step?',
        },
      ],
    })
    const shown = await cli(['catalog', 'validate', '-'], { input: bad })
    expect(shown.stdout).toMatch(/\/workflow\/0\/step .* is missing/)
    expect(shown.stderr).toBe('2 violation(s)\n1 warning(s)\n')
  })
})

describe('execution', () => {
  it('start prints the id alone, and show knows it', async () => {
    const started = await run(['execution', 'start', 'demo/hello', '--payload', '{"n":9007199254740993}'])
    expect(started).toMatchObject({ code: 0, stderr: 'started\n' })
    const id = started.stdout.trimEnd()
    expect(BigInt(id)).toBeGreaterThan(2n ** 53n)
    const shown = await run(['execution', 'show', id, '--json'])
    expect(shown.stdout).toContain('"n": 9007199254740993')
    expect(JSON.parse(shown.stdout)).toMatchObject({
      execution_id: id,
      status: 'RUNNING',
      path: 'demo/hello',
      event_count: '1',
      workload: { greeting: 'hi' },
    })
    const rows = await database.get().sql('select event_type from noetl.event where execution_id = $1::bigint', [id])
    expect(rows).toMatchObject([{ event_type: 'playbook_started' }])
    const outbox = await database.get().sql('select status from noetl.outbox where execution_id = $1::bigint', [id])
    expect(outbox).toMatchObject([{ status: 'PENDING' }])
  })

  it('a dedup key starts once', async () => {
    const args = ['execution', 'start', 'demo/hello', '--dedup-key', 'order-17', '--dedup-window', '60']
    const first = await json(args)
    expect(first.status).toBe('started')
    expect(await json(args)).toEqual({ execution_id: first.execution_id, status: 'duplicate' })
  })

  it('cancel cascades, and what has ended is refused', async () => {
    const parent = await start()
    const child = (await run(['execution', 'start', 'demo/hello', '--parent', parent])).stdout.trimEnd()
    const done = await json(['execution', 'cancel', parent, '--cascade', '--reason', 'test'])
    expect(done).toEqual({ execution_id: parent, status: 'CANCELLED', cancelled_children: [child] })
    expect((await run(['execution', 'cancel', parent])).code).toBe(4)
    expect((await run(['execution', 'cancel', parent, '--cascade'])).code).toBe(4)
    const late = (await run(['execution', 'start', 'demo/hello', '--parent', child])).stdout.trimEnd()
    expect(await json(['execution', 'cancel', parent, '--cascade'])).toMatchObject({ cancelled_children: [late] })
    expect(await json(['execution', 'show', child])).toMatchObject({ status: 'CANCELLED' })
  })

  it('finalize ends by hand', async () => {
    const id = await start()
    expect((await run(['execution', 'finalize', id, '--status', 'DONE'])).code).toBe(2)
    await json(['execution', 'finalize', id, '--status', 'FAILED', '--error', 'lost worker'])
    expect(await json(['execution', 'show', id])).toMatchObject({ status: 'FAILED', error: 'lost worker' })
  })

  it('list filters and pages without losing or repeating', async () => {
    await run(['catalog', 'register', '-'], HELLO.replace('demo/hello', 'paged/one'))
    const ids = new Set<string>()
    for (let n = 0; n < 5; n++) ids.add((await run(['execution', 'start', 'paged/one', '-q'])).stdout.trimEnd())
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: any = await json([
        'execution',
        'list',
        '--path',
        'paged/*',
        '--limit',
        '2',
        '--since',
        '1h',
        ...(cursor === null ? [] : ['--cursor', cursor]),
      ])
      seen.push(...page.executions.map((row: any) => row.execution_id))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(seen).toHaveLength(5)
    expect(new Set(seen)).toEqual(ids)
    expect((await json(['execution', 'list', '--path', 'paged/*', '--status', 'completed'])).executions).toEqual([])
    expect((await run(['execution', 'list', '--status', 'bogus'])).code).toBe(2)
    expect((await run(['execution', 'list', '--cursor', 'bogus'])).code).toBe(2)
    const table = await run(['execution', 'list', '--path', 'paged/one'])
    expect(table.stdout).toMatch(/\d+ [sm] ago/)
    for (const id of ids) expect(table.stdout).toContain(id)
  })

  it('unknown ids are exit code 3, malformed ones 2', async () => {
    for (const args of [
      ['show', '320816801799737345'],
      ['cancel', '320816801799737345'],
    ])
      expect((await run(['execution', ...args])).code).toBe(3)
    for (const id of ['x', '9223372036854775808']) expect((await run(['execution', 'show', id])).code).toBe(2)
    expect((await run(['execution', 'start', 'no/such'])).code).toBe(3)
    expect((await run(['execution', 'start', 'demo/hello', '--payload', '[1]'])).code).toBe(2)
    expect((await run(['execution', 'start', 'demo/hello', '--payload', '{'])).code).toBe(2)
  })
})

describe('shard list and retention', () => {
  it('a dead shard is shown beside the living', async () => {
    const shards = `${database.get().url},postgres://nobody@127.0.0.1:1/none`
    const finished = await cli(['shard', 'list', '--json'], { env: { NOETL_SHARDS: shards } })
    expect(finished.code).toBe(69)
    const { shard_count, databases } = JSON.parse(finished.stdout)
    expect(shard_count).toBe(2)
    expect(databases.map((one: any) => [one.name, one.ok])).toEqual([
      ['shard0', true],
      ['shard1', false],
    ])
    expect(databases[1].error).toContain('127.0.0.1:1')
    const alone = await run(['shard', 'list'])
    expect(alone.code).toBe(0)
    expect(alone.stdout).toContain('shard 0, cluster tables')
  })

  it('retention says what would go, refuses without --yes, and then does it', async () => {
    const other = await cloneDatabase(inject('servers'))
    try {
      const into = { NOETL_DATABASE_URL: other.url }
      const input =
        '{"event_id":1,"execution_id":1,"event_type":"playbook_started","timestamp":"2025-01-01T00:00:00Z"}\n{"event_id":2,"execution_id":1,"event_type":"playbook.completed","timestamp":"2025-01-01T00:00:01Z"}\n'
      await cli(['events', 'import'], { env: into, input })
      await other.sql(`update noetl.execution set updated_at = now() - interval '1 hour'`)
      const dry = await cli(['retention', '--older-than', '90d', '--dry-run', '--json'], { env: into })
      expect(dry.code).toBe(0)
      expect(JSON.parse(dry.stdout).shards[0]).toMatchObject({ default_events_deleted: 2, executions_deleted: 1 })
      expect((await cli(['retention', '--older-than', '90d'], { env: into })).code).toBe(2)
      expect(await other.sql('select 1 from noetl.event')).toHaveLength(2)
      const done = await cli(['retention', '--older-than', '90d', '--yes'], { env: into })
      expect(done.code).toBe(0)
      expect(await other.sql('select 1 from noetl.event')).toHaveLength(0)
      expect(await other.sql('select 1 from noetl.execution')).toHaveLength(0)
    } finally {
      await other.drop()
    }
  })
})

it('the database being away is exit code 69 with a reason', async () => {
  const gone = await cli(['execution', 'list'], { env: { NOETL_DATABASE_URL: 'postgres://x@127.0.0.1:1/none' } })
  expect(gone.code).toBe(69)
  const writing = await cli(['execution', 'start', 'a'], {
    env: { NOETL_DATABASE_URL: 'postgres://x@127.0.0.1:1/none' },
  })
  expect(writing.code).toBe(69)
  expect(writing.stderr).toContain('is it running?')
})
