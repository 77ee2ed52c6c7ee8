// A data folder of a test's own, and the proof that nothing runs in it any more.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processesMentioning } from './processes.js'
import { until } from './until.js'

const folders: string[] = []

export async function newDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'noetl-e2e-'))
  await chmod(folder, 0o755)
  folders.push(folder)
  return join(folder, 'data')
}

/** Servers of a killed daemon are stopped by their leash, within seconds. */
export async function nothingRunsIn(folder: string): Promise<void> {
  await until(`nothing runs in ${folder}`, () => processesMentioning(folder).length === 0)
}

export async function removeDataFolders(): Promise<void> {
  for (const folder of folders.splice(0)) {
    await nothingRunsIn(folder)
    await rm(folder, { recursive: true, force: true })
  }
}
