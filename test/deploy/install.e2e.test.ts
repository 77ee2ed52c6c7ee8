// Promise: `make install` copies the program to where a service and other users find it: it runs from there as an ordinary user,
// without the checkout; `make uninstall` takes away what was copied and nothing else. Needs the build.
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

const run = promisify(execFile)
/** -o: the build is there, and another file may be using it. */
const make = (target: string) => run('make', ['-o', 'build', target, `PREFIX=${prefix}`])
const NOBODY = { uid: 65_534, gid: 65_534 }

let prefix: string
beforeAll(async () => {
  prefix = await mkdtemp(join(tmpdir(), 'noetl-cp-prefix-'))
  // A temporary folder is private; /usr/local is not.
  await chmod(prefix, 0o755)
})
afterAll(() => rm(prefix, { recursive: true, force: true }))

it('copies the program, which runs from there as an ordinary user', async () => {
  await make('install')
  await make('install')
  const program = join(prefix, 'bin', 'noetl-cp')
  expect(await realpath(program)).toBe(join(await realpath(prefix), 'lib/noetl-cp/bin/noetl-cp.js'))
  expect(await readdir(join(prefix, 'lib'))).toEqual(['noetl-cp'])
  const isRoot = process.getuid?.() === 0
  const { stdout } = await run(program, ['catalog', 'validate', join(prefix, 'lib/noetl-cp/examples/hello.yaml')], {
    cwd: '/',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    ...(isRoot ? NOBODY : {}),
  })
  expect(stdout).toContain('is a valid playbook')
})

it('takes away what it copied and nothing else', async () => {
  await writeFile(join(prefix, 'bin', 'other'), '')
  await make('uninstall')
  expect(await readdir(join(prefix, 'bin'))).toEqual(['other'])
  expect(await readdir(join(prefix, 'lib'))).toEqual([])
  await make('uninstall')
})
