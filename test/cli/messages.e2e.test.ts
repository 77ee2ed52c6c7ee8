// Promise: what was asked for and is not there, cannot be read or cannot be written is a sentence that says what to do, with
// the documented exit code; never an empty list, a stack trace or "0 rows".

import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { BINARY } from '../support/binary.js'
import { builtCli, cli } from '../support/cli.js'
import { useCommands } from './useCommands.js'

const { database, env, folder, run, start } = useCommands()
const NOBODY = '320816801799737344'
const UNKNOWN = `noetl-cp: there is no execution ${NOBODY}; see "noetl-cp execution list"\n`

describe('an execution that is not there is told in one wording', () => {
  it.each([
    'execution show',
    'execution cancel',
    'state show',
    'state why-stuck',
    'events tail',
    'events export',
    'snapshot show',
  ])('%s', async (command) => {
    // Live states are read in threads, which only the build has.
    const ran = await builtCli([...command.split(' '), NOBODY], { env: env() })
    expect(ran).toMatchObject({ code: 3, stdout: '', stderr: UNKNOWN })
  })
})

it.each([
  ['execution list --limit -1', 2, /--limit must be a whole number from 1/],
  ['execution list --since yesterday', 2, /--since must be a time such as .*, a date such as .*, or a span .* 2h, not/],
  ['execution list --tenant nobody', 3, /no execution belongs to the tenant nobody/],
  ['execution list --status foo', 2, /--status must be one of UNKNOWN, RUNNING/],
  ['catalog list --kind foo', 3, /no entry is of kind foo; usual are playbook and subscription/],
  ['subscription list --kind foo', 2, /--kind must be one of pull, push/],
  ['outbox retry 99999', 3, /0 row\(s\) may be tried now; 1 of the named rows are not there or not FAILED/],
  ['outbox dead redrive 99999', 3, /not there or not DEAD; see "noetl-cp outbox list --status DEAD"/],
  ['outbox dead drop 99999 --yes', 3, /not there or not DEAD/],
  ['subscription dead redrive 99999', 3, /there is no given-up message 99999/],
  ['projector quarantine retry 99999', 3, /there is no quarantined envelope 99999/],
] as const)('%s is refused with %i', async (line, code, said) => {
  const ran = await run(line.split(' '))
  expect(ran).toMatchObject({ code, stdout: '' })
  expect(ran.stderr).toMatch(said)
})

it.each(['2h', '2020-01-01', '2020-01-01T00:00:00Z', '2020-01-01T01:00:00+01:00'])('--since takes %s', async (time) => {
  const id = await start()
  expect((await run(['execution', 'list', '--since', time, '--json'])).stdout).toContain(id)
})

it.each(['execution list', 'snapshot list'])('%s of a dead database is no empty list', async (command) => {
  const dead = { NOETL_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const ran = await cli(command.split(' '), { env: dead })
  expect(ran.code).toBe(69)
  expect(ran.stdout).toBe('  unknown: a database did not answer\n')
})

describe('dead drop', () => {
  it('removes the named dead row and no other, and only when it is told to', async () => {
    const id = await start()
    await database
      .get()
      .sql(`update noetl.outbox set status = 'DEAD', last_error = 'too large' where execution_id = $1`, [id])
    const rows = JSON.parse((await run(['outbox', 'dead', 'list', '--execution', id, '--json'])).stdout).rows
    expect(rows.length).toBeGreaterThan(0)
    const row = String(rows[0].outbox_id)
    expect((await run(['outbox', 'dead', 'drop', row])).code).toBe(2)
    expect(await run(['outbox', 'dead', 'drop', row, '--yes'])).toMatchObject({ code: 0, stdout: '1 row(s) removed\n' })
    const left = JSON.parse((await run(['outbox', 'dead', 'list', '--execution', id, '--json'])).stdout).rows
    expect(left.map((one: any) => String(one.outbox_id))).toEqual(
      rows.slice(1).map((one: any) => String(one.outbox_id)),
    )
  })
})

describe('outputs', () => {
  const intoFull = (args: readonly string[]) => {
    const full = openSync('/dev/full', 'w')
    try {
      return spawnSync(process.execPath, [BINARY, ...args], {
        stdio: ['ignore', full, 'pipe'],
        env: { PATH: process.env['PATH'], ...env() },
        encoding: 'utf8',
      })
    } finally {
      closeSync(full)
    }
  }
  it.each(['config init', 'execution list', 'catalog list --json'])('%s into a full disk is a sentence', (command) => {
    const ran = intoFull(command.split(' '))
    expect(ran.status).toBe(1)
    expect(ran.stderr).toMatch(/^noetl-cp: cannot write the output: ENOSPC.*; choose another file or make room\n$/)
  })
  it('a file that cannot be made is a sentence', async () => {
    const ran = await run(['events', 'export', await start(), '--output', join(folder(), 'no', 'such', 'folder')])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('cannot write')
  })
  it('a pipe by that name is written into and stays what it is; a file is replaced whole', async () => {
    const id = await start()
    const pipe = join(folder(), 'pipe')
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] })
    const read = text(reader.stdout)
    expect(await run(['events', 'export', id, '--output', pipe])).toMatchObject({ code: 0 })
    expect(await read).toContain(id)
    expect(statSync(pipe).isFIFO()).toBe(true)
    const file = join(folder(), 'old.ndjson')
    writeFileSync(file, 'old')
    expect(await run(['events', 'export', id, '--output', file])).toMatchObject({ code: 0 })
    expect(statSync(file).size).toBeGreaterThan(100)
  })
})

it('status counts executions by state, whether the daemon answers or not', async () => {
  await start()
  const ran = await run(['status', '--json', '--port', '1'])
  expect(ran.code).toBe(69)
  const { executions } = JSON.parse(ran.stdout)
  const rows = await database.get().sql('select status, count(*)::int as n from noetl.execution group by status')
  expect(executions).toEqual(Object.fromEntries(rows.map((row) => [row['status'], row['n']])))
  expect((await run(['status', '--port', '1'])).stdout).toMatch(/executions +\d+ \w+/)
})
