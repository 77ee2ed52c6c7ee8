// How a subcommand in another terminal finds the daemon of a data folder: a private file with the
// addresses and tokens of the running instance. Written once the daemon serves, removed when it stops.
// A file whose process is gone is treated as absent, so a kill -9 leaves no false trail.

import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { CpError } from '../errors.js'
import { hasCode, readIfPresent, replaceFile } from './atomicFile.js'
import { isRunning, ownIdentity, type ProcessIdentity } from './processIdentity.js'

export interface RuntimeInfo {
  version: string
  httpUrl: string
  databaseUrl: string
  natsUrl: string
  natsToken: string
  /** What our nats-server was started with; absent in a file of an older version. */
  natsConfigFile?: string | undefined
  internalToken: string
  /** Absent in a file of an older version. */
  apiToken?: string | undefined
  startedAt: string
  /** Lives only as long as the run that started it. */
  isPrivate?: boolean
}

export type RunningInstance = RuntimeInfo & ProcessIdentity

const FIELDS: readonly (keyof RuntimeInfo)[] = [
  'version',
  'httpUrl',
  'databaseUrl',
  'natsUrl',
  'natsToken',
  'internalToken',
  'startedAt',
]

export async function writeRuntimeFile(dataDir: string, info: RuntimeInfo): Promise<void> {
  await replaceFile(pathIn(dataDir), `${JSON.stringify({ ...ownIdentity(), ...info }, null, 2)}\n`)
}

/** The running instance of this data folder, or undefined when there is none. */
export async function readRuntimeFile(dataDir: string): Promise<RunningInstance | undefined> {
  const instance = await readInstance(dataDir)
  return instance !== undefined && isRunning(instance) ? instance : undefined
}

/** Leaves the file of another process alone. */
export async function removeRuntimeFile(dataDir: string): Promise<void> {
  const instance = await readInstance(dataDir)
  if (instance === undefined || instance.pid !== process.pid) return
  await unlink(pathIn(dataDir)).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'runtime.json')
}

async function readInstance(dataDir: string): Promise<RunningInstance | undefined> {
  const text = await readIfPresent(pathIn(dataDir)).catch((error: unknown) => {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error
    throw new CpError(
      'forbidden',
      `${pathIn(dataDir)} belongs to another user; run this command as the user that runs noetl-cp (for root: with sudo)`,
      { cause: error },
    )
  })
  if (text === undefined) return undefined
  try {
    const value = JSON.parse(text) as Record<string, unknown>
    if (typeof value['pid'] !== 'number' || FIELDS.some((field) => typeof value[field] !== 'string')) return undefined
    return { ...(value as unknown as RunningInstance), startId: String(value['startId'] ?? '') }
  } catch {
    // Not written by this version; whoever runs there will write it anew.
    return undefined
  }
}
