// Promise: a command that takes more than a second says on a terminal what it is doing, and takes the line back; a pipe, --json
// and --quiet see nothing of it.
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cli } from '../support/cli.js'

/** A database that takes connections and never answers. */
let silent: Server
let env: Record<string, string>
beforeAll(async () => {
  silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  env = { NOETL_DATABASE_URL: `postgres://me:x@127.0.0.1:${port}/noetl`, NOETL_CP_PG_CONNECT_TIMEOUT: '2.2' }
})
afterAll(() => silent.close())

const ask = (flags: string[], columns?: number) =>
  cli(['execution', 'list', ...flags], { env, ...(columns === undefined ? {} : { columns }) })

it.concurrent('on a terminal', async () => {
  const { code, stderr } = await ask([], 80)
  expect(code).toBe(69)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what clears the rest of the line
  expect(stderr).toMatch(/\rreading executions, [1-9]\d* s \x1b\[K/)
  expect(stderr).not.toContain(', 0 s')
  expect(stderr.split('\r').at(-1)?.startsWith('\x1b[K')).toBe(true)
})

it.concurrent.each([
  ['a pipe', [], undefined],
  ['--json', ['--json'], 80],
  ['--quiet', ['--quiet'], 80],
] as const)('nothing of it with %s', async (_, flags, columns) => {
  const { code, stderr } = await ask([...flags], columns)
  expect(code).toBe(69)
  expect(stderr).not.toContain('\r')
})
