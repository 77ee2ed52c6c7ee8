// A small file system in memory that can be filled to the last page. Needs the right to mount; without it there is a
// reason to print instead.
import { execFile, execFileSync } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../src/errors.js'

const run = promisify(execFile)

// A run that is interrupted must not leave mounts behind; what still uses them is being killed at the same time.
const mounted = new Set<string>()
process.on('exit', () => {
  for (const folder of mounted) execFileSync('umount', ['-l', folder], { timeout: 10_000 })
})

export interface SmallDisk {
  fill(): Promise<void>
  free(): Promise<void>
  unmount(): Promise<void>
}

export async function mountSmallDisk(folder: string, megabytes: number): Promise<SmallDisk | string> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder], { timeout: 10_000 })
  } catch (error) {
    return messageOf(error).split('\n').at(1) || messageOf(error)
  }
  mounted.add(folder)
  const ballast = join(folder, 'ballast')
  return {
    fill: async () => {
      const file = await open(ballast, 'w')
      try {
        for (const size of [1 << 20, 1 << 12]) await writeUntilFull(file, Buffer.alloc(size))
      } finally {
        await file.close()
      }
    },
    free: () => rm(ballast, { force: true }),
    unmount: async () => {
      mounted.delete(folder)
      await run('umount', ['-l', folder], { timeout: 10_000 })
    },
  }
}

async function writeUntilFull(file: { write(data: Buffer): Promise<unknown> }, chunk: Buffer): Promise<void> {
  for (;;) {
    try {
      await file.write(chunk)
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOSPC') return
      throw error
    }
  }
}
