// Promise: the built-in worker runs the commands of playbooks in the daemon or alone: data flows from step to step, failures say
// why, a cancelled step ends with everything it has started and gives its slot back, and a worker that is told to stop gives
// back what it holds.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BINARY, type Daemon, startDaemon } from '../support/binary.js'
import { builtCli, type Ran } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { processesMentioning } from '../support/processes.js'
import { until } from '../support/until.js'

const database = useDatabase()
const TOKEN = 'a-token-of-the-test'
let daemon: Daemon
let folder: string
let server: Server
let url: string
let answers = 0
/** Requests that were left without an answer. */
const held = new Set<string>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-worker-'))
  server = createServer((request, response) => {
    answers += 1
    if (request.url === '/hangs') return
    if (request.url === '/once' && !held.has('/once')) {
      held.add('/once')
      return
    }
    response.writeHead(request.url === '/flaky' && answers % 2 === 1 ? 503 : 200, {
      'content-type': 'application/json',
    })
    response.end(JSON.stringify({ rows: [1, 2, 3] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  daemon = await startDaemon([], { env: env({ NOETL_CP_WORKER_ALLOW: 'python,shell', NOETL_CP_WORKER_SLOTS: '2' }) })
})
afterAll(async () => {
  await daemon?.stop()
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

function env(more: Record<string, string> = {}): Record<string, string> {
  const secrets = { NOETL_API_TOKEN: TOKEN, NOETL_CP_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
  return { NOETL_DATABASE_URL: database.get().url, ...secrets, ...more }
}

async function run(workflow: string, ...args: string[]): Promise<Ran> {
  const file = join(folder, `playbook-${Math.random().toString(36).slice(2)}.yaml`)
  await writeFile(
    file,
    `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: worker, path: worker/test}\nworkflow:\n${workflow}`,
  )
  return builtCli(['run', file, '--port', new URL(daemon.url).port, '--set', `url=${url}`, ...args], { env: env() })
}

const statusOf = async (id: string): Promise<string> => {
  const [row] = await database
    .get()
    .sql<{ status: string }>('select status from noetl.execution where execution_id = $1::bigint', [id])
  return row!.status
}

function startWorker(pool: string) {
  const child = spawn(process.execPath, [BINARY, 'worker', '--worker-pools', pool, '--worker-allow', 'shell,python'], {
    env: { ...process.env, ...env({ NOETL_CP_SHUTDOWN_TIMEOUT: '4' }) },
    stdio: 'pipe',
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, ended, ready: () => until('the worker is ready', () => said.includes(`takes commands of ${pool}`)) }
}

describe('tools', () => {
  it('hand their data from step to step', async () => {
    const { code, stdout, stderr } = await run(
      `  - step: fetch
    tool: {kind: http, url: "{{ workload.url }}/rows"}
    next: [sum]
  - step: sum
    tool: {kind: python, input: {rows: "{{ fetch.data.rows }}"}, code: "result = {'sum': sum(rows)}"}
    next: [say]
  - step: say
    tool: {kind: shell, cmds: ["echo total={{ sum.sum }}"], exports: [total]}
    next: [each]
  - step: each
    loop: {in: "{{ fetch.data.rows }}", iterator: n, spec: {mode: parallel, max_in_flight: 2}}
    tool: {kind: python, input: {n: "{{ n }}"}, code: "result = n * 10"}
    next: [end]
  - step: end
    tool: {kind: noop, result: {said: "{{ say.stdout | trim }}", each: "{{ each.results }}"}}
`,
      '--result',
    )
    expect([code, stderr]).toEqual([0, expect.stringContaining('COMPLETED')])
    expect(JSON.parse(stdout)).toEqual({ said: 'total=6', each: [10, 20, 30] })
    const { text } = await daemon.get('/metrics', { authorization: `Bearer ${TOKEN}` })
    for (const name of ['noetl_cp_command_wait_seconds_count', 'noetl_cp_state_decision_seconds_count']) {
      expect(Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]), name).toBeGreaterThanOrEqual(4)
    }
  })

  it('are run again as their policy says, and the line says how often', async () => {
    answers = 0
    const { code, stderr } = await run(
      `  - step: fetch
    tool: {kind: http, url: "{{ workload.url }}/flaky", retry: {max_attempts: 3, delay: 0.1}}
`,
    )
    expect([code, stderr]).toEqual([0, expect.stringMatching(/fetch +http +ok +.* 2 runs/)])
  })

  it('leave what they printed in the log', async () => {
    const { stdout } = await run(
      '  - step: one\n    tool: {kind: shell, cmds: ["echo out", "echo err >&2"]}\n    next: [two]\n  - step: two\n    tool: {kind: shell, cmds: ["echo other"]}\n',
      '--json',
    )
    const { execution_id: id } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
    const logs = (...args: string[]) =>
      builtCli(['execution', 'logs', id, '--port', new URL(daemon.url).port, ...args], { env: env() })
    expect((await logs()).stdout).toBe('one | out\none ! err\ntwo | other\n')
    expect((await logs('--step', 'two', '--follow')).stdout).toBe('two | other\n')
  })

  it('that fail say why, with their place and standard error', async () => {
    const { code, stderr } = await run(
      `  - step: broken
    tool: {kind: python, code: "import sys\\nprint('so far', file=sys.stderr)\\nraise ValueError('no such thing')"}
`,
    )
    expect(code).toBe(1)
    expect(stderr).toContain('step broken (/workflow/0): ValueError: no such thing [exception]')
    expect(stderr).toContain('    so far\n')
  })

  it.each([
    ['a host that hangs', 'kind: http, url: "{{ workload.url }}/hangs", timeout: 0.5', 'timeout'],
    ['a Python that never ends', 'kind: python, code: "while True: pass", timeout: 0.5', 'timeout'],
    ['a shell that forks', 'kind: shell, cmds: ["sleep 3191 & sleep 3191"], timeout: 0.5', 'timeout'],
    ['a kind that is not allowed', 'kind: container, image: none', 'config'],
    ['a credential that nobody has', 'kind: postgres, auth: nobody_has_it, query: select 1', 'credential'],
  ])('%s: a clear error on the step, and the slot comes back', async (_, tool, kind) => {
    const { code, stdout } = await run(`  - step: bad\n    tool: {${tool}}\n`, '--json', '--pool', 'shared')
    if (kind === 'config') {
      expect(code).toBe(2)
      return
    }
    const summary = JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
    expect([code, summary.status, summary.error_kind]).toEqual([1, 'FAILED', kind])
    await until('its processes are gone', () => processesMentioning('sleep 3191').length === 0)
    const after = await run('  - step: fine\n    tool: {kind: shell, cmds: ["true"]}\n')
    expect(after.code).toBe(0)
  })
})

describe('a cancelled execution', () => {
  it('ends its processes and gives the slots back', async () => {
    const workflow = '  - step: long\n    tool: {kind: shell, cmds: ["sleep 3197 & sleep 3197"]}\n'
    const ids = await Promise.all([1, 2].map(async () => (await run(workflow, '--detach')).stdout.trim()))
    await until('both slots are taken', () => processesMentioning('sleep 3197').length >= 4)
    for (const id of ids) expect((await builtCli(['execution', 'cancel', id], { env: env() })).code).toBe(0)
    await until('its processes are gone', () => processesMentioning('sleep 3197').length === 0)
    expect((await run('  - step: fine\n    tool: {kind: shell, cmds: ["true"]}\n')).code).toBe(0)
  })
})

describe('a worker that is killed', () => {
  it('leaves nothing running, and the next one does its commands of every kind once more', async () => {
    const first = startWorker('killed')
    await first.ready()
    const twice = `import os, time\\nif os.path.exists('${folder}/py'): result = 'second'\\nelse:\\n  open('${folder}/py', 'w').close()\\n  time.sleep(3209)`
    const { stdout } = await run(
      `  - step: start
    tool: {kind: noop}
    next: [sh, py, web]
  - step: sh
    tool: {kind: shell, cmds: ["test -e ${folder}/sh && exit 0; touch ${folder}/sh; sleep 3209"]}
  - step: py
    tool: {kind: python, code: "${twice}"}
  - step: web
    tool: {kind: http, url: "{{ workload.url }}/once", timeout: 600}
`,
      '--detach',
      '--pool',
      'killed',
    )
    const id = stdout.trim()
    await until(
      'all three run',
      () => held.size > 0 && existsSync(join(folder, 'py')) && processesMentioning('sleep 3209').length > 0,
    )
    first.child.kill('SIGKILL')
    await first.ended
    await until('what it had started is gone', () => processesMentioning('sleep 3209').length === 0)
    const second = startWorker('killed')
    await until('the second worker has ended them', async () => (await statusOf(id)) === 'COMPLETED', {
      timeoutMs: 120_000,
    })
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    const [attempts] = await database
      .get()
      .sql<{ count: string }>(
        `select count(*)::text as count from noetl.event where execution_id = $1::bigint and event_type = 'command.completed'`,
        [id],
      )
    expect(attempts!.count).toBe('4')
  })
})

describe('a worker alone', () => {
  it('announces itself, takes the commands of its pool, and gives back what it holds when it is told to stop', async () => {
    const first = startWorker('lonely')
    await first.ready()
    const { stdout } = await run(
      `  - step: once\n    tool: {kind: shell, cmds: ["test -e ${folder}/second && exit 0; touch ${folder}/second; sleep 3203"]}\n`,
      '--detach',
      '--pool',
      'lonely',
    )
    const id = stdout.trim()
    await until('it runs', () => processesMentioning('sleep 3203').length > 0)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    await until('its processes are gone', () => processesMentioning('sleep 3203').length === 0)
    const second = startWorker('lonely')
    await until('the second worker has ended it', async () => (await statusOf(id)) === 'COMPLETED')
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
  })
})

describe('an execution that has failed', () => {
  it('goes on from the step that failed, with what was done: data, secrets and large results', async () => {
    const runs = join(folder, 'runs')
    const mended = join(folder, 'mended')
    const first = await run(
      `  - step: make
    tool: {kind: python, code: "open('${runs}', 'a').write('x')\\nresult = {'api_token': 'tok-123456', 'big': 'y' * 200000}"}
    next: [gate]
  - step: gate
    tool: {kind: shell, cmds: ["test -f ${mended}"]}
    next: [use]
  - step: use
    tool: {kind: python, input: {t: "{{ make.api_token }}", b: "{{ make.big }}"}, code: "result = {'n': len(b), 'same': t == 'tok-' + '123456'}"}
`,
      '--json',
    )
    const lastOf = (text: string) => JSON.parse(text.trimEnd().split('\n').at(-1)!)
    const { execution_id: id } = lastOf(first.stdout)
    expect([first.code, first.stderr]).toEqual([1, ''])
    const cp = (...args: string[]) => builtCli([...args, '--port', new URL(daemon.url).port], { env: env() })
    const failsAgain = lastOf((await cp('execution', 'resume', id, '--wait', '--json')).stdout)
    expect(failsAgain).toMatchObject({ status: 'FAILED', failed_steps: ['gate'] })
    await writeFile(mended, '')
    const told = await cp('execution', 'resume', failsAgain.execution_id, '--wait', '--json')
    expect([told.code, lastOf(told.stdout)]).toEqual([
      0,
      expect.objectContaining({ status: 'COMPLETED', result: { n: 200_000, same: true } }),
    ])
    expect(await readFile(runs, 'utf8')).toBe('x')
    const again = await cp('execution', 'resume', lastOf(told.stdout).execution_id)
    expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('has completed; "execution rerun"')])
  })
})
