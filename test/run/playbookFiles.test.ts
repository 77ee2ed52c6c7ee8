// Promise: `run` brings along the playbooks that a playbook names by a file, beside it or from where one works, and leaves paths
// of the catalog alone. Each file has a place of its own in the catalog, and each playbook finds its own files.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { childrenMap, type PlaybookFile, readPlaybooks } from '../../src/cli/run/playbookFiles.js'
import { parseCatalogDocument } from '../../src/domain/catalog/catalogDocument.js'

let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'noetl-cp-files-'))
  await mkdir(join(root, 'deep', 'er'), { recursive: true })
  await playbook('deep/parent.yaml', 'a/parent', [
    './beside.yaml',
    'deep/er/worked.yaml',
    'a/catalog',
    'not/there.yaml',
  ])
  await playbook('deep/beside.yaml', 'a/beside', [])
  await playbook('deep/er/worked.yaml', 'a/worked', ['../beside.yaml'])
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function playbook(file: string, path: string, children: readonly string[]): Promise<void> {
  const steps = [
    '{step: start, tool: {kind: noop}}',
    ...children.map((child, n) => `{step: s${n}, tool: {kind: playbook, path: ${child}}}`),
  ]
  const head = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: ${path}}\nworkflow:\n`
  await writeFile(join(root, file), head + steps.map((step) => `- ${step}\n`).join(''))
}

it('finds files beside a playbook and from where one works', async () => {
  const found = await readPlaybooks('deep/parent.yaml', root)
  expect(found.map(({ path }) => path)).toEqual(['a/parent', 'a/beside', 'a/worked'])
  expect(childrenMap(found)).toEqual({
    './beside.yaml': 'a/beside',
    'deep/er/worked.yaml': 'a/worked',
    '../beside.yaml': 'a/beside',
  })
})

/** By their place below a folder of their own; only the first names a path. */
async function read(files: Record<string, string>, first = 'main.yaml'): Promise<PlaybookFile[]> {
  const folder = await mkdtemp(join(root, 'set-'))
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  return readPlaybooks(first, folder)
}

const text = (tools: readonly string[], metadata = '{name: same}'): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: ${metadata}\nworkflow:\n${tools.map((tool, n) => `- {step: s${n}, tool: ${tool}}\n`).join('')}`
const child = (path: string): string => `{kind: playbook, path: '${path}'}`
const NOOP = '{kind: noop}'
const pathsOf = (playbooks: readonly PlaybookFile[]): string[] => playbooks.map(({ path }) => path)
const problemsOf = (playbooks: readonly PlaybookFile[]): string[] =>
  playbooks.flatMap(({ problems }) =>
    problems.filter(({ severity }) => severity === 'error').map(({ pointer, message }) => `${pointer}: ${message}`),
  )

it('gives files with the same name and no path a path each, below the first', async () => {
  const found = await read({
    'main.yaml': text([child('./a.yaml'), child('./b.yaml')], '{name: same, path: demo/main}'),
    'a.yaml': text([NOOP]),
    'b.yaml': text([child('./a.yaml')]),
  })
  expect(pathsOf(found)).toEqual(['demo/main', 'demo/main/a.yaml', 'demo/main/b.yaml'])
  expect(found.map((one) => parseCatalogDocument(one.text).path)).toEqual(pathsOf(found))
  expect(childrenMap(found)).toEqual({ './a.yaml': 'demo/main/a.yaml', './b.yaml': 'demo/main/b.yaml' })
})

it('leads the same text in different folders to the file of each', async () => {
  const found = await read(
    {
      'sub/main.yaml': text([child('./leaf.yaml'), child('./in/one.yaml'), child('../two.yaml')]),
      'sub/leaf.yaml': text([NOOP]),
      'sub/in/one.yaml': text([child('./leaf.yaml'), child('../main.yaml')]),
      'sub/in/leaf.yaml': text([NOOP]),
      'two.yaml': text([child('./leaf.yaml')]),
      'leaf.yaml': text([NOOP]),
    },
    'sub/main.yaml',
  )
  expect(pathsOf(found)).toEqual([
    'same',
    'same/leaf.yaml',
    'same/in/one.yaml',
    'same/up/two.yaml',
    'same/in/leaf.yaml',
    'same/up/leaf.yaml',
  ])
  expect(childrenMap(found)).toEqual({
    './in/one.yaml': 'same/in/one.yaml',
    '../two.yaml': 'same/up/two.yaml',
    '../main.yaml': 'same',
    by_parent: {
      same: { './leaf.yaml': 'same/leaf.yaml' },
      'same/in/one.yaml': { './leaf.yaml': 'same/in/leaf.yaml' },
      'same/up/two.yaml': { './leaf.yaml': 'same/up/leaf.yaml' },
    },
  })
})

it('refuses two files that claim one path, unless they are the same', async () => {
  const main = text([child('./a.yaml'), child('./b.yaml')], '{path: main}')
  const same = { 'main.yaml': main, 'a.yaml': text([NOOP], '{path: x/y}') }
  await expect(read({ ...same, 'b.yaml': text([NOOP, NOOP], '{path: x/y}') })).rejects.toThrow(
    /a\.yaml and .*b\.yaml both have the path x\/y in the catalog.*give each a metadata\.path of its own/,
  )
  await expect(read({ ...same, 'b.yaml': text([NOOP], '{path: main}') })).rejects.toThrow('both have the path main')
  expect(pathsOf(await read({ ...same, 'b.yaml': text([NOOP], '{path: x/y}') }))).toEqual(['main', 'x/y', 'x/y'])
})

it('says which file has no place for a path', async () => {
  const files = { 'main.yaml': text([child('./a.yaml')]), 'a.yaml': text([NOOP], '{name: x, path: }') }
  await expect(read(files)).rejects.toThrow(/a\.yaml: there is no place for a path in its metadata/)
})

it('finds the files of a list of playbooks', async () => {
  const found = await read({
    'main.yaml': text(['{kind: playbooks, playbooks: [./a.yaml, {path: ./b.yaml, name: b}, {path: x/catalog}]}']),
    'a.yaml': text([NOOP]),
    'b.yaml': text([NOOP]),
  })
  expect(problemsOf(found)).toEqual([])
  expect(childrenMap(found)).toEqual({ './a.yaml': 'same/a.yaml', './b.yaml': 'same/b.yaml' })
})

it('refuses a relative path that only a template completes', async () => {
  const tools = [
    child('./{{ workload.x }}.yaml'),
    "[{name: t, kind: playbooks, playbooks: ['../{{ x }}.yaml', {path: './{{ y }}'}]}]",
    child('{{ workload.x }}/a'),
  ]
  const problems = problemsOf(await read({ 'main.yaml': `${text(tools)}workload: {x: a, y: b}\n` }))
  expect(problems.filter((one) => one.includes('is a relative path with a template'))).toEqual([
    expect.stringMatching(
      /^\/workflow\/0\/tool\/path: .*name a path in the catalog, or each file in a step of its own$/,
    ),
    expect.stringMatching(/^\/workflow\/1\/tool\/0\/playbooks\/0: /),
    expect.stringMatching(/^\/workflow\/1\/tool\/0\/playbooks\/1\/path: /),
  ])
})
