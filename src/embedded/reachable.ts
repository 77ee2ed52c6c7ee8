// Whether another user can get at a path: every folder on the way must let it pass, and the thing itself
// must give the rights asked for. Judges by owner and mode bits alone and changes nothing. Extra groups
// do not count, because a child started under another user has only its main one.

import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

export const READ = 4
export const PASS = 1

export interface Ownership {
  uid: number
  gid: number
  mode: number
}

export function grants(entry: Ownership, user: { uid: number; gid: number }, rights: number): boolean {
  const shift = entry.uid === user.uid ? 6 : entry.gid === user.gid ? 3 : 0
  return ((entry.mode >> shift) & rights) === rights
}

/** The first path on the way that stops the user, or undefined when nothing does. */
export async function findBarrier(
  path: string,
  user: { uid: number; gid: number },
  rights: number,
): Promise<string | undefined> {
  const real = await realpath(path)
  const folders: string[] = []
  for (let at = dirname(real); ; at = dirname(at)) {
    folders.unshift(at)
    if (dirname(at) === at) break
  }
  for (const folder of folders) {
    if (folder !== real && !grants(await stat(folder), user, PASS)) return folder
  }
  return grants(await stat(real), user, rights) ? undefined : real
}
