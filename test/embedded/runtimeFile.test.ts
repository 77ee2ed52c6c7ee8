// Promise: a subcommand finds the running daemon, and is never sent to one that is gone.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readRuntimeFile, removeRuntimeFile, writeRuntimeFile } from '../../src/embedded/runtimeFile.js'

const info = {
  version: '1.2.3',
  httpUrl: 'http://127.0.0.1:8082',
  databaseUrl: 'postgres://noetl:p@127.0.0.1:5432/noetl',
  natsUrl: 'nats://127.0.0.1:4222',
  natsToken: 't',
  natsConfigFile: '/data/nats/nats-server.conf',
  internalToken: 'i',
  startedAt: '2026-01-01T00:00:00.000Z',
}

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-runtime-'))
  path = join(folder, 'runtime.json')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function change(fields: Record<string, unknown>): Promise<void> {
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...fields }))
}

describe('the runtime file', () => {
  it('brings the running instance back, privately', async () => {
    await writeRuntimeFile(folder, info)
    expect(await readRuntimeFile(folder)).toMatchObject({ ...info, pid: process.pid })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['runtime.json'])
  })

  it('is absent when there is no file, no folder, or no sense in it', async () => {
    expect(await readRuntimeFile(folder)).toBeUndefined()
    expect(await readRuntimeFile(join(folder, 'missing'))).toBeUndefined()
    await writeFile(path, '{"pid":')
    expect(await readRuntimeFile(folder)).toBeUndefined()
    await writeFile(path, JSON.stringify({ pid: process.pid, startId: '' }))
    expect(await readRuntimeFile(folder)).toBeUndefined()
  })

  it.each([
    ['its process is gone', { pid: 5_000_000 }],
    ['its pid belongs to another process now', { startId: 'another' }],
  ])('is absent when %s', async (_case, fields) => {
    await writeRuntimeFile(folder, info)
    await change(fields)
    expect(await readRuntimeFile(folder)).toBeUndefined()
  })

  it('is removed by its own process only', async () => {
    await writeRuntimeFile(folder, info)
    await change({ pid: 1 })
    await removeRuntimeFile(folder)
    expect(await readdir(folder)).toEqual(['runtime.json'])
    await writeRuntimeFile(folder, info)
    await removeRuntimeFile(folder)
    await removeRuntimeFile(folder)
    expect(await readdir(folder)).toEqual([])
  })
})
