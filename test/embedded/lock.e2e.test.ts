// Promise: of many processes that start at the same moment on the lock of a dead one, one gets it.

import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { CHECKOUT, cleanUp, newFolder, until } from './embeddedHost.js'

const RACERS = 8
const racers: ChildProcess[] = []

afterEach(async () => {
  for (const racer of racers.splice(0)) racer.kill('SIGKILL')
  await cleanUp()
})

it('one of many processes wins, and again after the winner was killed', async () => {
  const folder = await newFolder(0o700)
  const path = join(folder, 'daemon.lock')
  await writeFile(path, JSON.stringify({ pid: 5_000_000, startId: 'x', nonce: 'dead' }))

  for (let round = 0; round < 3; round += 1) {
    const outputs = await race(path)
    expect(outputs.filter((output) => output === 'won')).toHaveLength(1)
    expect(outputs.filter((output) => output === 'refused')).toHaveLength(RACERS - 1)
    expect((await readdir(folder)).filter((name) => !name.endsWith('.tmp'))).toEqual(['daemon.lock'])
    for (const racer of racers.splice(0)) {
      racer.kill('SIGKILL')
      await until(() => racer.signalCode ?? undefined, 'the racer is gone')
    }
  }
})

async function race(path: string): Promise<string[]> {
  const script = join(CHECKOUT, 'test', 'embedded', 'lockRacer.mjs')
  const said = new Map<ChildProcess, string>()
  for (let at = 0; at < RACERS; at += 1) {
    const racer = spawn(process.execPath, [script, CHECKOUT, path], { stdio: ['pipe', 'pipe', 'inherit'] })
    racers.push(racer)
    said.set(racer, '')
    racer.stdout?.on('data', (chunk: Buffer) => said.set(racer, (said.get(racer) ?? '') + chunk.toString('utf8')))
  }
  const lines = (count: number) => () => {
    const all = [...said.values()].map((text) => text.split('\n').slice(0, -1))
    return all.every((one) => one.length >= count) ? all.map((one) => one[count - 1] ?? '') : undefined
  }
  await until(lines(1), 'all racers stand ready')
  for (const racer of racers) racer.stdin?.write('go\n')
  return until(lines(2), 'all racers have tried')
}
