// Decides where the Postgres cluster lives and who runs it. An ordinary user keeps it in the data folder
// and runs it. Root must hand it to an unprivileged user; when that user cannot get into the data folder,
// the cluster goes under `sharedRoot` and a pointer in the data folder says where. Once a place is chosen
// it is kept: a cluster is never silently replaced by an empty one.

import { createHash, randomBytes } from 'node:crypto'
import { chown, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CpError } from '../errors.js'
import { hasCode, readIfPresent, replaceFile } from './atomicFile.js'
import { type DataFolder, makeFolder } from './dataFolder.js'
import { findBarrier, PASS } from './reachable.js'
import { findServiceUser, type ServiceUser } from './serviceUser.js'

export interface Placement {
  /** Holds the cluster in `data`; owned by the user that runs Postgres. */
  folder: string
  data: string
  /** Undefined: Postgres runs as we do. */
  user: ServiceUser | undefined
  outside: boolean
}

export const SHARED_ROOT = '/var/lib/noetl-cp/embedded'
const CLUSTER_FOLDER_MODE = 0o700

export async function placePostgres(folder: DataFolder, asRoot: boolean, sharedRoot: string): Promise<Placement> {
  const pointerFile = join(folder.postgres, 'location.json')
  const pointed = await readPointer(pointerFile)
  if (pointed !== undefined) return settle(pointed, asRoot, true)
  if (!asRoot || (await exists(join(folder.postgres, 'data')))) return settle(folder.postgres, asRoot, false)

  const user = await findServiceUser()
  if ((await findBarrier(folder.postgres, user, PASS)) === undefined) return settle(folder.postgres, asRoot, false)
  const hash = createHash('sha256').update(folder.root).digest('hex').slice(0, 16)
  // The random part keeps a removed and newly made data folder away from the database of the old one.
  const outside = join(sharedRoot, `${hash}-${randomBytes(3).toString('hex')}`)
  await makeFolder(sharedRoot, 0o711)
  await makeFolder(outside, CLUSTER_FOLDER_MODE)
  await replaceFile(join(outside, 'owner.json'), `${JSON.stringify({ dataDir: folder.root }, null, 2)}\n`)
  await replaceFile(pointerFile, `${JSON.stringify({ postgres: outside }, null, 2)}\n`)
  return settle(outside, asRoot, true)
}

async function settle(folder: string, asRoot: boolean, outside: boolean): Promise<Placement> {
  // Postgres records its folder by the real path, and processes are recognised by it.
  const real = await realpath(folder)
  const data = join(real, 'data')
  if (!asRoot) return { folder: real, data, user: undefined, outside }
  const user = (await ownerOf(data)) ?? (await findServiceUser())
  await chown(real, user.uid, user.gid)
  const barrier = await findBarrier(real, user, PASS)
  if (barrier !== undefined) {
    throw new CpError(
      'refused',
      `user ${user.name}, who runs Postgres for root, cannot enter ${barrier} on the way to the database in ${real}; ` +
        `allow it with: chmod o+x ${barrier}`,
    )
  }
  return { folder: real, data, user, outside }
}

/** An existing cluster stays with the user that made it, also when a better candidate appears later. */
async function ownerOf(data: string): Promise<ServiceUser | undefined> {
  const info = await stat(data).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (info === undefined) return undefined
  if (info.uid !== 0) return { name: `uid ${info.uid}`, uid: info.uid, gid: info.gid }
  throw new CpError(
    'refused',
    `the Postgres cluster in ${data} belongs to root, and Postgres refuses to run as root; give it to the user that ` +
      `ran it before, for example: chown -R postgres: ${data}`,
  )
}

async function readPointer(path: string): Promise<string | undefined> {
  const text = await readIfPresent(path)
  if (text === undefined) return undefined
  let place: unknown
  try {
    place = (JSON.parse(text) as { postgres?: unknown }).postgres
  } catch {
    place = undefined
  }
  if (typeof place !== 'string') {
    throw new CpError('corrupt', `${path} does not say where the database lives; restore it from a backup`)
  }
  if (!(await exists(place))) {
    throw new CpError(
      'refused',
      `the database of this data folder lived in ${place}, which is gone; restore it, or remove ${path} to begin with an empty one`,
    )
  }
  return place
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}
