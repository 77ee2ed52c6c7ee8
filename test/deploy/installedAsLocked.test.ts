// Promise: an install that is not the one of the lock file fails, and says in what it differs.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from './deployFiles.js'

type Packages = Record<string, Record<string, unknown>>
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'noetl-locked-'))
  mkdirSync(join(folder, 'node_modules'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const LOCKED: Packages = {
  '': { dependencies: { a: '^1.0.0' }, devDependencies: { tool: '2.0.0' } },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a', optionalDependencies: { 'a-linux': '1.0.0' } },
  'node_modules/tool': { version: '2.0.0', integrity: 'sha512-t', dev: true },
}
const { '': root, ...ALL } = LOCKED

function check(installed: Packages, options: { args?: string[]; manifest?: object } = {}) {
  const write = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value))
  write('package.json', options.manifest ?? root!)
  write('package-lock.json', { packages: LOCKED })
  write('node_modules/.package-lock.json', { packages: installed })
  const script = join(ROOT, 'scripts/installed-as-locked.mjs')
  const ran = spawnSync(process.execPath, [script, ...(options.args ?? [])], { cwd: folder, encoding: 'utf8' })
  return `${ran.status} ${ran.stderr}`
}

it('accepts what is locked, without the tools in production, and binaries of another platform as they are named', () => {
  expect(check(ALL)).toBe('0 ')
  const { 'node_modules/tool': _, ...production } = ALL
  expect(check(production, { args: ['--production'] })).toBe('0 ')
  const binary = { version: '1.0.0', integrity: 'sha512-l', optional: true }
  expect(check({ ...ALL, 'node_modules/a-linux': binary })).toBe('0 ')
})

it.each<[string, Packages, RegExp]>([
  [
    'another version',
    { ...ALL, 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } },
    /a is 1\.0\.1, .* 1\.0\.0/,
  ],
  [
    'other contents',
    { ...ALL, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' } },
    /a 1\.0\.0 has other contents/,
  ],
  ['no checksum', { ...ALL, 'node_modules/a': { version: '1.0.0' } }, /a 1\.0\.0 has other contents/],
  ['a package more', { ...ALL, 'node_modules/b': { version: '1.0.0' } }, /b 1\.0\.0 is not in the lock file/],
  [
    'another binary',
    { ...ALL, 'node_modules/a-linux': { version: '1.0.1', optional: true } },
    /a-linux 1\.0\.1 is not/,
  ],
  ['a package less', { 'node_modules/tool': ALL['node_modules/tool']! }, /a 1\.0\.0 is missing/],
])('refuses %s', (_, installed, expected) => {
  const told = check(installed)
  expect(told).toMatch(/^1 /)
  expect(told).toMatch(expected)
})

it('refuses a package.json that the lock file does not know yet', () => {
  expect(check(ALL, { manifest: { ...root, dependencies: { a: '^2.0.0' } } })).toMatch(
    /^1 .*dependencies of package\.json/s,
  )
})
