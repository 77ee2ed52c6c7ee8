// Small private files that are either there completely or not at all, also after a crash: written
// beside their place with mode 0600, forced to disk, then moved in. Never writes through the real name, and never
// follows a link: what is read or changed is the file that was looked at.

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises'
import { CpError } from '../errors.js'

export const PRIVATE_MODE = 0o600
const READ_BYTES_MAX = 1_048_576

/** Who may read a file besides root; undefined is we ourselves. */
export type FileOwner = { uid: number; gid: number } | undefined

/** Writes the content to a new file beside `path` and returns its name. */
export async function writeBeside(path: string, content: string, owner?: FileOwner): Promise<string> {
  const beside = `${path}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  const file = await open(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, PRIVATE_MODE)
  try {
    // The mode given to open() is cut by the umask; nothing here may depend on that.
    await file.chmod(PRIVATE_MODE)
    await file.writeFile(content)
    if (owner !== undefined) await file.chown(owner.uid, owner.gid)
    await file.sync()
  } finally {
    await file.close()
  }
  return beside
}

export async function replaceFile(path: string, content: string, owner?: FileOwner): Promise<void> {
  const beside = await writeBeside(path, content, owner)
  try {
    await rename(beside, path)
  } catch (error) {
    await unlink(beside).catch(() => undefined)
    throw error
  }
}

/** False when the file is there already; it is then left as it is. */
export async function createFile(path: string, content: string, owner?: FileOwner): Promise<boolean> {
  const beside = await writeBeside(path, content, owner)
  try {
    await link(beside, path)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await unlink(beside).catch(() => undefined)
  }
}

/** The text of a file, or undefined when there is none. Neither a link nor a pipe is read: we may be root. */
export function readIfPresent(path: string): Promise<string | undefined> {
  return withFile(path, (file) => file.readFile('utf8'))
}

/** The same for a file of our own that nobody else may read; one that others can read is closed to them. */
export function readPrivate(path: string): Promise<string | undefined> {
  return withFile(path, async (file) => {
    const info = await file.stat()
    // Files made by two users in turn would lock the first one out of its own instance.
    if (process.getuid !== undefined && info.uid !== process.getuid()) {
      throw new CpError(
        'refused',
        `${path} belongs to the user with uid ${info.uid}; start noetl-cp as that user, or choose another folder with --data-dir`,
      )
    }
    if ((info.mode & 0o077) !== 0) await file.chmod(PRIVATE_MODE)
    return file.readFile('utf8')
  })
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    if (hasCode(error, 'ELOOP'))
      throw new CpError('refused', `${path} is a link, which is not followed; put the file itself there`)
    throw error
  }
  try {
    const info = await file.stat()
    if (!info.isFile() || info.size > READ_BYTES_MAX) throw new CpError('refused', `${path} is no ordinary small file`)
    return await use(file)
  } finally {
    await file.close()
  }
}

export async function lstatIfPresent(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
