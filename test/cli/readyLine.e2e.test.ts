// Promise: programs that start the daemon learn from one line of JSON where it listens, and a port that cannot be had is a
// sentence with a way out.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, inject, it } from 'vitest'
import { BINARY, runBinary } from '../support/binary.js'
import { cloneDatabase } from '../support/database.js'

it('serve --json says where it is ready, and nothing else on standard output', async () => {
  const database = await cloneDatabase(inject('servers'))
  const env = { PATH: process.env['PATH'], NOETL_DATABASE_URL: database.url }
  const child = spawn(process.execPath, [BINARY, 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const lines: string[] = []
    const reader = createInterface(child.stdout).on('line', (line) => lines.push(line))
    await once(reader, 'line')
    const ready = JSON.parse(lines[0]!)
    expect(ready).toMatchObject({ status: 'ready', host: '127.0.0.1', pid: child.pid, version: expect.any(String) })
    expect(ready.port).toBeGreaterThan(0)
    expect((await fetch(new URL('/livez', ready.url))).status).toBe(200)
    child.kill('SIGTERM')
    await once(child, 'close')
    expect(lines).toHaveLength(1)
  } finally {
    child.kill('SIGKILL')
    await database.drop()
  }
})

it('a port in use is refused at once with a hint', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const env = { NOETL_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const ran = await runBinary(['serve', '--port', String(port)], { env })
  taken.close()
  expect(ran.code).toBe(4)
  expect(ran.stderr).toContain(`port ${port} of 127.0.0.1 is taken`)
  expect(ran.stderr).toContain('--port')
})
