// Promise: the commands work against a real database as a user runs them: exit codes, bytes on standard
// output, rows in Postgres; ids keep every digit; streams end quietly when nobody reads them.
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { BINARY, runBinary } from '../support/binary.js'
import { cli, type Ran } from '../support/cli.js'
import { cloneDatabase, useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
const HELLO = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata:\n  path: demo/hello\nworkload:\n  greeting: hi\n'
let folder = ''

const env = () => ({ NOETL_DATABASE_URL: database.get().url })

/** In this process: the same main() without the time a new process takes. */
async function run(args: readonly string[], input = ''): Promise<Ran> {
  return cli(args, { env: env(), input })
}

async function json(args: readonly string[], input = ''): Promise<any> {
  const finished = await run([...args, '--json'], input)
  expect(finished).toMatchObject({ code: 0 })
  return JSON.parse(finished.stdout)
}

async function start(): Promise<string> {
  return (await run(['execution', 'start', 'demo/hello', '--quiet'])).stdout.trimEnd()
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-commands-'))
  const file = join(folder, 'hello.yaml')
  await writeFile(file, HELLO)
  expect((await run(['catalog', 'register', file])).code).toBe(0)
})

describe('catalog', () => {
  it('the same content is the same version; --force makes a new one; get prints the bytes', async () => {
    const file = join(folder, 'other.yaml')
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
    expect((await cli(['catalog', 'validate', join(folder, 'none.yaml')])).code).toBe(2)
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

describe('events append', () => {
  it('takes lines, prints their ids in order, and numbers them in order', async () => {
    const id = await start()
    const lines = Array.from({ length: 300 }, (_, n) =>
      JSON.stringify({ execution_id: id, event_type: 'step.enter', step: `s${n}` }),
    )
    const { code, stdout, stderr } = await run(['events', 'append'], lines.join('\n'))
    expect([code, stderr]).toEqual([0, '300 stored, 0 there already, 0 refused\n'])
    const rows = await database
      .get()
      .sql<{ event_id: string; node_name: string }>(
        'select event_id, node_name from noetl.event where execution_id = $1::bigint and stream_version > 1 order by stream_version',
        [id],
      )
    expect(rows.map((row) => row.node_name)).toEqual(lines.map((_, n) => `s${n}`))
    expect(stdout.trimEnd().split('\n')).toEqual(rows.map((row) => row.event_id))
    const outbox = await database.get().sql('select 1 from noetl.outbox where execution_id = $1::bigint', [id])
    expect(outbox).toHaveLength(301)
  })

  it('names bad lines, stores the others, and ends with 1', async () => {
    const id = await start()
    const input = [
      `{"execution_id":${id},"event_type":"step.enter","step":"a","event_id":320816801799737347}`,
      '{"execution_id":',
      `{"execution_id":${id},"step":"b"}`,
      '{"execution_id":320816801799737349,"event_type":"step.enter","step":"a"}',
      `{"execution_id":${id},"event_type":"step.enter","step":"a","event_id":320816801799737347}`,
      `{"execution_id":${id},"event_type":"step.enter","step":"OTHER","event_id":320816801799737347}`,
    ].join('\n')
    const { code, stdout, stderr } = await run(['events', 'append', '--json'], input)
    expect(code).toBe(1)
    const told = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(told.map((one) => [one.line, one.status, one.code])).toEqual([
      [1, 'stored', undefined],
      [2, 'refused', 'invalid_input'],
      [3, 'refused', 'invalid_input'],
      [4, 'refused', 'not_found'],
      [5, 'duplicate', undefined],
      [6, 'refused', 'conflict'],
    ])
    expect(told[0]).toMatchObject({ execution_id: id, event_id: '320816801799737347', stream_version: '2' })
    expect(stderr).toContain('line 3: /event_type is missing')
  })

  it('a single event ends with the code of its error', async () => {
    const one = (event: object) => run(['events', 'append'], JSON.stringify(event, null, 2))
    expect((await one({ execution_id: '320816801799737349', event_type: 'x', step: 'a' })).code).toBe(3)
    expect((await one({ execution_id: '-1', event_type: 'x', step: 'a' })).code).toBe(2)
    expect((await run(['events', 'append', join(folder, 'none')])).code).toBe(2)
  })

  it('takes a batch as the HTTP route does', async () => {
    const id = await start()
    const events = [
      { event_type: 'step.enter', step: 'a' },
      { event_type: 'step.exit', step: 'a' },
    ]
    const { code, stdout } = await run(['events', 'append'], JSON.stringify({ execution_id: id, events }, null, 1))
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  })
})

describe('events export and import', () => {
  it('everything survives the way through a file into another database, twice', async () => {
    const id = await start()
    await run(
      ['events', 'append'],
      `{"execution_id":${id},"event_type":"step.exit","step":"a","event_id":9007199254740993,"payload":{"big":9007199254740993,"float":1.0,"text":"é\\u2028\\"","__proto__":1}}\n{"execution_id":${id},"event_type":"call.error","step":"a","error":"no\\nluck"}`,
    )
    await database.get().sql(
      `update noetl.event set stage_id = 9007199254740995, frame_id = 2, command_id = 3, payload_ref = '{"uri":"s3://x"}', aggregate_id = 'stage/1', aggregate_type = 'stage', schema_name = 'n', schema_version = 7, parent_event_id = 11, prev_event_id = 12, worker_id = 'w', duration = 1.5
       where execution_id = $1::bigint and event_id = 9007199254740993`,
      [id],
    )
    // A writer that knows nothing of us: no number, no read model.
    await database
      .get()
      .sql(
        `insert into noetl.event (execution_id, event_id, catalog_id, event_type) values ($1::bigint, 5, 1, 'step.enter')`,
        [id],
      )
    const file = join(folder, 'run.ndjson')
    const exported = await runBinary(['events', 'export', id, '--output', file], { env: env() })
    expect(exported).toMatchObject({ code: 0, stdout: '', stderr: `4 event(s) of execution ${id} in ${file}\n` })
    const text = await readFile(file, 'utf8')
    expect((await run(['events', 'export', id])).stdout).toBe(text)
    expect(text).toContain(`"execution_id":${id}`)
    expect(text).toContain('"stage_id":9007199254740995')

    const other = await cloneDatabase(inject('servers'))
    try {
      const into = { NOETL_DATABASE_URL: other.url }
      const first = await cli(['events', 'import', file], { env: into })
      expect(first).toMatchObject({ code: 0, stdout: '', stderr: '4 stored, 0 there already, 0 refused\n' })
      const again = await runBinary(['events', 'import'], { env: into, input: text })
      expect(again).toMatchObject({ code: 0, stderr: '0 stored, 4 there already, 0 refused\n' })
      const back = await cli(['events', 'export', id], { env: into })
      // Only what nobody had numbered before has a number now.
      const without = (all: string) =>
        all
          .trimEnd()
          .split('\n')
          .map((line) => line.replace(/"stream_version":\d+,/, ''))
      expect(without(back.stdout)).toEqual(without(text))
      expect(await other.sql('select 1 from noetl.outbox')).toHaveLength(0)
      const [row] = await other.sql('select status, path, event_count from noetl.execution')
      expect(row).toMatchObject({ status: 'RUNNING', path: 'demo/hello', event_count: '4' })
      const shown = await cli(['execution', 'show', id, '--json'], { env: into })
      expect(JSON.parse(shown.stdout).execution_id).toBe(id)
    } finally {
      await other.drop()
    }
    // And back into the database it came from.
    expect(await run(['events', 'import', file])).toMatchObject({
      code: 0,
      stderr: '0 stored, 4 there already, 0 refused\n',
    })
  })

  it('names refused lines and stores the others; --publish writes outbox rows', async () => {
    const input = [
      '{"event_id":1,"execution_id":900000000000000001,"event_type":"playbook_started","timestamp":"2026-11-01T00:00:00Z","context":{"path":"x/y"}}',
      '{"execution_id":900000000000000001,"event_type":"step.enter"}',
      'nonsense',
      '{"event_id":2,"execution_id":900000000000000001,"event_type":"step.enter","timestamp":"2026-11-01T00:00:01Z","surprise":1}',
      '{"event_id":3,"execution_id":900000000000000001,"event_type":"playbook.completed","timestamp":"2026-11-01T00:00:02Z"}',
      '{"event_id":3,"execution_id":900000000000000001,"event_type":"playbook.failed","timestamp":"2026-11-01T00:00:02Z"}',
    ].join('\n')
    const { code, stderr } = await run(['events', 'import', '--publish'], input)
    expect(code).toBe(1)
    expect(stderr).toContain('line 2: /event_id is missing')
    expect(stderr).toMatch(/line 3: /)
    expect(stderr).toContain('line 4: /surprise')
    expect(stderr).toMatch(/line 6: event 3 is already stored with other content/)
    expect(stderr).toContain('2 stored, 0 there already, 4 refused')
    expect(await json(['execution', 'show', '900000000000000001'])).toMatchObject({
      status: 'COMPLETED',
      path: 'x/y',
      start_time: '2026-11-01T00:00:00.000000+00:00',
      end_time: '2026-11-01T00:00:02.000000+00:00',
    })
    expect(await database.get().sql('select 1 from noetl.outbox where execution_id = 900000000000000001')).toHaveLength(
      2,
    )
  })

  it('an export of many pages ends quietly when the reader goes away, and leaves no half file', async () => {
    const id = await start()
    await database.get().sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, context)
       select $1::bigint, 1000 + n, 1, 'step.enter', jsonb_build_object('text', repeat('x', 1000)) from generate_series(1, 5000) n`,
      [id],
    )
    const child = spawn(process.execPath, [BINARY, 'events', 'export', id], {
      env: { PATH: process.env['PATH'], ...env() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect([code, stderr]).toEqual([0, ''])
    const whole = await run(['events', 'export', id])
    const ids = whole.stdout
      .trimEnd()
      .split('\n')
      .map((line) => /"event_id":(\d+)/.exec(line)![1])
    expect(new Set(ids).size).toBe(5001)
    expect(ids).toHaveLength(5001)
    expect((await run(['events', 'export', id, '--output', join(folder, 'no', 'such', 'folder')])).code).toBe(2)
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('an unknown execution is exit code 3 and no file', async () => {
    const file = join(folder, 'never.ndjson')
    expect((await run(['events', 'export', '320816801799737351', '--output', file])).code).toBe(3)
    expect(await readdir(folder)).not.toContain('never.ndjson')
  })
})

describe('events tail', () => {
  it('shows the last ones in order', async () => {
    const id = await start()
    await run(
      ['events', 'append'],
      ['a', 'b', 'c'].map((step) => JSON.stringify({ execution_id: id, event_type: 'step.enter', step })).join('\n'),
    )
    const { code, stdout } = await run(['events', 'tail', id, '--limit', '2', '--json'])
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).node_name),
    ).toEqual(['b', 'c'])
    expect((await run(['events', 'tail', id])).stdout.split('\n')).toHaveLength(5)
    expect((await run(['events', 'tail', '320816801799737351'])).code).toBe(3)
  })

  it('follows: ours, those of other writers, each once, and ends with a signal', async () => {
    const id = await start()
    const child = spawn(process.execPath, [BINARY, 'events', 'tail', id, '--follow', '--json'], {
      env: { PATH: process.env['PATH'], ...env() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    const finished = new Promise((resolve) => child.on('close', resolve))
    const types = () =>
      stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line).event_type)
    await until('the start is shown', () => types().length === 1)
    await run(['events', 'append'], JSON.stringify({ execution_id: id, event_type: 'step.enter', step: 'a' }))
    await until('ours is shown', () => types().includes('step.enter'))
    // An id below all others, and no number: found all the same.
    await database
      .get()
      .sql(
        `insert into noetl.event (execution_id, event_id, catalog_id, event_type) values ($1::bigint, 7, 1, 'foreign')`,
        [id],
      )
    await until('the foreign one is shown', () => types().includes('foreign'))
    await database
      .get()
      .sql('update noetl.event set stream_version = 3 where execution_id = $1::bigint and event_id = 7', [id])
    await database
      .get()
      .sql(
        `insert into noetl.event (execution_id, event_id, catalog_id, event_type, stream_version) values ($1::bigint, 8, 1, 'last', 4)`,
        [id],
      )
    await until('the last is shown', () => types().includes('last'))
    child.kill('SIGINT')
    expect(await finished).toBe(0)
    expect(types()).toEqual(['playbook_started', 'step.enter', 'foreign', 'last'])
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
