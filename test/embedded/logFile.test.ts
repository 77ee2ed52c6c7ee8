// Promise: a chatty child cannot fill the disk, and its last words can be quoted.

import { appendFileSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLogFile } from '../../src/embedded/logFile.js'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-log-'))
  path = join(folder, 'child.log')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('openLogFile', () => {
  it('moves a large file aside when opened', async () => {
    await writeFile(path, 'x'.repeat(2_000))
    const log = await openLogFile(path, 1_000)
    expect(log.size()).toBe(0)
    expect((await stat(`${path}.1`)).size).toBe(2_000)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await log.close()
    await log.close()
  })

  it('quotes only what came after a position', async () => {
    const log = await openLogFile(path, 1_000)
    appendFileSync(log.fd, 'one\ntwo\n')
    const from = log.size()
    appendFileSync(log.fd, 'three\nfour\nfive\n')
    expect(await log.tail(2, from)).toBe('four\nfive')
    expect(await log.tail(9, from)).toBe('three\nfour\nfive')
    expect(await log.tail(9)).toBe('one\ntwo\nthree\nfour\nfive')
    await log.close()
  })
})
