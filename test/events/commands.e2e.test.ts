// Promise: events go in and out by the command line as a user runs it: lines and batches, files, followers; every digit
// is kept, and streams end quietly when nobody reads them.
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { useCommands } from '../cli/useCommands.js'
import { BINARY, runBinary } from '../support/binary.js'
import { cli } from '../support/cli.js'
import { cloneDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const { database, folder, env, run, json, start } = useCommands()

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
    expect((await run(['events', 'append', join(folder(), 'none')])).code).toBe(2)
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
    const file = join(folder(), 'run.ndjson')
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
    expect((await run(['events', 'export', id, '--output', join(folder(), 'no', 'such', 'folder()')])).code).toBe(2)
    expect((await readdir(folder())).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('an unknown execution is exit code 3 and no file', async () => {
    const file = join(folder(), 'never.ndjson')
    expect((await run(['events', 'export', '320816801799737351', '--output', file])).code).toBe(3)
    expect(await readdir(folder())).not.toContain('never.ndjson')
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
