// Promise: every command works over --url alone and says there what it says on the database, or has a reason why not; status
// speaks of exactly the instance that was named.
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { allCommands } from '../../src/cli/commands/index.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { pushDocument } from '../subscriptions/specs.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli, type Ran } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

let database: TestDatabase
let daemon: Daemon
let env: Record<string, string>
let folder: string
/** Words of the command lines below that are known only now. */
const known: Record<string, string> = {}

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-remote-'))
  env = {
    NOETL_DATABASE_URL: database.url,
    NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
    NOETL_CP_CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
    NOETL_SECRET_TEST_HOOK: 'shh',
    NOETL_CP_WORKER: 'false',
    NOETL_CP_LOG_LEVEL: 'warn',
  }
  daemon = await startDaemon([], { env })
  await file('FILE', playbook('tests/handler'))
  await file('HOOK_FILE', pushDocument({ path: 'tests/hook', listener: 'remote' }))
  await file('DATA', '{"token": "s3cret"}')
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

async function file(word: string, text: string): Promise<void> {
  known[word] = join(folder, word)
  await writeFile(known[word], text)
}

const wordsOf = (line: string): string[] => line.split(' ').map((word) => known[word] ?? word)

/** Knows nothing of the machine but an address and a token. */
const over = (args: readonly string[], options: { json?: false; input?: string } = {}): Promise<Ran> =>
  builtCli([...args, '--url', daemon.url, '--token', INTERNAL_TOKEN, ...(options.json === false ? [] : ['--json'])], {
    input: options.input ?? '',
  })

async function remotely(args: readonly string[], input = ''): Promise<any> {
  const ran = await over(args, { input })
  expect(ran, `${args.join(' ')}: ${ran.stderr}`).toMatchObject({ code: 0 })
  return parseJson(ran.stdout)
}

async function here(args: readonly string[]): Promise<any> {
  const ran = await builtCli([...args, '--json'], { env })
  expect(ran, `${args.join(' ')}: ${ran.stderr}`).toMatchObject({ code: 0 })
  return parseJson(ran.stdout)
}

/** Every value of `told` that `whole` has, too, is the same; ids may be a number there and text here. */
function agree(told: any, whole: any, place = ''): void {
  if (typeof told !== 'object' || told === null) {
    if (!VOLATILE.test(place)) expect(String(told), place).toBe(String(whole))
  } else if (Array.isArray(told)) {
    expect(whole, place).toHaveLength(told.length)
    for (const [index, one] of told.entries()) agree(one, whole[index], `${place}/${index}`)
  } else {
    for (const [name, value] of Object.entries(told)) {
      if (whole[name] !== undefined) agree(value, whole[name], `${place}/${name}`)
    }
  }
}

/** What differs between two looks at the same instance. */
const VOLATILE =
  /\/(ms|seconds|silent_seconds|heartbeat|detail|oldest_age_seconds|published_last_minute|threads|waiting)$/

/** In this order, over --url: the line, and a part of what is told. Words in capitals are filled in. */
const DOES: [string, object][] = [
  ['catalog register FILE', { path: 'tests/handler', version: 1, created: true }],
  ['catalog register HOOK_FILE', { path: 'tests/hook', kind: 'subscription' }],
  ['execution start tests/handler', { status: 'started' }],
  ['subscription register tests/hook', { state: 'REGISTERED', changed: true }],
  ['subscription activate HOOK', { state: 'ACTIVE', changed: true, listener: 'remote' }],
  ['subscription pause HOOK --reason tests', { state: 'PAUSED', reason: 'tests' }],
  ['subscription resume HOOK', { state: 'ACTIVE' }],
  ['subscription drain HOOK', { changed: true }],
  ['subscription dead redrive --all', { results: [] }],
  ['credential set api --type bearer --data DATA --tags a,b', { name: 'api', tags: ['a', 'b'] }],
  ['snapshot take ID', { stored: true }],
  ['snapshot rebuild ID', {}],
  ['outbox retry --all --note again', { retried: 0 }],
  ['outbox dead redrive --all --dry-run', { dry_run: true, matched: 0 }],
  ['outbox dead redrive --reason larger', { matched: 0 }],
  ['outbox dead redrive --reason larger --note tests', { matched: 0 }],
]

/** The same over --url and on the database. */
const SAYS = [
  'execution list',
  'execution list --status RUNNING --path tests/* --limit 10',
  'execution show ID',
  'state show ID',
  'state why-stuck ID',
  'replay ID',
  'replay ID --as-of-version 1 --projection execution',
  'catalog list',
  'catalog list --kind subscription --archived',
  'catalog get tests/handler',
  'catalog used-by tests/handler',
  'snapshot list --type all',
  'snapshot show ID',
  'outbox status',
  'outbox list',
  'outbox list --execution ID --limit 1',
  'outbox show ROW',
  'outbox dead list',
  'subscription list',
  'subscription list --state PAUSED',
  'subscription show HOOK',
  'subscription history HOOK',
  'subscription dead list',
  'command list',
  'command list --execution ID --limit 1',
  'command show COMMAND',
  'worker list',
  'credential list',
  'credential show api',
  'credential show api --data',
  'activity --limit 3',
]

/** In this order, after all the others: what ends things. */
const ENDS: [string, object][] = [
  ['command requeue COMMAND', { status: 'PENDING' }],
  ['execution finalize ID --status FAILED --error lost --reason tests', { status: 'FAILED' }],
  ['execution rerun ID', { rerun_of: 'ID' }],
  ['execution resume ID', { resumed_from: 'ID' }],
  ['execution adopt LEFT --reason tests', { status: 'adopted', execution_id: 'LEFT' }],
  ['execution adopt LEFT', { status: 'driven', event_id: null }],
  ['execution cancel OTHER --cascade', { status: 'CANCELLED' }],
  ['subscription deactivate HOOK', { state: 'DEACTIVATED' }],
  ['credential delete api --yes', { deleted: 'api' }],
  ['catalog delete tests/handler --version 1 --yes', { path: 'tests/handler' }],
  ['catalog restore tests/handler', { path: 'tests/handler' }],
]

/** Commands that always work over HTTP, with tests of their own. */
const ELSEWHERE: Record<string, string> = {
  run: 'run/run.e2e.test.ts',
  exec: 'run/run.e2e.test.ts',
  console: 'access/console.e2e.test.ts',
  demo: 'cli/demo.e2e.test.ts',
  complete: 'cli/completion.e2e.test.ts',
  'subscription watch': 'subscriptions/daemon.e2e.test.ts',
  'execution watch': 'run/run.e2e.test.ts',
  'execution logs': 'run/run.e2e.test.ts',
  'execution result': 'cli/remote.test.ts',
  ...Object.fromEntries(
    ['cancel', 'rerun', 'resume', 'finalize', 'list', 'show', 'stop'].map((word) => [
      `bulk ${word}`,
      'console/jobs.e2e.test.ts',
    ]),
  ),
}

const BELOW = ['status', 'doctor', 'config show', 'replay diff', 'events append', 'events tail']

it('is offered by every command, or there is a reason why not', async () => {
  const commands = await allCommands()
  const names = commands.map(({ path }) => path.join(' ')).sort((left, right) => right.length - left.length)
  const nameOf = (line: string) => names.find((name) => line === name || line.startsWith(`${name} `))
  const tried = new Set([...DOES.map(([line]) => line), ...SAYS, ...ENDS.map(([line]) => line)].map(nameOf))
  for (const { path, localBecause } of commands) {
    const name = path.join(' ')
    const isTried = name in ELSEWHERE || BELOW.includes(name) || tried.has(name)
    expect([name, isTried]).toEqual([name, localBecause === undefined])
    if (localBecause !== undefined) expect(localBecause).toMatch(/^it |^what |^[a-z]+ lie in /)
  }
  for (const file of Object.values(ELSEWHERE)) await access(new URL(`../${file}`, import.meta.url))
})

describe('over --url', () => {
  it.each(DOES)('%s', async (line, want) => {
    const told = await remotely(wordsOf(line))
    expect(told).toMatchObject(want)
    if (line.startsWith('execution start')) known['ID'] = told.execution_id
    if (line.startsWith('subscription register')) known['HOOK'] = told.subscription_id
  })
  it('the daemon has on record who did it and why; what chooses rows is no reason', async () => {
    const acts = await remotely(['activity', '--action', 'outbox', '--limit', '4'])
    const by = { actor: expect.stringMatching(/^token-[0-9a-f]{8}$/), via: 'api' }
    expect(acts).toMatchObject([
      { ...by, action: 'outbox.redrive', reason: 'tests' },
      { ...by, action: 'outbox.redrive', reason: null },
      { ...by, action: 'outbox.redrive', reason: null },
      { ...by, action: 'outbox.retry', reason: 'again' },
    ])
  })
  it('finds what the execution made', async () => {
    const items = await until('its command is there', async () => {
      const { commands } = await remotely(['command', 'list', '--execution', known['ID']!])
      return commands.length > 0 ? commands : undefined
    })
    known['COMMAND'] = String(items[0].event_id)
    known['ROW'] = String((await remotely(['outbox', 'list', '--limit', '1'])).rows[0].outbox_id)
  })
  it.each(SAYS)('%s says what it says on the database', async (line) => {
    agree(await remotely(wordsOf(line)), await here(wordsOf(line)))
    // And a table for people.
    expect(await over(wordsOf(line), { json: false })).toMatchObject({ code: 0 })
  })
  it('replay prints the bytes that the daemon made', async () => {
    const { text } = await daemon.get(`/api/replay/state?execution_id=${known['ID']}`)
    expect((await over(wordsOf('replay ID'))).stdout).toBe(`${text}\n`)
  })
  it('replay diff: exit code 5, as on the database', async () => {
    const args = wordsOf('replay diff ID --from version:1')
    const [there, local] = [await over(args), await builtCli([...args, '--json'], { env })]
    expect([there.code, local.code]).toEqual([5, 5])
    agree(parseJson(there.stdout), parseJson(local.stdout))
  })
  it('events append and tail: refused lines are named, repeated ones told apart', async () => {
    const later = String(BigInt(known['ID']!) + 2n ** 40n)
    const event = { execution_id: known['ID'], event_type: 'note', event_id: later, step: 'a' }
    const lines = [event, event, { execution_id: '1', event_type: 'note' }]
    const ran = await over(['events', 'append'], { input: lines.map((one) => JSON.stringify(one)).join('\n') })
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('1 stored, 1 there already, 1 refused') })
    const told = (await over(wordsOf('events tail ID --limit 2'))).stdout.trim().split('\n')
    const local = (await builtCli([...wordsOf('events tail ID --limit 2'), '--json'], { env })).stdout
      .trim()
      .split('\n')
    expect(told).toHaveLength(2)
    agree(
      told.map((line) => parseJson(line)),
      local.map((line) => parseJson(line)),
    )
    expect(told.at(-1)).toContain(later)
  })
  it('doctor finds what it finds on the database', async () => {
    const [there, local] = [await over(['doctor']), await builtCli(['doctor', '--json'], { env })]
    expect(there.code).toBe(local.code)
    const where = (ran: Ran) =>
      (parseJson(ran.stdout) as any).findings.map(({ finding }: { finding: string }) => finding)
    expect(where(there)).toEqual(expect.arrayContaining(where(local).filter((text: string) => /fsync/.test(text))))
  })
  it('config show tells the settings of the daemon, secrets masked', async () => {
    expect(await remotely(['config', 'show'])).toMatchObject({
      internalToken: { value: '********', source: 'env', from: 'NOETL_INTERNAL_API_TOKEN' },
      logLevel: { value: 'warn' },
    })
  })
  it('does what ends things', async () => {
    known['OTHER'] = (await remotely(['execution', 'start', 'tests/handler'])).execution_id
    for (const name of ['LEFT', 'BEHIND']) {
      // Started while there was no engine.
      const ran = await builtCli(['execution', 'start', 'tests/handler', '--json'], {
        env: { ...env, NOETL_CP_ENGINE: 'false' },
      })
      known[name] = (parseJson(ran.stdout) as any).execution_id
    }
  })
  it.each(ENDS)('%s', async (line, want) => {
    const wanted = Object.fromEntries(Object.entries(want).map(([name, value]) => [name, known[value] ?? value]))
    expect(await remotely(wordsOf(line))).toMatchObject(wanted)
  })
  it('what was adopted is driven by the daemon, whether over --url or on the database', async () => {
    expect(await here(wordsOf('execution adopt BEHIND'))).toMatchObject({
      status: 'adopted',
      event_id: expect.any(String),
    })
    for (const id of [known['LEFT']!, known['BEHIND']!]) {
      await until('its first command is issued', async () => {
        const { commands } = await remotely(['command', 'list', '--execution', id])
        return commands.length === 1
      })
    }
  })
  it('an unknown id is exit code 3, a bad token 4, as ever', async () => {
    for (const line of [
      'execution show 1',
      'outbox show 99999',
      'command show 1',
      'catalog get tests/nowhere',
      'replay 1',
    ])
      expect([line, (await over(line.split(' '))).code]).toEqual([line, 3])
    const ran = await builtCli(['outbox', 'list', '--url', daemon.url, '--token', 'not-the-token-of-the-tests'])
    expect(ran).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/a token that may is given with the option --token\s*$/),
    })
  })
})

describe('status', () => {
  let other: TestDatabase
  beforeAll(async () => {
    other = await cloneDatabase(inject('servers'))
    // Every clone has the name of the template.
    await other.sql('update noetl.cp_identity set cluster_id = gen_random_uuid()')
  })
  afterAll(() => other?.drop())
  const status = async (args: string[], given: Record<string, string> = {}): Promise<any> => {
    const { stdout, stderr, code } = await builtCli(['status', ...args, '--json'], { env: given })
    expect([code, stderr], stdout).toEqual([expect.any(Number), ''])
    return { code, ...(parseJson(stdout) as object) }
  }
  const [host, port] = [() => new URL(daemon.url).hostname, () => new URL(daemon.url).port]

  it.each([
    ['--url', () => ['--url', daemon.url, '--token', INTERNAL_TOKEN]],
    ['--host and --port', () => ['--host', host(), '--port', port(), '--token', INTERNAL_TOKEN]],
  ])('with %s speaks of that daemon, and knows no database', async (_, args) => {
    const [there, local] = [await status(args()), await status(['--port', port()], env)]
    expect(there).toMatchObject({ code: 0, daemon: { url: daemon.url, ready: true, mode: 'production' } })
    expect(there.executions).toEqual(local.executions)
    expect(there.schema).toEqual(local.schema)
    expect(there.shards).toMatchObject({ index: 0, count: 1 })
    expect(Object.keys(there.checks)).toEqual(Object.keys(local.checks))
    // Of the daemon, not those that run steps.
    const { stdout } = await builtCli(['status', ...args()])
    expect(stdout).toMatch(/threads +(none yet; they begin with|\d+ for replays and documents)/)
  })
  it('where nobody answers says so, whatever runs elsewhere', async () => {
    expect(await status(['--port', '1'])).toMatchObject({
      code: 69,
      daemon: { url: 'http://127.0.0.1:1', ready: false },
      checks: {},
    })
  })
  it('of another database does not take this daemon for its own', async () => {
    const told = await status(['--database-url', other.url, '--port', port()])
    expect(told).toMatchObject({
      code: 69,
      daemon: { ready: false, error: expect.stringContaining('another database') },
    })
    expect(told).toMatchObject({ executions: {}, checks: {}, backlog: { outbox: {} } })
  })
})
