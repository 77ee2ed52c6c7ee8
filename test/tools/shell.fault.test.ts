// Promise: kind shell runs commands as playbooks write them, tells how each ended, ends in time whatever they do, and
// leaves no process behind.
import { mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { startLoneWorker } from '../support/loneWorker.js'
import { isAlive, processTree } from '../support/processes.js'
import { credentialsOf, useTools } from '../support/toolRunner.js'
import { until } from '../support/until.js'

const tools = useTools({}, { credentials: credentialsOf({}) })
const shell = (config: JsonObject) => tools.tool({ kind: 'shell', ...config })
const cmds = (...commands: JsonValue[]) => shell({ cmds: commands })

async function data(config: JsonObject): Promise<JsonObject> {
  const envelope = await shell(config)
  expect(envelope.error).toBeUndefined()
  return envelope.data as JsonObject
}

describe('commands', () => {
  it('run in order, each by itself, until one fails', async () => {
    const envelope = await cmds('echo one; cd /', 'echo two >&2; pwd', 'exit 3', 'echo never')
    expect(envelope).toMatchObject({
      status: 'error',
      exit_code: 3,
      error: {
        kind: 'exception',
        code: 'EXIT_3',
        exit_code: 3,
        retryable: false,
        message: 'the command left with exit code 3: two',
      },
    })
    const folder = realpathSync(tools.folder)
    expect(envelope.data).toMatchObject({
      exit_code: 3,
      returncode: 3,
      stdout: `one\n${folder}\n`,
      stderr: 'two\n',
      commands: [
        { command: 'echo one; cd /', exit_code: 0, stdout: 'one\n', stderr: '' },
        { exit_code: 0, stdout: `${folder}\n`, stderr: 'two\n' },
        { command: 'exit 3', exit_code: 3 },
      ],
    })
  })

  it('whose failure a policy has handled end well, and their data tells of it', async () => {
    const envelope = await shell({ command: 'exit 3', spec: { policy: { rules: [{ else: { do: 'continue' } }] } } })
    expect(envelope).toMatchObject({ status: 'success', data: { exit_code: 3 } })
    // The engine takes the exit code of an envelope for the end of the command.
    expect(envelope).not.toHaveProperty('exit_code')
  })

  it('may be whole scripts', async () => {
    const script =
      'set -euo pipefail\ncase "$(uname -s)" in\n  Linux|Darwin)\n    for i in 1 2; do echo "n $i"; done\n    ;;\nesac\ncat <<EOF\nlast\nEOF\n'
    expect((await data({ cmds: [script] }))['stdout']).toBe('n 1\nn 2\nlast\n')
    expect((await data({ command: 'x=1\nfalse\necho $x' }))['stdout']).toBe('1\n')
    const text = await shell({ cmds: 'cd /\npwd\nfalse\necho never' })
    expect(text.data).toMatchObject({ exit_code: 1, stdout: '/\n' })
  })

  it('have bash, a short environment and nothing to read', async () => {
    expect((await data({ command: 'echo "$BASH_VERSION" | grep -c .; [[ a == a ]] && echo yes' }))['stdout']).toBe(
      '1\nyes\n',
    )
    const names = String((await data({ command: 'env -u NOETL_CP_RUN env | cut -d= -f1 | sort' }))['stdout'])
      .trim()
      .split('\n')
    const known = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'PWD', 'OLDPWD', 'SHLVL', '_']
    expect(names.filter((name) => !known.includes(name))).toEqual([])
    expect((await data({ command: 'echo $OWN $NUMBER', env: { OWN: 'mine', NUMBER: 5 } }))['stdout']).toBe('mine 5\n')
    expect((await data({ command: 'cat; echo end' }))['stdout']).toBe('end\n')
  })

  it('run where their author says', async () => {
    mkdirSync(join(tools.folder, 'inner'))
    expect((await data({ command: 'pwd', cwd: 'inner' }))['stdout']).toBe(
      `${realpathSync(join(tools.folder, 'inner'))}\n`,
    )
    expect((await shell({ command: 'pwd', cwd: '/no/such/folder' })).error).toMatchObject({ kind: 'config' })
    expect((await data({ command: 'echo $0', shell: 'sh' }))['stdout']).toBe('sh\n')
  })

  it('hand variables on', async () => {
    const command = 'echo OS_TYPE=linux; echo "export NAME=\'a b\'"; echo other=1; echo not a variable'
    expect((await data({ command, exports: ['os_type', 'name'] }))['exports']).toEqual({
      os_type: 'linux',
      name: 'a b',
    })
    expect((await data({ command, exports: true }))['exports']).toEqual({ OS_TYPE: 'linux', NAME: 'a b', other: '1' })
    expect((await data({ command }))['exports']).toBeUndefined()
  })

  it('that are none, or hold what no command may hold, are refused', async () => {
    for (const config of [
      {},
      { cmds: [] },
      { cmds: [1] },
      { command: 'echo \0' },
      { command: 'true', env: { 'A B': 1 } },
    ]) {
      expect((await shell(config)).error, JSON.stringify(config)).toMatchObject({ kind: 'config' })
    }
  })

  it('that are ended by a signal say so', async () => {
    expect((await cmds('kill -SEGV $$')).error).toMatchObject({
      code: 'EXIT_139',
      message: expect.stringContaining('signal 11'),
    })
    expect((await cmds('kill -9 0')).error).toMatchObject({ code: 'EXIT_137' })
  })
})

describe('output', () => {
  it('is cut at 64 KB, with a note', async () => {
    const { stdout = '' } = await cmds('seq 1 200000')
    expect(Buffer.byteLength(stdout)).toBeLessThan(66_000)
    expect(stdout.startsWith('1\n2\n')).toBe(true)
    expect(stdout.endsWith('200000\n')).toBe(true)
  })

  it('is heard as it comes', async () => {
    const lines: string[] = []
    await tools.tool(
      { kind: 'shell', cmds: ['echo a; echo b >&2', 'printf c'] },
      { options: { onLine: (stream, line) => void lines.push(`${stream} ${line}`) } },
    )
    expect(lines.sort()).toEqual(['stderr b', 'stdout a', 'stdout c'])
  })
})

describe('nothing is left', () => {
  const below = (): number[] => processTree(process.pid).filter((pid) => pid !== process.pid && isAlive(pid))

  it.each([
    ['a command in the background', 'sleep 600 & echo $!'],
    ['one that ignores signals', "(trap '' TERM HUP; sleep 600) & echo $!"],
    ['one with a session of its own', 'setsid sleep 600 & sleep 0.2; pgrep -n -x sleep'],
    ['one that holds the output', 'nohup setsid sleep 600 & sleep 0.2; pgrep -n -x sleep'],
  ])('of %s', async (_, command) => {
    const { stdout, exit_code: exitCode } = await data({ command })
    expect(exitCode).toBe(0)
    const pid = Number(stdout)
    expect(pid).toBeGreaterThan(1)
    await until('it is gone', () => !isAlive(pid))
  })

  it('of a command that never ends', async () => {
    const envelope = await shell({ command: 'echo begun; sleep 600; echo never', timeout: 0.5 })
    expect(envelope).toMatchObject({ status: 'timeout', stdout: 'begun\n', error: { kind: 'timeout' } })
    await until('all are gone', () => below().length === 0)
  })

  it('of one that does not listen, five seconds later', async () => {
    const { status, duration_ms: durationMs } = await shell({
      command: "trap '' TERM; while true; do sleep 1; done",
      timeout: 0.5,
    })
    expect(status).toBe('timeout')
    expect(durationMs).toBeGreaterThan(5_000)
    await until('all are gone', () => below().length === 0)
  })

  it('of one that listens and cleans up', async () => {
    const { stdout } = await shell({
      command: 'trap "echo closing; exit 0" TERM; echo up; while true; do sleep 0.1; done',
      timeout: 1,
    })
    expect(stdout).toBe('up\nclosing\n')
  })

  it('of a bomb', async () => {
    const bomb = 'f() { [ "$1" -gt 0 ] && { f $(($1 - 1)) & f $(($1 - 1)) & }; sleep 600; }; f 6'
    expect((await shell({ command: bomb, timeout: 2 })).status).toBe('timeout')
    await until('all are gone', () => below().length === 0)
  })

  it('of one that kills its leader', async () => {
    const { stdout = '' } = await cmds('echo $$; kill -9 $PPID; sleep 600')
    await until('it is gone', () => !isAlive(Number(stdout)))
  })

  it('when the worker is killed', async () => {
    const worker = await startLoneWorker({ kind: 'shell', command: 'sleep 600 & echo $$ $!; wait' })
    const pids = (await worker.firstLine()).split(' ').map(Number)
    expect(pids.every(isAlive)).toBe(true)
    worker.kill()
    await until('all of it is gone', () => pids.every((pid) => !isAlive(pid)))
  })

  it('of many', async () => {
    await cmds('true')
    const descriptors = readdirSync('/proc/self/fd').length
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 6 }, () => cmds('echo a', 'sleep 600 & echo b')))
    }
    await until('all are gone', () => below().length === 0)
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(descriptors + 3)
  })
})

describe('script', () => {
  it('is python or shell by its language, if that is allowed', async () => {
    expect((await tools.tool({ kind: 'script', language: 'bash', code: 'echo hi' })).data).toMatchObject({
      stdout: 'hi\n',
    })
    expect((await tools.tool({ kind: 'script', language: 'cobol', code: '' })).error).toMatchObject({
      kind: 'unsupported',
    })
  })
})
