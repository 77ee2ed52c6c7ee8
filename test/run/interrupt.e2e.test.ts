// Promise: on a terminal one Ctrl-C cancels the execution that `run` watches, a second one leaves at once; both end with 130.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BINARY, type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const CTRL_C = '\x03'
const ENDLESS = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: endless, path: run/endless}
workflow:
  - step: wait
    tool: {kind: http, url: "{{ workload.url }}", timeout: 600}
`

const database = useDatabase()
let folder: string
let daemon: Daemon
let silent: Server
let asked = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-interrupt-'))
  await writeFile(join(folder, 'endless.yaml'), ENDLESS)
  silent = createServer(() => {
    asked += 1
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
})
afterAll(async () => {
  await daemon?.stop('SIGKILL')
  silent.closeAllConnections()
  silent.close()
  await rm(folder, { recursive: true, force: true })
})

/** `script` gives it a terminal of its own and types what it is told. */
function runOnTerminal() {
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
  const port = new URL(daemon.url).port
  const line = `'${process.execPath}' '${BINARY}' run '${join(folder, 'endless.yaml')}' --set url=${url} --port ${port}`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      TERM: 'xterm',
      NO_COLOR: '1',
      NOETL_DATABASE_URL: database.get().url,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
  })
  return {
    type: (text: string) => child.stdin.write(text),
    says: (text: string) => until(`it says ${text}`, () => shown.includes(text), { timeoutMs: 60_000 }),
    ended: new Promise<number | null>((resolve) => child.on('close', resolve)),
  }
}

const statuses = async () =>
  (await database.get().sql('select status from noetl.execution order by execution_id')).map((row) => row['status'])

it('one cancels', async () => {
  const run = runOnTerminal()
  await until('the step is under way', () => asked === 1, { timeoutMs: 60_000 })
  run.type(CTRL_C)
  await run.says('press Ctrl-C again to leave at once')
  await run.says('CANCELLED in ')
  expect(await run.ended).toBe(130)
  expect(await statuses()).toEqual(['CANCELLED'])
})

it('two leave at once, also when nobody answers', async () => {
  const run = runOnTerminal()
  await until('the step is under way', () => asked === 2, { timeoutMs: 60_000 })
  daemon.signal('SIGSTOP')
  try {
    run.type(CTRL_C)
    await run.says('press Ctrl-C again to leave at once')
    run.type(CTRL_C)
    expect(await run.ended).toBe(130)
    await run.says('left; the execution goes on')
  } finally {
    daemon.signal('SIGCONT')
  }
})
