// Small private files that are either there completely or not at all, also after a crash: written
// beside their place with mode 0600, forced to disk, then moved in. Never writes through the real name.

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, readFile, rename, unlink } from 'node:fs/promises'

export const PRIVATE_MODE = 0o600

/** Writes the content to a new file beside `path` and returns its name. */
export async function writeBeside(path: string, content: string): Promise<string> {
  const beside = `${path}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  const file = await open(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, PRIVATE_MODE)
  try {
    // The mode given to open() is cut by the umask; nothing here may depend on that.
    await file.chmod(PRIVATE_MODE)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  return beside
}

export async function replaceFile(path: string, content: string): Promise<void> {
  const beside = await writeBeside(path, content)
  try {
    await rename(beside, path)
  } catch (error) {
    await unlink(beside).catch(() => undefined)
    throw error
  }
}

/** False when the file is there already; it is then left as it is. */
export async function createFile(path: string, content: string): Promise<boolean> {
  const beside = await writeBeside(path, content)
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

/** The text of a file, or undefined when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
