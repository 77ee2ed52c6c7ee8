// Promise: the package holds all that the program needs and nothing else, and the lint reads our folders alone: a playbook
// that a user writes into the checkout is not our business. Needs the build.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const manifest = async () => JSON.parse(await readFile('package.json', 'utf8'))

it('packs program, client, SQL, examples, documentation and licence', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    maxBuffer: 16 * 1_048_576,
  })
  const files = (JSON.parse(stdout)[0].files as { path: string }[]).map(({ path }) => path)
  const { bin, exports } = await manifest()
  const named = [bin['noetl-cp'], ...Object.values<string | object>(exports).flatMap((one) => Object.values(one))]
  for (const path of named.filter((one) => one.length > 1)) expect(files).toContain(path.replace(/^\.\//, ''))
  for (const path of ['dist/cli/main.js', 'LICENSE', 'README.md', 'docs/commands.md', 'examples/hello.yaml'])
    expect(files).toContain(path)
  expect(files.some((path) => path.startsWith('sql/migrations/'))).toBe(true)
  expect(files.filter((path) => /^(src|test|lab|bench)\/|\.map$|tsbuildinfo/.test(path))).toEqual([])
})

it('says where it comes from and what it is', async () => {
  const { keywords, types, license } = await manifest()
  expect({ types, license }).toEqual({
    types: expect.stringContaining('.d.ts'),
    license: 'MIT',
  })
  expect(keywords.length).toBeGreaterThan(0)
})

it('lints named folders', async () => {
  const { files } = JSON.parse(await readFile('biome.json', 'utf8'))
  const named = (files.includes as string[]).filter((one) => !one.startsWith('!'))
  expect(named.filter((one) => one.startsWith('*'))).toEqual([])
})

it('needs no newer Node than it says', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'))
  const ours = Number(/>=(\d+)/.exec((await manifest()).engines.node)![1])
  const oldest = (range: string) => Math.min(...range.split('||').map((part) => Number(/\d+/.exec(part)?.[0] ?? 0)))
  const tooNew = Object.entries<{ dev?: boolean; engines?: { node?: string } }>(packages)
    .filter(([, { dev, engines }]) => dev !== true && oldest(engines?.node ?? '0') > ours)
    .map(([name]) => name)
  expect(tooNew).toEqual([])
})
