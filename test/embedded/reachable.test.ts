// Promise: we know before starting a child under another user whether it can get at its files.

import { chmod, mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findBarrier, grants, PASS, READ } from '../../src/embedded/reachable.js'

const WRITE = 2

const stranger = { uid: 54_321, gid: 54_321 }
let folder: string

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'noetl-reach-')))
  await chmod(folder, 0o755)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('grants', () => {
  it.each([
    ['the owner by the owner bits', { uid: 1, gid: 9, mode: 0o700 }, READ | WRITE | PASS, true],
    ['the owner not by the other bits', { uid: 1, gid: 9, mode: 0o077 }, PASS, false],
    ['the group by the group bits', { uid: 2, gid: 5, mode: 0o710 }, PASS, true],
    ['the group not by the other bits', { uid: 2, gid: 5, mode: 0o701 }, PASS, false],
    ['others by the other bits', { uid: 2, gid: 9, mode: 0o701 }, PASS, true],
    ['others not to read what only lets pass', { uid: 2, gid: 9, mode: 0o711 }, READ | PASS, false],
  ])('judges %s', (_case, entry, rights, expected) => {
    expect(grants(entry, { uid: 1, gid: 5 }, rights)).toBe(expected)
  })
})

describe('findBarrier', () => {
  it('finds nothing on an open way', async () => {
    await mkdir(join(folder, 'a'), { mode: 0o755 })
    await writeFile(join(folder, 'a', 'file'), '', { mode: 0o644 })
    expect(await findBarrier(join(folder, 'a', 'file'), stranger, READ)).toBeUndefined()
  })

  it('names the closed folder on the way, not the end of it', async () => {
    await mkdir(join(folder, 'closed', 'open'), { recursive: true })
    await chmod(join(folder, 'closed'), 0o700)
    expect(await findBarrier(join(folder, 'closed', 'open'), stranger, PASS)).toBe(join(folder, 'closed'))
    const { uid, gid } = await stat(folder)
    expect(await findBarrier(join(folder, 'closed', 'open'), { uid, gid }, PASS)).toBeUndefined()
  })

  it('names the thing itself when its own mode stops the user', async () => {
    await writeFile(join(folder, 'secret'), '', { mode: 0o600 })
    expect(await findBarrier(join(folder, 'secret'), stranger, READ)).toBe(join(folder, 'secret'))
  })

  it('follows links to the real way', async () => {
    await mkdir(join(folder, 'closed', 'target'), { recursive: true })
    await chmod(join(folder, 'closed'), 0o700)
    await symlink(join(folder, 'closed', 'target'), join(folder, 'link'))
    expect(await findBarrier(join(folder, 'link'), stranger, PASS)).toBe(join(folder, 'closed'))
  })
})
