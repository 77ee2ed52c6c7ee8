// Promise: `replay --resolve-payloads` and its route read what the events refer to, within bytes and time, from the result
// stores and from listed hosts alone, and say of each reference what it is or why it was not read. The payload itself,
// and secrets in addresses, are never shown.
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { stripVTControlCharacters } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKeyring } from '../../src/domain/secrets/keyring.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { plantLog } from './replayHarness.js'

const database = useDatabase()
const KEY = 'a-secret-key-of-at-least-thirty-two-characters'
const EXECUTION = '9300'
const STORED = '{"rows":[1,90071992547409931234,1.50]}'
let server: http.Server
let base: string
let asked: string[] = []

/** What each event refers to, by event id; filled before the tests. */
let references: Record<number, unknown>

beforeAll(async () => {
  server = http.createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url} ${request.headers.authorization ?? ''}`)
    if (request.url?.startsWith('/rows')) response.end('[1,2,3]')
    else if (request.url === '/large') response.end(`"${'x'.repeat(1_100_000)}"`)
    else if (request.url === '/text') response.end('no json')
    else if (request.url === '/gone') response.writeHead(404).end()
    // Anything else is never answered.
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  references = {
    1: { kind: 'result_ref', ref: ref('ours', 1) },
    2: { kind: 'result_ref', ref: ref('theirs', 2) },
    3: { kind: 'result_ref', ref: ref('missing', 3) },
    4: { kind: 'result_ref', ref: ref('elsewhere', 4) },
    5: { kind: 'result_ref', ref: ref('on a host', 5) },
    6: { kind: 'result_ref', ref: ref('sealed', 6) },
    7: { kind: 'result_ref', ref: ref('large', 7) },
    8: { uri: `${base}/rows?access_token=zq81-very-secret-value` },
    9: { uri: `${base}/large` },
    10: { uri: `${base}/gone` },
    11: { uri: `${base}/text` },
    12: { uri: 'http://elsewhere.example/rows' },
    13: { uri: 's3://bucket/rows' },
    14: { note: 'no address' },
    15: { kind: 'result_ref', ref: ref('ours', 1) },
    16: { uri: `http://user:zq81-very-secret-value@127.0.0.1:${new URL(base).port}/rows` },
  }
  await plantLog(database.get(), eventsOf(EXECUTION, Object.values(references)))
  await plantLog(database.get(), eventsOf('9301', [{ uri: `${base}/hangs` }, { uri: `${base}/rows` }]))
  await plantResults()
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const ref = (name: string, id: number) => `noetl://execution/${EXECUTION}/result/${encodeURIComponent(name)}/${id}`

function eventsOf(execution: string, given: unknown[]) {
  return given.map((reference, index) => ({
    execution_id: Number(execution),
    event_id: index + 1,
    event_type: 'command.completed',
    result: { status: 'success', reference } as never,
  }))
}

async function plantResults(): Promise<void> {
  const sql = database.get().sql
  await sql(`create table noetl.result_store (result_id bigint primary key, execution_id bigint, name text, scope text,
    source_step text, data jsonb, bytes bigint, sha256 text, media_type text, created_at timestamptz default now(),
    expires_at timestamptz)`)
  await sql(`create table noetl.result_ref (ref_id bigint primary key, ref text unique not null, execution_id bigint not null,
    name text not null, scope text not null, store_tier text not null, physical_uri text)`)
  await sql(
    `insert into noetl.result_store (result_id, execution_id, name, data) values (2, $1::bigint, 'theirs', '{"a": 1, "b": [true]}')`,
    [EXECUTION],
  )
  await sql(
    `insert into noetl.result_ref (ref_id, ref, execution_id, name, scope, store_tier, physical_uri)
     values (4, $1, $3::bigint, 'elsewhere', 'step', 'kv', 'kv://bucket/key'), (5, $2, $3::bigint, 'on a host', 'step', 'object', $4)`,
    [ref('elsewhere', 4), ref('on a host', 5), EXECUTION, `${base}/rows/5`],
  )
  const sealed = createKeyring([KEY]).seal(
    gzipSync('{"access_token":"zq81-very-secret-value","n":1}'),
    `result 6 of execution ${EXECUTION}`,
  )
  const large = JSON.stringify('y'.repeat(1_100_000))
  for (const [id, text, data, isSealed] of [
    [1, STORED, gzipSync(STORED), false],
    [6, '{"access_token":"zq81-very-secret-value","n":1}', Buffer.from(sealed), true],
    [7, large, gzipSync(large), false],
  ] as const) {
    await sql(
      `insert into noetl.stored_result (execution_id, result_id, name, scope, data, is_sealed, bytes, sha256)
       values ($1::bigint, $2::bigint, 'x', 'execution', decode($3, 'hex'), $4::text::boolean, $5::bigint, '')`,
      [EXECUTION, String(id), data.toString('hex'), String(isSealed), String(text.length)],
    )
  }
}

const settings = () => ({
  NOETL_DATABASE_URL: database.get().url,
  NOETL_CP_SECRET_KEY: KEY,
  NOETL_CP_CLAIM_CHECK_HOSTS: '127.0.0.1',
  NOETL_CP_CLAIM_CHECK_TOKEN: 'a-token-for-listed-hosts',
  NOETL_CP_REPLAY_PAYLOAD_LIMIT_MB: '1',
})
const command = (args: string[], env: Record<string, string> = {}, columns?: number) =>
  builtCli(['replay', ...args, '--resolve-payloads'], {
    env: { ...settings(), ...env },
    ...(columns === undefined ? {} : { columns }),
  })
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

interface Row {
  event_id: number
  scope: string
  reference_summary: { ref: string | null }
  resolution: { ref: string; resolved: boolean; error: string | null } & Record<string, unknown>
}

function rowsOf(text: string): Map<number, Row> {
  const { payload_resolution: rows } = JSON.parse(text) as { payload_resolution: Row[] }
  return new Map(rows.filter(({ scope }) => scope === 'execution').map((row) => [row.event_id, row]))
}

const read = (value: string, rest: Record<string, unknown>) => ({
  resolved: true,
  checksum: sha256(value),
  size_bytes: value.length,
  error: null,
  ...rest,
})
const unread = (reason: string) => ({
  resolved: false,
  checksum: null,
  size_bytes: null,
  error: expect.stringContaining(reason),
})

describe('replay --resolve-payloads', () => {
  it('reads each reference once and says what it is, or why it was not read', async () => {
    asked = []
    const ran = await command([EXECUTION, '--json'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const rows = rowsOf(ran.stdout)
    const of = (event: number) => rows.get(event)!.resolution
    expect(of(1)).toMatchObject(
      read('{"rows":[1,90071992547409931234,1.5]}', { row_count: 3, value_type: 'dict', ref: ref('ours', 1) }),
    )
    expect(of(15)).toEqual(of(1))
    expect(of(2)).toMatchObject(read('{"a":1,"b":[true]}', { row_count: null }))
    expect(of(3)).toMatchObject(unread('no such result'))
    expect(of(4)).toMatchObject(unread('the store "kv" of the NoETL server'))
    expect(of(5)).toMatchObject(read('[1,2,3]', { row_count: 3, value_type: 'list' }))
    // A checksum of the secret itself would give a short one away.
    expect(of(6)).toMatchObject(read('{"access_token":"[REDACTED]","n":1}', {}))
    expect(of(7)).toMatchObject(unread('1100002 bytes, more than 1048576 (NOETL_CP_REPLAY_PAYLOAD_LIMIT_MB)'))
    expect(of(8)).toMatchObject(read('[1,2,3]', {}))
    expect(of(9)).toMatchObject(unread('larger than 1048576 bytes'))
    expect(of(10)).toMatchObject(unread('404'))
    expect(of(11)).toMatchObject(unread(''))
    expect(of(12)).toMatchObject(unread('elsewhere.example is not one of NOETL_CP_CLAIM_CHECK_HOSTS'))
    expect(of(13)).toMatchObject(unread('neither a stored result nor an http address'))
    expect(of(14)).toMatchObject(unread('no resolvable locator'))
    expect(of(16)).toMatchObject(unread('names a user'))
    expect(JSON.parse(ran.stdout).payload_resolution_summary).toMatchObject({
      total: 16,
      resolved: 6,
      unresolved: 10,
      all_resolved: false,
    })
    expect(ran.stdout).not.toContain('zq81')
    expect(asked.map((line) => line.split(' ')[1])).toEqual([
      '/rows/5',
      '/rows?access_token=zq81-very-secret-value',
      '/large',
      '/gone',
      '/text',
    ])
    expect(asked.every((line) => line.endsWith('Bearer a-token-for-listed-hosts'))).toBe(true)
  })

  it('leaves the state and its checksum as they are without it', async () => {
    const [plain, resolved] = await Promise.all([
      builtCli(['replay', EXECUTION, '--json'], { env: settings() }),
      command([EXECUTION, '--json']),
    ])
    const { payload_resolution: _rows, payload_resolution_summary: _summary, ...rest } = JSON.parse(resolved.stdout)
    expect(rest).toEqual(JSON.parse(plain.stdout))
  })

  it('asks no host that is not listed', async () => {
    asked = []
    const ran = await command([EXECUTION, '--json'], { NOETL_CP_CLAIM_CHECK_HOSTS: 'other.example' })
    expect(asked).toEqual([])
    expect(rowsOf(ran.stdout).get(8)!.resolution).toMatchObject(unread('NOETL_CP_CLAIM_CHECK_HOSTS'))
  })

  it('ends with its time, and says of the rest that it was not read', async () => {
    const ran = await command(['9301', '--json'], { NOETL_CP_REPLAY_PAYLOAD_TIMEOUT: '0.3' })
    expect(ran.code).toBe(0)
    const rows = rowsOf(ran.stdout)
    expect(rows.get(1)!.resolution).toMatchObject(unread('timeout'))
    expect(rows.get(2)!.resolution).toMatchObject(unread('NOETL_CP_REPLAY_PAYLOAD_TIMEOUT'))
  })

  it('tells the same to a person, within 80 columns', async () => {
    const ran = await command([EXECUTION], {}, 80)
    expect(ran.stdout).toContain('Payloads: 6 read, 10 not')
    const plain = stripVTControlCharacters(ran.stdout.slice(ran.stdout.indexOf('Payloads'))).split('\n')
    expect(Math.max(...plain.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(ran.stdout).not.toContain('zq81')
  })

  it('needs the stores, so a file is refused', async () => {
    expect(await command(['--file', '/nowhere.ndjson'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--resolve-payloads needs the database'),
    })
  })
})

describe('resolve_payloads', () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startDaemon([], { env: { ...settings(), NOETL_CP_WORKER: 'false' } })
  })
  afterAll(() => daemon.stop())

  it('answers what the command prints', async () => {
    const answer = await fetch(`${daemon.url}/api/replay/state?execution_id=${EXECUTION}&resolve_payloads=true`)
    expect(answer.status).toBe(200)
    const text = await answer.text()
    expect(text).not.toContain('zq81')
    const printed = await command([EXECUTION, '--json'])
    expect(rowsOf(text)).toEqual(rowsOf(printed.stdout))
    expect(rowsOf(text).get(1)!.resolution.resolved).toBe(true)
  })
})
