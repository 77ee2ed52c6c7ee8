// Promise: `run` takes a playbook from a file to its end without anything else running, leaves nothing behind, and says with
// its exit code how it went.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, runBinary, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { newDataFolder, nothingRunsIn, removeDataFolders } from '../support/dataFolder.js'

const HELLO = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: hello, path: run/hello}
workload: {who: world, items: [1, 2, 3]}
workflow:
  - step: greet
    tool: {kind: noop, result: {greeting: "Hello, {{ workload.who }}"}}
    next:
      arcs:
        - {step: formal, when: "{{ workload.who == 'world' }}"}
        - {step: each}
  - step: formal
    tool: {kind: noop, result: delighted}
    next: [each]
  - step: each
    loop: {in: "{{ workload.items }}", iterator: item}
    tool: {kind: noop, result: "{{ item }}"}
    next: [end]
  - step: end
    tool: {kind: noop, result: "{{ greet.greeting }}"}
`
const TALKS = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: talks, path: run/talks}
workflow:
  - step: talk
    tool: {kind: shell, cmds: ["echo first", "echo bad >&2", "exit 3"], retry: {max_attempts: 2, delay: 0.1}}
`
const ENDLESS = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: endless, path: run/endless}
workflow:
  - step: wait
    tool: {kind: http, url: "{{ workload.url }}", timeout: 600}
`

let folder: string
/** Whoever comes first makes the database in it. */
let dataDir: string
beforeAll(async () => {
  dataDir = await newDataFolder()
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-run-test-'))
  await writeFile(join(folder, 'hello.yaml'), HELLO)
  await writeFile(join(folder, 'endless.yaml'), ENDLESS)
  await writeFile(join(folder, 'talks.yaml'), TALKS)
  await writeFile(join(folder, 'broken.yaml'), HELLO.replace('next: [end]', 'next: [nowhere]'))
  await writeFile(
    join(folder, 'code.yaml'),
    HELLO.replace('{kind: noop, result: delighted}', '{kind: shell, command: "true"}'),
  )
})
afterAll(async () => {
  await removeDataFolders()
  await rm(folder, { recursive: true, force: true })
})

const file = (name: string): string => join(folder, name)

describe('without an instance', () => {
  it('starts a private one, shows each step, prints the result, and leaves nothing running', async () => {
    const { code, stdout, stderr } = await runBinary([
      'run',
      file('hello.yaml'),
      '--set',
      'who=you',
      '--result',
      '--data-dir',
      dataDir,
    ])
    expect([code, stderr]).toEqual([0, expect.stringContaining('COMPLETED in ')])
    expect(stdout).toBe('"Hello, you"\n')
    expect(stderr).toMatch(/run\/hello version 1 {2}execution \d+\n/)
    expect(stderr).toMatch(/ {2}greet +noop +ok +\d+ ms {2}\{"greeting":"Hello, you"\}\n/)
    expect(stderr).toMatch(/ {2}formal +noop +skipped +no arc leads here\n/)
    expect(stderr).toMatch(/ {2}each +noop x3 +ok +\d.* 3 done\n/)
    await nothingRunsIn(dataDir)
  })

  it('shows what steps print as they print it, and that they are tried again', async () => {
    const { code, stderr } = await runBinary([
      'run',
      file('talks.yaml'),
      '-r',
      'local',
      '--allow',
      'shell',
      '--data-dir',
      dataDir,
    ])
    expect(code).toBe(1)
    expect(stderr).toContain('    talk | first\n')
    expect(stderr).toMatch(/ {4}talk: retry 2\/2 after .*, 100 ms\n/)
    expect(stderr).toContain('step talk (/workflow/0): ')
  })

  it('starts none when a running one is asked for', async () => {
    const dataDir = await newDataFolder()
    const asked = (where: string) => runBinary(['run', file('hello.yaml'), '--runtime', where, '--data-dir', dataDir])
    const { code, stderr } = await asked('distributed')
    expect([code, stderr]).toEqual([69, expect.stringContaining('--runtime distributed needs a running instance')])
    const unknown = await asked('cloud')
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('local, distributed, auto, not "cloud"'),
    ])
  })

  it('refuses code that nobody allowed, before anything starts', async () => {
    const dataDir = await newDataFolder()
    const { code, stderr } = await runBinary(['run', file('code.yaml'), '--data-dir', dataDir])
    expect([code, stderr]).toEqual([2, 'noetl-cp: playbook needs shell (steps formal): add --allow shell\n'])
  })

  it('names what is wrong, with its place, and starts nothing', async () => {
    const broken = await runBinary(['run', file('broken.yaml')])
    expect(broken.code).toBe(2)
    expect(broken.stdout).toContain('/workflow/2/next')
    const dry = await runBinary(['run', file('hello.yaml'), '--dry-run', '--json'])
    expect([dry.code, JSON.parse(dry.stdout)]).toEqual([0, { valid: true, path: 'run/hello', problems: [] }])
  })

  it('says that there is no such file (3), and that a database without a daemon cannot be reached (69)', async () => {
    expect((await runBinary(['run', file('nothing.yaml')])).code).toBe(3)
    const away = await runBinary(['run', file('hello.yaml'), '--port', '1'], {
      env: { NOETL_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    })
    expect([away.code, away.stderr]).toEqual([69, expect.stringContaining('--local')])
  })
})

describe('with an instance', () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startDaemon(['--data-dir', dataDir])
  })
  afterAll(() => daemon?.stop())
  const run = (...args: string[]) => builtCli([...args, '--data-dir', dataDir])

  it('runs files that name each other, each its own, and registers nothing twice', async () => {
    const names = async (file: string, metadata: string, tools: string[]) => {
      const steps = [...tools, '{kind: noop, result: "{{ [s0, s1, workload] }}"}'].map(
        (tool, n) =>
          `- {step: ${n === tools.length ? 'end' : `s${n}`}, tool: ${tool}, next: ${n + 1 < tools.length ? `s${n + 1}` : 'end'}}`,
      )
      steps.push(steps.pop()!.replace(', next: end', ''))
      const head = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: ${metadata}\nworkload: {a: {b: 1, c: 1}}\nworkflow:\n`
      await writeFile(join(folder, file), `${head}${steps.join('\n')}\n`)
    }
    const calls = (path: string) => `{kind: playbook, path: ${path}, return_result: true}`
    await mkdir(join(folder, 'sub'))
    await names('family.yaml', '{name: same, path: run/family}', [calls('./leaf.yaml'), calls('./sub/middle.yaml')])
    await names('leaf.yaml', '{name: same}', ['{kind: noop, result: outer}', '{kind: noop}'])
    await names('sub/middle.yaml', '{name: same}', [calls('./leaf.yaml'), '{kind: noop}'])
    await names('sub/leaf.yaml', '{name: same}', ['{kind: noop, result: inner}', '{kind: noop}'])
    const asked = () => run('run', file('family.yaml'), '--result', '--set', 'a.b=2')
    const { code, stdout, stderr } = await asked()
    expect([code, stderr]).toEqual([0, expect.stringContaining('run/family version 1 ')])
    const [leaf, middle, workload] = JSON.parse(stdout)
    expect([leaf[0], middle[0][0], workload]).toEqual(['outer', 'inner', { a: { b: 2, c: 1 } }])
    expect((await asked()).stderr).toContain('run/family version 1 ')
    const listed = JSON.parse((await run('catalog', 'list', '--json')).stdout)
    const entries = JSON.stringify(listed)
    for (const path of ['run/family', 'run/family/leaf.yaml', 'run/family/sub/middle.yaml', 'run/family/sub/leaf.yaml'])
      expect(entries).toContain(JSON.stringify(path))
    expect(entries).not.toContain('"same"')
  })

  it('prints every event and a summary as JSON lines', async () => {
    const { code, stdout, stderr } = await run('exec', file('hello.yaml'), '--json')
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines[0].event_type).toBe('playbook_started')
    expect(lines.at(-2).event_type).toBe('playbook.completed')
    expect(lines.at(-1)).toMatchObject({
      status: 'COMPLETED',
      result: 'Hello, world',
      failed_steps: [],
      steps: { each: { visits: 1, commands: 3 } },
    })
  })

  it('runs what is in the catalog, by path and version; 3 when there is none', async () => {
    await run('catalog', 'register', file('hello.yaml'))
    const { code, stdout } = await run('run', 'run/hello@1', '--result', '--quiet')
    expect([code, stdout]).toEqual([0, '"Hello, world"\n'])
    expect((await run('run', 'run/nothing')).code).toBe(3)
  })

  it('starts and leaves with --detach; watch and result find it', async () => {
    const { stdout } = await run('run', file('hello.yaml'), '--detach')
    const id = stdout.trim()
    const watched = await run('execution', 'watch', id)
    expect([watched.code, watched.stderr]).toEqual([0, expect.stringContaining('COMPLETED in ')])
    expect((await run('execution', 'result', id)).stdout).toBe('"Hello, world"\n')
    expect(JSON.parse((await run('execution', 'result', id, '--step', 'each')).stdout).results).toEqual([1, 2, 3])
    expect((await run('execution', 'result', id, '--step', 'nowhere')).code).toBe(3)
  })

  it('starts again with --wait, by rerun, and with other values', async () => {
    await run('catalog', 'register', file('hello.yaml'))
    const first = await run('execution', 'start', 'run/hello', '--wait', '--json')
    const { execution_id: id, status } = JSON.parse(first.stdout.trimEnd().split('\n').at(-1)!)
    expect([first.code, status]).toEqual([0, 'COMPLETED'])
    const again = await run('execution', 'rerun', id, '--set', 'who=again', '--wait', '--json')
    const summary = JSON.parse(again.stdout.trimEnd().split('\n').at(-1)!)
    expect([again.code, summary.result, summary.execution_id === id]).toEqual([0, 'Hello, again', false])
  })

  it('refuses code that the instance does not run', async () => {
    const { code, stderr } = await run('run', file('code.yaml'))
    expect([code, stderr]).toEqual([2, expect.stringContaining('NOETL_CP_WORKER_ALLOW=shell')])
  })

  it('says that nothing is kept of a private run beside it, which has no folder to keep it in', async () => {
    const { code, stderr } = await run('run', file('talks.yaml'), '--local', '--allow', 'shell')
    expect(code).toBe(1)
    expect(stderr).toContain('starting a private instance')
    expect(stderr).toContain('next: nothing of this run is kept')
    expect(stderr).not.toContain('execution show')
  })

  it('cancels when its time is up: 124', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    const { code, stderr } = await run('run', file('endless.yaml'), '--set', `url=${url}`, '--timeout', '1')
    expect([code, stderr]).toEqual([124, expect.stringContaining('CANCELLED in ')])
    silent.closeAllConnections()
    silent.close()
  })
})
