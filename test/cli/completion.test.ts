// Promise: a shell is offered what could stand in place of the word being typed: commands, options and values with what they
// are; where that is a file, or nothing is known, the shell completes by itself.
import { describe, expect, it } from 'vitest'
import { allCommands } from '../../src/cli/commands/index.js'
import { cli } from '../support/cli.js'

const nobody = { NOETL_CP_DATA_DIR: '/nowhere' }

async function complete(...words: string[]): Promise<{ files: boolean; words: string[] }> {
  const { code, stdout } = await cli(['complete', '--json', '--', ...words], { env: nobody })
  expect(code).toBe(0)
  const { files, words: found } = JSON.parse(stdout)
  return { files, words: found.map(({ word }: { word: string }) => word) }
}

it.each([
  [['statu'], ['status']],
  [['--json', 'ver'], []],
  [
    ['config', ''],
    ['show', 'check', 'init', 'schema'],
  ],
  [['help', 'outbox', 'de'], ['dead']],
  [
    ['outbox', 'dead', ''],
    ['list', 'redrive', 'drop'],
  ],
  [['migrate', '--dry'], ['--dry-run']],
  [['status', '--json', '--wa'], ['--watch']],
  [
    ['execution', 'list', '--status', ''],
    ['UNKNOWN', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'],
  ],
  [['execution', 'list', '--status', '=', 'FA'], ['FAILED']],
  [['execution', 'list', '--status=FA'], ['--status=FAILED']],
  [['execution', 'list', '--limit', '5', '--status', 'RU'], ['RUNNING']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [
    ['subscription', 'list', '--kind', 'pu'],
    ['pull', 'push'],
  ],
  [['serve', '--log-level', 'wa'], ['warn']],
  [['nonsense', ''], []],
])('%j is offered %j', async (words, offered) => {
  expect(await complete(...words)).toEqual({ files: false, words: offered })
})

it.each([
  [['run', '']],
  [['run', 'hello']],
  [['events', 'import', '']],
  [['events', 'export', '1', '--output', '']],
  [['execution', 'list', '--config', '']],
  [['serve', '--data-dir', '']],
  // Nobody answers who would know.
  [['execution', 'show', '']],
])('%j is left to the shell', async (words) => {
  expect(await complete(...words)).toEqual({ files: true, words: [] })
})

it('every command is offered word by word, with its summary, and all of its options', async () => {
  for (const { path, summary, options = [] } of await allCommands()) {
    const { stdout } = await cli(['complete', '--', ...path], { env: nobody })
    const word = path[path.length - 1]!
    expect(stdout.split('\n')[0]).toBe('words')
    expect(stdout).toContain(`\n${word} `)
    if (path.length > 1) expect(stdout).toContain(`${word} ${summary}`)
    const { words } = await complete(...path, '--')
    for (const { flags } of options) expect(words).toContain(/--[\w-]+/.exec(flags)![0])
    expect(words).toContain('--json')
    expect(new Set(words).size).toBe(words.length)
  }
})

describe('scripts', () => {
  it('an unknown shell is a usage error', async () => {
    expect((await cli(['completion', 'tcsh'])).code).toBe(2)
  })
  it('the fish script closes every quote', async () => {
    const { stdout } = await cli(['completion', 'fish'])
    for (const line of stdout.split('\n')) expect((line.match(/'/g) ?? []).length % 2, line).toBe(0)
  })
})
