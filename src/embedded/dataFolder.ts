// The layout of the data folder: postgres, nats and logs, and the small files beside them. Creates what is missing;
// the mode of a folder that exists is not changed.

import { constants } from 'node:fs'
import { access, chmod, lstat, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { CpError, messageOf } from '../errors.js'
import { hasCode, lstatIfPresent } from './atomicFile.js'
import { PASSABLE_DIR_MODE } from './givenAway.js'
import { isAlive } from './processIdentity.js'
import { assertOursAlone, assertWayToNew } from './trusted.js'

export interface DataFolder {
  root: string
  postgres: string
  nats: string
  logs: string
  lockFile: string
  /** Where root's servers keep their data, when that is elsewhere. */
  locationFile: string
  secretsFile: string
  portsFile: string
}

const PRIVATE_DIR_MODE = 0o700

export async function openDataFolder(dataDir: string, asRoot: boolean): Promise<DataFolder> {
  const wanted = resolve(dataDir)
  try {
    const passable = asRoot ? PASSABLE_DIR_MODE : PRIVATE_DIR_MODE
    await makeTrustedFolder(wanted, passable, asRoot)
    const root = await realpath(wanted)
    const folder = layoutOf(root)
    await access(root, constants.R_OK | constants.W_OK | constants.X_OK)
    await makeFolder(folder.postgres, passable)
    await makeFolder(folder.nats, PRIVATE_DIR_MODE)
    await makeFolder(folder.logs, PRIVATE_DIR_MODE)
    if (asRoot) for (const path of [folder.postgres, folder.nats, folder.logs]) await assertRealFolder(path)
    return folder
  } catch (error) {
    if (error instanceof CpError) throw error
    throw new CpError(
      'config',
      `the data folder ${wanted} cannot be used: ${messageOf(error)}. Choose a writable one with --data-dir or NOETL_CP_DATA_DIR`,
      { cause: error },
    )
  }
}

export function layoutOf(root: string): DataFolder {
  return {
    root,
    postgres: join(root, 'postgres'),
    nats: join(root, 'nats'),
    logs: join(root, 'logs'),
    lockFile: join(root, 'daemon.lock'),
    locationFile: join(root, 'location.json'),
    secretsFile: join(root, 'secrets.json'),
    portsFile: join(root, 'ports.json'),
  }
}

async function assertRealFolder(path: string): Promise<void> {
  if ((await lstat(path)).isDirectory()) return
  throw new CpError(
    'refused',
    `${path} is a link, which root does not follow; move the folder itself there, or mount it`,
  )
}

/** Removes what processes that are gone left half-written in a folder: `<name>.<pid>-<random>.tmp`. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = /\.(\d+)-[0-9a-f]+\.tmp$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** As root nothing is made where others could lead us elsewhere, and nothing used that others could exchange. */
export async function makeTrustedFolder(path: string, mode: number, asRoot: boolean): Promise<void> {
  if (asRoot && (await lstatIfPresent(path)) === undefined) await assertWayToNew(path)
  await makeFolder(path, mode)
  await assertOursAlone(path, asRoot)
}

/** Like mkdir -p, but the mode is the one asked for, whatever the umask, and only on what we created. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  if (await makeOne(path, mode)) return
  const parent = dirname(path)
  if (parent !== path) await makeFolder(parent, 0o755)
  // Asked only once more: some places, such as /proc, say "no such folder" although the parent is there.
  if (parent === path || !(await makeOne(path, mode))) {
    throw new Error(`no folder can be made at ${path}: this file system does not take new ones`)
  }
}

/** False when the folder above is missing, or so it is said. */
async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (hasCode(error, 'EEXIST') && (await stat(path)).isDirectory()) return true
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  await chmod(path, mode)
  return true
}
