// Promise: `run` brings along the playbooks that a playbook names by a file, beside it or from where one works, and leaves paths
// of the catalog alone.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { childrenMap, readPlaybooks } from '../../src/cli/run/playbookFiles.js'

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
