// Promise: a data folder has one holder; the lock of a dead process is taken over by exactly one starter.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { acquireLock } from '../../src/embedded/lock.js'
import { ownIdentity } from '../../src/embedded/processIdentity.js'

// Above the largest pid Linux ever gives (2^22).
const DEAD_PID = 5_000_000

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-lock-'))
  path = join(folder, 'daemon.lock')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('acquireLock', () => {
  it('refuses a second holder and names the pid and the folder', async () => {
    const lock = await acquireLock(path, folder)
    await expect(acquireLock(path, folder)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(new RegExp(`${folder}.*${process.pid}`)),
      details: { pid: process.pid, folder },
    })
    await lock.release()
  })

  it('leaves nothing behind and can be taken again after a release', async () => {
    await (await acquireLock(path, folder)).release()
    expect(await readdir(folder)).toEqual([])
    await (await acquireLock(path, folder)).release()
  })

  it('writes a private file that names the holder', async () => {
    const lock = await acquireLock(path, folder)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid })
    await lock.release()
  })

  it.each([
    ['a dead process', JSON.stringify({ pid: DEAD_PID, startId: 'x', nonce: 'n1' })],
    ['a pid that now belongs to another process', JSON.stringify({ pid: process.pid, startId: 'other', nonce: 'n1' })],
    ['an empty file left by a power failure', ''],
    ['rubbish', '{"pid":'],
  ])('takes over the lock of %s', async (_case, content) => {
    await writeFile(path, content)
    const lock = await acquireLock(path, folder)
    await lock.release()
    expect(await readdir(folder)).toEqual([])
  })

  it('gives a dead lock to exactly one of many starters', async () => {
    await writeFile(path, JSON.stringify({ pid: DEAD_PID, startId: 'x', nonce: 'n1' }))
    const results = await Promise.allSettled(Array.from({ length: 24 }, () => acquireLock(path, folder)))
    const won = results.filter((result) => result.status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'refused' })
    }
    expect(await readdir(folder)).toEqual(['daemon.lock'])
  })

  it('passes the guard of a starter that died while taking over', async () => {
    await writeFile(path, JSON.stringify({ pid: DEAD_PID, startId: 'x', nonce: 'n1' }))
    await writeFile(`${path}.n1`, JSON.stringify({ pid: DEAD_PID, startId: 'x', nonce: 'n2' }))
    const lock = await acquireLock(path, folder)
    await lock.release()
    expect(await readdir(folder)).toEqual([])
  })

  it('does not remove a lock that is no longer its own', async () => {
    const lock = await acquireLock(path, folder)
    await writeFile(path, JSON.stringify({ ...ownIdentity(), nonce: 'another' }))
    await lock.release()
    expect(await readdir(folder)).toEqual(['daemon.lock'])
  })
})
