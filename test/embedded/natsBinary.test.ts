// Promise: nats-server is found where it usually is, and its absence comes with the command that cures it.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findNatsServer } from '../../src/embedded/natsBinary.js'

let folder: string
let program: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-nats-'))
  program = join(folder, 'nats-server')
  await writeFile(program, '#!/bin/sh\n')
  await chmod(program, 0o755)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('findNatsServer', () => {
  it('takes the named program before PATH', async () => {
    expect(await findNatsServer(program, '/usr/bin')).toBe(program)
  })

  it('searches PATH in order and ignores relative entries', async () => {
    expect(await findNatsServer(undefined, `.:relative:${folder}:/usr/bin`)).toBe(program)
  })

  it('never falls back from a named program that cannot be run', async () => {
    await chmod(program, 0o644)
    // Root may "execute" nothing without an x bit either.
    await expect(findNatsServer(program, folder)).rejects.toMatchObject({ code: 'config' })
    await expect(findNatsServer(folder, undefined)).rejects.toMatchObject({ code: 'config' })
  })

  it('gives one command per system when there is none', async () => {
    const found = findNatsServer(undefined, '/nonexistent', [])
    await expect(found).rejects.toMatchObject({ code: 'unavailable' })
    await expect(found).rejects.toThrow(/apt-get install[\s\S]*brew install nats-server[\s\S]*NOETL_CP_NATS_SERVER/)
  })
})
