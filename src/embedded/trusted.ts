// Whether a place is ours alone. Root acts on files for others and must not be led anywhere by them: whoever can write
// a folder on the way to a file decides what that file is. An ordinary user only looks at the folder itself, because
// nothing is gained by leading somebody to his own files.

import { lstat, readlink, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { CpError } from '../errors.js'
import { hasCode } from './atomicFile.js'

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
const STICKY = 0o1000
const LINKS_MAX = 40

export async function assertOursAlone(folder: string, asRoot: boolean): Promise<void> {
  if (!asRoot) return assertOwn(folder)
  const info = await lstat(folder)
  if (info.isSymbolicLink()) {
    throw refuse(folder, 'is a link, which root does not follow; name the folder itself, or mount it there')
  }
  // Before the way to it: whose folder it is tells its owner more than who could exchange it.
  if (info.uid !== 0) throw refuse(folder, belongsTo(info.uid))
  await assertWay(folder, LINKS_MAX)
  if ((info.mode & (GROUP_WRITES | OTHERS_WRITE)) !== 0) throw writable(folder)
}

/** For root, before a folder is made: what is already there of the way to it. */
export async function assertWayToNew(folder: string): Promise<void> {
  await assertWay(folder, LINKS_MAX).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}

async function assertOwn(folder: string): Promise<void> {
  const info = await stat(folder)
  const uid = process.getuid?.() ?? info.uid
  if (info.uid !== uid && info.uid !== 0) throw refuse(folder, belongsTo(info.uid))
  const isOwnGroup = process.getgroups?.().includes(info.gid) ?? true
  const strangers = OTHERS_WRITE | (isOwnGroup ? 0 : GROUP_WRITES)
  if ((info.mode & strangers) !== 0) throw writable(folder)
}

/** Every folder from the root of the file system on belongs to root, and nobody else can exchange what is in it. */
async function assertWay(path: string, linksLeft: number): Promise<void> {
  if (linksLeft === 0) throw refuse(path, 'is reached by too many links')
  let at: string = sep
  for (const name of ['', ...path.split(sep).filter((part) => part !== '')]) {
    at = resolve(at, name)
    const info = await lstat(at)
    // No folder can be made below it; who tries gets the reason.
    if (!info.isDirectory() && !info.isSymbolicLink()) return
    if (info.uid !== 0) throw refuse(at, belongsTo(info.uid))
    // Of a folder with the sticky bit, such as /tmp, only owners can exchange entries.
    const isOpen = (info.mode & (GROUP_WRITES | OTHERS_WRITE)) !== 0 && (info.mode & STICKY) === 0
    const isGroupOfRoot = (info.mode & OTHERS_WRITE) === 0 && info.gid === 0
    if (!info.isSymbolicLink() && isOpen && !isGroupOfRoot) throw writable(at)
    if (info.isSymbolicLink()) await assertWay(resolve(dirname(at), await readlink(at)), linksLeft - 1)
  }
}

function belongsTo(uid: number): string {
  return `belongs to the user with uid ${uid}; start noetl-cp as that user, or choose another folder with --data-dir`
}

function writable(folder: string): CpError {
  return refuse(folder, `can be written by other users; close it with: chmod go-w ${folder}`)
}

function refuse(path: string, why: string): CpError {
  return new CpError('refused', `the data folder cannot be used: ${path} ${why}`)
}
