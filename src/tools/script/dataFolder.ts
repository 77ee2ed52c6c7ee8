// The one folder whose files steps may read and write by name. Paths are judged by where they really lead: neither `..`
// nor a link leaves the folder.
import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { ToolFailure } from '../../domain/tool/toolFailure.js'

export interface DataFolder {
  /** The real path of a file that is there. */
  existing(path: string): Promise<string>
  /** The real path of a file that may be made, with the folders above it. */
  writable(path: string): Promise<string>
}

export function createDataFolder(folder: string): DataFolder {
  function inside(path: string): string {
    const plain = path.replace(/^file:\/\//, '')
    return isAbsolute(plain) ? resolve(plain) : join(resolve(folder), plain)
  }

  async function checked(real: string, path: string): Promise<string> {
    const root = await realpath(folder)
    if (real === root || real.startsWith(root + sep)) return real
    throw new ToolFailure('config', `${path} is outside of the data folder of the worker (NOETL_CP_WORKER_DATA_DIR)`)
  }

  return {
    existing: async (path) => {
      let real: string
      try {
        real = await realpath(inside(path))
      } catch {
        throw new ToolFailure('not_found', `there is no file ${path} in the data folder of the worker`)
      }
      return checked(real, path)
    },
    writable: async (path) => {
      const wanted = inside(path)
      await mkdir(folder, { recursive: true })
      // The folders on the way are made only when their names stay inside; links among them are judged below.
      const root = resolve(folder)
      if (wanted !== root && !wanted.startsWith(root + sep)) await checked(wanted, path)
      await mkdir(dirname(wanted), { recursive: true })
      const real = join(await realpath(dirname(wanted)), basename(wanted))
      await checked(real, path)
      // The file itself may be a link.
      return checked(await realpath(real).catch(() => real), path)
    },
  }
}
