// Promise: events, reasons and documents of strangers are shown by every command as text: on a terminal and in a pipe no
// control character comes out but line breaks, and no line begins with what a stranger wrote.
import { beforeAll, expect, it } from 'vitest'
import { builtCli, cli } from '../support/cli.js'
import { useCommands } from './useCommands.js'

const HOSTILE = 'x\x1b[2J\x1b]0;t\x07\r\nFAKE\u009b31m\u202e'

const commands = useCommands()
let id = ''
beforeAll(async () => {
  id = await commands.start()
  const events = ['step.enter', 'command.issued', 'command.failed'].map((eventType) => ({
    execution_id: id,
    event_type: eventType,
    node_name: HOSTILE,
    worker_id: HOSTILE,
    status: 'FAILED',
    error: HOSTILE,
    payload: { command_id: HOSTILE, stage_id: HOSTILE, [HOSTILE]: HOSTILE },
    meta: { [HOSTILE]: HOSTILE },
  }))
  const written = await commands.run(['events', 'append', '-'], events.map((event) => JSON.stringify(event)).join('\n'))
  expect(written).toMatchObject({ code: 0 })
  const cancelled = await commands.run(['execution', 'cancel', id, '--reason', HOSTILE])
  expect(cancelled).toMatchObject({ code: 0 })
})

const SHOWING: string[][] = [
  ['execution', 'show', '$id'],
  ['execution', 'list'],
  ['events', 'tail', '$id'],
  ['events', 'export', '$id'],
  ['outbox', 'list'],
  ['catalog', 'list'],
  ['catalog', 'get', 'demo/hello'],
]
/** Run in threads, which only the build has. */
const THREADED: string[][] = [
  ['replay', '$id'],
  ['replay', 'step', '$id'],
  ['state', 'show', '$id'],
]
const withId = (args: readonly string[]) => args.map((arg) => (arg === '$id' ? id : arg))

function expectText(shown: string, mayHold: readonly string[] = []): void {
  const controls = new Set(shown.match(/[\p{Cc}\u202e]/gu) ?? [])
  for (const raw of mayHold) controls.delete(raw)
  expect([...controls]).toEqual(['\n'])
  expect(shown).not.toMatch(/^FAKE/m)
}

it.each(SHOWING.map((args) => [args.join(' '), args] as const))('noetl-cp %s', async (name, args) => {
  for (const columns of [undefined, 400]) {
    const env = { ...commands.env(), NO_COLOR: '1' }
    const { code, stdout, stderr } = await cli(withId(args), { env, ...(columns === undefined ? {} : { columns }) })
    expect(code).toBe(0)
    // A pipe gets exported events byte for byte; JSON itself escapes what is below U+0020.
    expectText(stdout + stderr, columns === undefined && name.startsWith('events export') ? ['\u009b', '\u202e'] : [])
  }
})

it.each(THREADED.map((args) => [args.join(' '), args] as const))('noetl-cp %s', async (_, args) => {
  const { code, stdout, stderr } = await builtCli(withId(args), { env: commands.env() })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expectText(stdout + stderr)
})
