// Promise: standard output is data and standard error the rest; exit codes are the documented ones; a typing
// mistake gets a hint; every help page ends with examples; nothing a user sees contains a secret.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { allCommands } from '../../src/cli/commands/index.js'
import { EXIT, EXIT_OF } from '../../src/cli/exit.js'
import { KEYS, type Setting } from '../../src/config/keys.js'
import { KEY_NAMES } from '../../src/config/load.js'
import { ERROR_CODES } from '../../src/errors.js'
import { STATUS_OF } from '../../src/http/errors.js'
import { cli } from '../support/cli.js'

const COMMANDS = await allCommands()

const folder = mkdtempSync(join(tmpdir(), 'noetl-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))
const nobody = { NOETL_CP_DATA_DIR: folder }
const names = COMMANDS.map((spec) => [spec.path.join(' '), spec] as const)
const ESCAPE = '\u001b['

describe('exit codes', () => {
  it.each([
    [[], 2],
    [['--help'], 0],
    [['--version'], 0],
    [['help', 'status'], 0],
    [['help', 'nonsense'], 2],
    [['help', 'outbox', 'nonsense'], 2],
    [['version'], 0],
    [['nonsense'], 2],
    [['version', '--nonsense'], 2],
    [['version', 'too', 'many'], 2],
    [['config'], 2],
    [['completion'], 2],
    [['completion', 'tcsh'], 2],
    [['status', '--port'], 2],
  ])('%j → %i', async (args, code) => {
    expect((await cli(args as string[])).code).toBe(code)
  })
  it('78 for a bad configuration, with every problem', async () => {
    const ran = await cli(['config', 'show'], { env: { NOETL_PORT: 'x', NOETL_AUTO_MIGRATE: 'y' } })
    expect(ran.code).toBe(78)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toMatch(/^noetl-cp: bad configuration:\n {2}- .*NOETL_\w+/)
    expect(ran.stderr).toContain('NOETL_PORT')
    expect(ran.stderr).toContain('NOETL_AUTO_MIGRATE')
  })
  it('78 for a NATS address without a database', async () => {
    const ran = await cli(['status'], { env: { NOETL_NATS_URL: 'nats://x' } })
    expect(ran).toMatchObject({ code: 78, stderr: expect.stringContaining('NOETL_DATABASE_URL') })
  })
  it.each(['status', 'doctor', 'migrate'])('69 for %s when nothing is running, with what to do', async (command) => {
    const ran = await cli([command], { env: nobody })
    expect(ran.code).toBe(69)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toContain(`no daemon is running in ${folder}`)
    expect(ran.stderr).toContain('noetl-cp serve')
    expect(ran.stderr).toContain('--data-dir')
    expect(ran.stderr).toContain('NOETL_DATABASE_URL')
  })
  it('69 when the configured database cannot be reached, without its password', async () => {
    const ran = await cli(['migrate'], { env: { NOETL_DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' } })
    expect(ran.code).toBe(69)
    expect(ran.stderr).toContain('127.0.0.1:1/x')
    expect(ran.stderr).not.toContain('hunter2')
  })
  it('and HTTP statuses exist for every error code', () => {
    expect(Object.keys(EXIT_OF).sort()).toEqual([...ERROR_CODES].sort())
    expect(Object.keys(STATUS_OF).sort()).toEqual([...ERROR_CODES].sort())
    expect(EXIT).toMatchObject({
      ok: 0,
      failed: 1,
      usage: 2,
      notFound: 3,
      refused: 4,
      difference: 5,
      unavailable: 69,
      workRemains: 75,
      badConfig: 78,
    })
  })
})

describe('typing mistakes', () => {
  it('in a subcommand get a hint', async () => {
    const ran = await cli(['stauts'])
    expect(ran.stderr).toMatch(/unknown command 'stauts'[\s\S]*Did you mean status\?/)
  })
  it('in an option, too', async () => {
    expect((await cli(['status', '--jsno'])).stderr).toMatch(/Did you mean --json\?/)
  })
  it('in a variable of ours are a warning, and quiet with --quiet', async () => {
    const env = { NOETL_CP_LOG_LEVLE: 'info' }
    const ran = await cli(['config', 'show'], { env })
    expect(ran).toMatchObject({
      code: 0,
      stderr: 'warning: unknown setting NOETL_CP_LOG_LEVLE; did you mean NOETL_CP_LOG_LEVEL?\n',
    })
    expect((await cli(['config', 'show', '--quiet'], { env })).stderr).toBe('')
  })
})

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

describe('help', () => {
  it('of the program lists every command and the exit codes', async () => {
    const { stdout } = await cli(['--help'])
    for (const spec of COMMANDS) expect(stdout).toContain(spec.path[0])
    for (const code of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`\\b${code} `))
  })
  it.each(names)('of %s ends with examples that call it', async (name, spec) => {
    const ran = await cli([...spec.path, '--help'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain(`Usage: noetl-cp ${name}`)
    const examples = ran.stdout.slice(ran.stdout.lastIndexOf('\nExamples:\n')).trim().split('\n').slice(1)
    const calls = examples.filter((line) => !line.startsWith('  # '))
    expect(calls).toHaveLength(spec.examples.length)
    for (const line of calls) expect(line).toMatch(new RegExp(`^ {2}noetl-cp ${spec.path[0]}\\b`))
    // What is said about a call is a comment, so that the whole line can be pasted.
    for (const [call, what] of spec.examples) {
      expect(ran.stdout).toMatch(
        new RegExp(
          `# ${escaped(what)}\n {2}noetl-cp ${escaped(call)}$|noetl-cp ${escaped(call)} +# ${escaped(what)}$`,
          'm',
        ),
      )
    }
  })
  it.each(names)('of %s is the same by its name in words', async (_, spec) => {
    expect((await cli(['help', ...spec.path])).stdout).toBe((await cli([...spec.path, '--help'])).stdout)
  })
  it.each(names)('of %s fits a narrow terminal and offers --json', async (_, spec) => {
    const { stdout } = await cli([...spec.path, '--help'], { columns: 80, env: { NO_COLOR: '1' } })
    expect(stdout).toContain('--json')
    const options = stdout.slice(stdout.indexOf('Options:'), stdout.lastIndexOf('\nExamples:\n'))
    for (const line of options.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  })
})

describe('--json', () => {
  it.each([[['version']], [['config', 'show']], [['completion', 'bash']]])(
    '%j prints one document and nothing else',
    async (args) => {
      const ran = await cli([...args, '--json'])
      expect(ran).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(ran.stdout)).toBeTypeOf('object')
    },
  )
  it('reports failures as a document on standard error', async () => {
    const ran = await cli(['status', '--json'], { env: nobody })
    expect(ran.stdout).toBe('')
    expect(JSON.parse(ran.stderr)).toEqual({
      error: expect.stringContaining('no daemon is running'),
      code: 'unavailable',
    })
  })
})

describe('config show', () => {
  const secrets = Object.fromEntries(
    KEY_NAMES.filter((key) => KEYS[key].secret && key !== 'natsToken').map((key) => {
      const { env } = KEYS[key]
      if (key === 'databaseUrl') return [env, 'postgres://user:hunter2@host/db']
      if (key === 'natsUrl') return [env, 'nats://hunter2@host']
      return [env, key === 'shards' ? 'host=a;user=b;password=hunter2,postgres://u:hunter2@h/d' : 'hunter2'.repeat(5)]
    }),
  )
  it('names every setting with value and origin, and no secret', async () => {
    for (const args of [
      ['config', 'show'],
      ['config', 'show', '--json'],
    ]) {
      const ran = await cli([...args, '--port', '9999'], { env: { ...secrets, NOETL_HOST: 'localhost' } })
      expect(ran.code).toBe(0)
      expect(ran.stdout + ran.stderr).not.toContain('hunter2')
      for (const key of KEY_NAMES) expect(ran.stdout).toContain(key)
    }
    const ran = await cli(['config', 'show', '--json', '--port', '9999'], {
      env: { ...secrets, NOETL_HOST: 'localhost' },
    })
    expect(JSON.parse(ran.stdout)).toMatchObject({
      httpPort: { value: '9999', source: 'flag', from: '--port', env: 'NOETL_PORT' },
      httpHost: { value: 'localhost', source: 'env', from: 'NOETL_HOST' },
      apiToken: { value: '********', source: 'env' },
      databaseUrl: { value: 'postgres://user:[REDACTED]@host/db' },
      tlsCert: { value: null, source: 'default' },
    })
  })
  it('every setting with a flag is a flag of every command', async () => {
    const { stdout } = await cli(['status', '--help'])
    for (const key of KEY_NAMES) {
      const { flag }: Setting<unknown> = KEYS[key]
      if (flag !== undefined) expect(stdout).toContain(`--${flag}`)
    }
  })
})

describe('colour', () => {
  const coloured = async (env: Record<string, string>, columns?: number) =>
    (await cli(['config', 'show'], { env, ...(columns === undefined ? {} : { columns }) })).stdout.includes(ESCAPE)
  it('is for terminals, and off with NO_COLOR or a dumb terminal', async () => {
    expect(await coloured({}, 120)).toBe(true)
    expect(await coloured({})).toBe(false)
    expect(await coloured({ NO_COLOR: '1' }, 120)).toBe(false)
    expect(await coloured({ TERM: 'dumb' }, 120)).toBe(false)
    expect(await coloured({ FORCE_COLOR: '1' })).toBe(true)
    expect(await coloured({ FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false)
  })
})
