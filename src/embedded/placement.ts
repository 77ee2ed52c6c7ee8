// Decides where the data of the servers lives and who runs them. An ordinary user keeps it in the data folder and runs
// them. Root must hand it to an unprivileged user; when that user cannot get into the data folder, it goes under
// `sharedRoot` and a pointer in the data folder says where. Once a place is chosen it is kept: a database is never
// silently replaced by an empty one. The pointer is trusted only where nobody but root can have written it.

import { createHash, randomBytes } from 'node:crypto'
import { lstat, realpath, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { CpError } from '../errors.js'
import { lstatIfPresent, readIfPresent, replaceFile } from './atomicFile.js'
import { type DataFolder, makeFolder, makeTrustedFolder } from './dataFolder.js'
import { PASSABLE_DIR_MODE, takeBack } from './givenAway.js'
import { findBarrier, PASS } from './reachable.js'
import { findServiceUser, type ServiceUser } from './serviceUser.js'
import { assertOursAlone } from './trusted.js'

export interface Placement {
  /** Ours; holds the cluster in `data`, which belongs to the user that runs Postgres. */
  folder: string
  data: string
  /** Ours; holds the configuration of nats-server, and its store, which belongs to the user as well. */
  nats: string
  /** Undefined: the servers run as we do. */
  user: ServiceUser | undefined
  outside: boolean
}

export const SHARED_ROOT = '/var/lib/noetl-cp/embedded'

export async function placeServers(folder: DataFolder, asRoot: boolean, sharedRoot: string): Promise<Placement> {
  if (!asRoot) {
    // Postgres records its folder by the real path, and processes are recognised by it.
    const real = await realpath(folder.postgres)
    return { folder: real, data: join(real, 'data'), nats: folder.nats, user: undefined, outside: false }
  }
  const pointed = await readPointer(folder)
  if (pointed !== undefined) return settle(pointed, join(pointed, 'nats'), true)
  const inside = () => settle(folder.postgres, folder.nats, false)
  if (await exists(join(folder.postgres, 'data'))) return inside()

  const user = await findServiceUser()
  if ((await findBarrier(folder.postgres, user, PASS)) === undefined) return inside()
  const hash = createHash('sha256').update(folder.root).digest('hex').slice(0, 16)
  // The random part keeps a removed and newly made data folder away from the database of the old one.
  const outside = join(sharedRoot, `${hash}-${randomBytes(3).toString('hex')}`)
  await makeTrustedFolder(sharedRoot, PASSABLE_DIR_MODE, true)
  await makeFolder(outside, PASSABLE_DIR_MODE)
  await replaceFile(join(outside, 'owner.json'), `${JSON.stringify({ dataDir: folder.root }, null, 2)}\n`)
  await replaceFile(folder.locationFile, `${JSON.stringify({ postgres: outside }, null, 2)}\n`)
  return settle(outside, join(outside, 'nats'), true)
}

/** Only for root: what is ours becomes or stays ours, and its user must be able to pass. */
async function settle(folder: string, nats: string, outside: boolean): Promise<Placement> {
  const data = join(folder, 'data')
  // First of all: until it is ours, what is in it can be exchanged between a look and the next step.
  await takeBack(folder)
  const user = (await ownerOf(data)) ?? (await findServiceUser())
  if (outside) await makeFolder(nats, PASSABLE_DIR_MODE)
  await takeBack(nats)
  const barrier = await findBarrier(folder, user, PASS)
  if (barrier !== undefined) {
    throw new CpError(
      'refused',
      `user ${user.name}, who runs the servers for root, cannot enter ${barrier} on the way to the database in ${folder}; ` +
        `allow it with: chmod o+x ${barrier}`,
    )
  }
  return { folder, data, nats, user, outside }
}

/** An existing cluster stays with the user that made it, also when a better candidate appears later. */
async function ownerOf(data: string): Promise<ServiceUser | undefined> {
  const info = await lstatIfPresent(data)
  if (info === undefined) return undefined
  if (!info.isDirectory()) {
    throw new CpError(
      'refused',
      `${data} is no folder; root does not follow links to a database. Move the folder itself there`,
    )
  }
  if (info.uid !== 0) return { name: `uid ${info.uid}`, uid: info.uid, gid: info.gid }
  throw new CpError(
    'refused',
    `the Postgres cluster in ${data} belongs to root, and Postgres refuses to run as root; give it to the user that ` +
      `ran it before, for example: chown -R postgres: ${data}`,
  )
}

async function readPointer(folder: DataFolder): Promise<string | undefined> {
  await moveOlderPointer(folder)
  const path = folder.locationFile
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
  // Older versions gave the folder itself away; whatever is in it, the way to it must be root's.
  await assertOursAlone(join(place, '..'), true)
  return realpath(place)
}

/** It used to lie in a folder that belongs to the user of the servers, unless the cluster is elsewhere. */
async function moveOlderPointer(folder: DataFolder): Promise<void> {
  const older = join(folder.postgres, 'location.json')
  const file = await lstatIfPresent(older)
  if (file === undefined) return
  const isRoots = file.isFile() && file.uid === 0 && (await lstat(folder.postgres)).uid === 0
  if (!isRoots) {
    throw new CpError(
      'refused',
      `${older} was not written by root and is not trusted; if the database is in ${join(folder.postgres, 'data')}, remove that file`,
    )
  }
  await rename(older, folder.locationFile)
}

async function exists(path: string): Promise<boolean> {
  return (await lstatIfPresent(path)) !== undefined
}
