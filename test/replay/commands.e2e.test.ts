// Promise: the replay commands print the exact document, the right exit codes, and need a server only where they
// say so; the same log gives the same bytes from the database, from an export, in any time zone and language.
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/domain/json/canonical.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { runBinary } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { plantLog } from './replayHarness.js'
import { readVectors } from './replayVectors.js'

const database = useDatabase()
const vector = readVectors('replay').find(({ name }) => name === 'cutoff-event-id')!
const rows = (vector.input['log'] as JsonObject[]).filter((row) => (row['tenant_id'] ?? 'default') === 'default')
const LONG_EVENTS = 100_000
let folder: string
let file: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-replay-'))
  file = join(folder, 'events.ndjson')
  await writeFile(file, `${rows.map((row) => writeJson(row)).join('\n')}\n`)
  await plantLog(database.get(), rows)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const offline = (...args: string[]) => builtCli(args)
const online = (...args: string[]) => builtCli(args, { env: { NOETL_DATABASE_URL: database.get().url } })

describe('replay --file', () => {
  it('prints the state document of the vector, byte for byte by its checksum, without any server', async () => {
    const ran = await offline('replay', '--file', file, '--json', '--profile', 'python', '--as-of-event', '130')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const state = parseJson(ran.stdout) as JsonObject
    expect(state['checksum']).toBe((vector.expect['state'] as JsonObject)['checksum'])
    expect(canonicalJson(state)).toBe(canonicalJson(vector.expect['state']!))
  })

  it('takes JSON lists, standard input, any order and repetition', async () => {
    const expected = (await offline('replay', '--file', file, '--json')).stdout
    const list = join(folder, 'events.json')
    await writeFile(list, JSON.stringify([...rows].reverse().concat(rows.slice(3, 7)), null, 2))
    expect((await offline('replay', '--file', list, '--json')).stdout).toBe(expected)
    const wrapped = `{"execution_id": 9001, "events": ${writeJson(rows.map(({ execution_id: _id, ...row }) => row as JsonObject))}}`
    const piped = await builtCli(['replay', '--file', '-', '--json'], { input: wrapped })
    expect(piped.stdout).toBe(expected)
  })

  it('folds an export that is many times larger than its memory, lines or list', async () => {
    const lines = join(folder, 'long.ndjson')
    const list = join(folder, 'long.json')
    await writeFile(list, '[')
    const padding = 'x'.repeat(300)
    for (let start = 1; start <= LONG_EVENTS; start += 20_000) {
      const events = Array.from({ length: 20_000 }, (_, index) => {
        const n = start + index
        const type = ['command.issued', 'command.started', 'command.completed'][n % 3]
        return `{"event_id":${n},"execution_id":77,"event_type":"${type}","command_id":${n % 50},"node_name":"s${n % 5}","meta":{"n":${n},"text":"${padding}"}}`
      })
      await appendFile(lines, `${events.join('\n')}\n`)
      await appendFile(list, `${start === 1 ? '' : ','}${events.join(',\n')}`)
    }
    await appendFile(list, ']')
    const env = { NODE_OPTIONS: '--max-old-space-size=64' }
    const ran = await Promise.all(
      [lines, list].map((path) => runBinary(['replay', '--file', path, '--json'], { env, timeoutMs: 100_000 })),
    )
    expect(ran.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ])
    expect(parseJson(ran[0]!.stdout)).toMatchObject({ event_count: LONG_EVENTS, last_event_id: LONG_EVENTS })
    expect(ran[1]!.stdout).toBe(ran[0]!.stdout)
  })

  it('gives the same bytes in every time zone and language', async () => {
    const places = [
      { TZ: 'UTC', LANG: 'C' },
      { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
      { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
    ]
    const ran = await Promise.all(
      places.map((env) =>
        runBinary(['replay', '--file', file, '--json', '--as-of-time', '2026-03-01T00:01:10'], { env }),
      ),
    )
    expect(new Set(ran.map(({ stdout }) => stdout)).size).toBe(1)
    expect(parseJson(ran[0]!.stdout)).toMatchObject({ event_count: 8 })
  })

  it('says what is wrong, with the line or the option', async () => {
    const bad = join(folder, 'bad.ndjson')
    await writeFile(bad, `${writeJson(rows[0]!)}\n{"event_id": 1,\n`)
    const cases: [string[], RegExp][] = [
      [['replay', '--file', bad], /line 2 of .*bad\.ndjson is not valid JSON/],
      [['replay', '--file', join(folder, 'none')], /there is no file/],
      [
        ['replay', '--file', file, '--as-of-event', '1', '--as-of-time', '2026-03-01T00:00:00Z'],
        /only one replay cutoff/,
      ],
      [['replay', '--file', file, '--projection', 'everything'], /unknown projection/],
      [['replay', '--file', file, '--verify'], /needs the database/],
      [['replay'], /name an execution/],
    ]
    for (const [args, message] of cases) {
      const ran = await offline(...args)
      expect(ran.code, args.join(' ')).toBe(2)
      expect(ran.stderr).toMatch(message)
      expect(ran.stdout).toBe('')
    }
  })

  it('says on standard error that a limited answer is partial', async () => {
    const ran = await offline('replay', '--file', file, '--json', '--limit', '3')
    expect(ran.stderr).toContain('partial: stopped after 3 events; the next one is 115')
    expect(parseJson(ran.stdout)).toMatchObject({ truncated: true, next_event_id: 115, event_count: 3 })
  })
})

describe('replay from the database', () => {
  it('prints the same bytes as from an export', async () => {
    const direct = await online('replay', '9001', '--json')
    expect(direct).toMatchObject({ code: 0, stderr: '' })
    const exported = join(folder, 'exported.ndjson')
    const ran = await online('events', 'export', '9001')
    expect(ran.code).toBe(0)
    await writeFile(exported, ran.stdout)
    expect((await offline('replay', '--file', exported, '--json')).stdout).toBe(direct.stdout)
    expect((await offline('replay', '--file', file, '--json')).stdout).toBe(direct.stdout)
  })

  it('shows people status, steps, commands and bars', async () => {
    const ran = await online('replay', '9001')
    expect(ran.code).toBe(0)
    expect(ran.stdout).toMatch(/status +COMPLETED/)
    expect(ran.stdout).toMatch(/fetch .*█/)
    expect(ran.stdout).toMatch(/Commands: 2 COMPLETED/)
  })

  it('tells an unknown execution from an empty one', async () => {
    expect(await online('replay', '424242')).toMatchObject({ code: 3, stdout: '' })
    expect((await online('replay', 'abc')).code).toBe(2)
  })

  it('takes a snapshot, starts from it, verifies, and finds a difference', async () => {
    expect((await online('snapshot', 'take', '9001')).code).toBe(0)
    const [full, seeded] = [
      await online('replay', '9001', '--json'),
      await online('replay', '9001', '--json', '--from-snapshot'),
    ]
    expect(seeded.stdout).toBe(full.stdout)
    expect(await online('replay', '9001', '--verify')).toMatchObject({ code: 0 })
    expect((await online('replay', 'verify', '--all', '--json')).code).toBe(0)
    await database.get().sql(`update noetl.execution set status = 'FAILED' where execution_id = 9001`)
    expect((await online('replay', '9001', '--verify')).code).toBe(5)
    const all = await online('replay', 'verify', '--all', '--json')
    expect(all.code).toBe(5)
    expect(parseJson(all.stdout)).toMatchObject({ different: 1, troubled: [{ execution_id: '9001' }] })
  })

  it('compares moments: 0 when nothing differs, 5 when something does', async () => {
    expect((await online('replay', 'diff', '9001', '--from', 'now', '--to', 'now')).code).toBe(0)
    const ran = await online('replay', 'diff', '9001', '--from', 'event:130', '--json')
    expect(ran.code).toBe(5)
    expect((parseJson(ran.stdout) as JsonObject)['differences']).toContainEqual({
      pointer: '/execution/status',
      kind: 'changed',
      from: 'RUNNING',
      to: 'COMPLETED',
    })
    expect((await online('replay', 'diff', '9001', '--from', 'yesterday')).code).toBe(2)
  })

  it('walks event by event when nobody can press keys', async () => {
    const ran = await online('replay', 'step', '9001', '--json')
    const steps = ran.stdout
      .trim()
      .split('\n')
      .map((line) => parseJson(line) as JsonObject)
    expect(steps.map((step) => step['index'])).toEqual(rows.map((_, index) => index + 1))
    expect(steps.at(-1)).toMatchObject({ status: 'COMPLETED', of: rows.length })
    const whole = parseJson((await online('replay', '9001', '--json')).stdout) as JsonObject
    expect(steps.at(-1)!['checksum']).toBe(whole['checksum'])
  })
})
