// What root hands to the user that runs the servers: the two folders with their data, and nothing around them. Root
// itself works only in folders of its own, so that nothing in a folder that was given away can lead it elsewhere.

import { chmod, cp, lchown, lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CpError } from '../errors.js'
import { hasCode } from './atomicFile.js'
import type { LogFile } from './logFile.js'
import { runTool } from './runTool.js'
import type { ServiceUser } from './serviceUser.js'

export const PASSABLE_DIR_MODE = 0o711
const PRIVATE_DIR_MODE = 0o700
const EMPTY_DEADLINE_MS = 120_000

/** Older versions gave the folder around the data away as well. */
export async function takeBack(folder: string): Promise<void> {
  const info = await lstat(folder)
  if (!info.isDirectory()) throw new CpError('refused', `${folder} is no folder; move it away`)
  if (info.uid !== 0) await lchown(folder, 0, 0)
  if ((info.mode & 0o777) !== PASSABLE_DIR_MODE) await chmod(folder, PASSABLE_DIR_MODE)
}

/** An empty folder, or one that only we could enter so far, with everything in it. */
export async function giveAway(folder: string, user: ServiceUser | undefined): Promise<void> {
  await mkdir(folder, { mode: PRIVATE_DIR_MODE }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
  if (user === undefined) return
  const info = await lstat(folder)
  if (!info.isDirectory()) throw new CpError('refused', `${folder} is no folder; move it away`)
  if (info.uid === 0) await chownTree(folder, user)
}

/** The top last: as long as it is ours nobody is inside. */
async function chownTree(folder: string, user: ServiceUser): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await chownTree(path, user)
    else await lchown(path, user.uid, user.gid)
  }
  await lchown(folder, user.uid, user.gid)
}

/** Removes a folder that may have been given away: what is inside as its user. */
export async function removeGivenAway(folder: string, user: ServiceUser | undefined, log: LogFile): Promise<void> {
  if (user === undefined) return rm(folder, { recursive: true, force: true })
  const info = await lstat(folder)
  if (!info.isDirectory()) return rm(folder)
  if (info.uid !== 0) {
    const words = ['-c', 'cd "$1" && rm -rf -- ..?* .[!.]* *', 'sh', folder]
    const spec = { name: 'rm', program: '/bin/sh', args: words, deadlineMs: EMPTY_DEADLINE_MS, signal: undefined }
    await runTool({ ...spec, user: { ...user, uid: info.uid, gid: info.gid } }, log)
  }
  await rmdir(folder)
}

/** Moves a folder that is still ours, also to another file system. */
export async function moveFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error
    await cp(from, `${to}.moving`, { recursive: true, verbatimSymlinks: true })
    await rename(`${to}.moving`, to)
    await rm(from, { recursive: true })
  }
}
