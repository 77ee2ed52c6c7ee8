// Promise: secrets are made once, stay the same, and are readable by their owner alone.

import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSecrets } from '../../src/embedded/secrets.js'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-secrets-'))
  path = join(folder, 'secrets.json')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('loadSecrets', () => {
  it('makes four different secrets of 32 bytes with mode 0600, whatever the umask', async () => {
    const before = process.umask(0)
    const { secrets, created } = await loadSecrets(path).finally(() => process.umask(before))
    expect(created).toBe(true)
    const values = Object.values(secrets)
    expect(new Set(values).size).toBe(4)
    for (const value of values) expect(Buffer.from(value, 'base64url')).toHaveLength(32)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('gives the same ones later, also to starters at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => loadSecrets(path)))
    expect(new Set(all.map((one) => JSON.stringify(one.secrets))).size).toBe(1)
    expect(all.filter((one) => one.created)).toHaveLength(1)
    expect(await loadSecrets(path)).toEqual({ secrets: all[0]?.secrets, created: false })
  })

  it('adds the token that an older version did not make, once, and keeps the rest', async () => {
    await loadSecrets(path)
    const { apiToken: _, ...older } = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify(older))
    const { secrets } = await loadSecrets(path)
    expect(secrets).toMatchObject(older)
    expect(Buffer.from(secrets.apiToken, 'base64url')).toHaveLength(32)
    expect(await loadSecrets(path)).toEqual({ secrets, created: false })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('closes a file that others could read', async () => {
    await loadSecrets(path)
    await chmod(path, 0o644)
    await loadSecrets(path)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.each(['', 'not json', '{}', '{"postgresPassword":"a\'b","natsToken":"x","internalToken":"y"}'])(
    'refuses a damaged file instead of replacing it: %j',
    async (content) => {
      await writeFile(path, content)
      await expect(loadSecrets(path)).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining(path) })
    },
  )
})
