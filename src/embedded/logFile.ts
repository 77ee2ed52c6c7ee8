// The output of a child process: a private file that the child writes to directly, so it needs no rights
// on the folder and nothing is lost when we die. Kept bounded by moving the text to `.1` and cutting the
// file. It must be opened for appending only, or the child would leave a hole after the cut.

import { constants, statSync } from 'node:fs'
import { copyFile, type FileHandle, open, truncate } from 'node:fs/promises'
import { PRIVATE_MODE } from './atomicFile.js'

export interface LogFile {
  path: string
  fd: number
  /** The end of what was written since `from` (a byte position of size()). */
  tail(lines: number, from?: number): Promise<string>
  size(): number
  close(): Promise<void>
}

const TAIL_BYTES_MAX = 16_384
const CHECK_EVERY_MS = 30_000

export async function openLogFile(path: string, bytesMax: number): Promise<LogFile> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
  const file = await open(path, flags, PRIVATE_MODE)
  await file.chmod(PRIVATE_MODE)
  await cutWhenLarge(path, bytesMax)
  const timer = setInterval(() => {
    // A full disk or a removed file must not take the daemon down; the next look tries again.
    cutWhenLarge(path, bytesMax).catch(() => undefined)
  }, CHECK_EVERY_MS)
  timer.unref()
  let closed = false
  return {
    path,
    fd: file.fd,
    size: () => sizeOf(path),
    tail: (lines, from = 0) => readTail(file, lines, from),
    async close() {
      if (closed) return
      closed = true
      clearInterval(timer)
      await file.close()
    },
  }
}

async function cutWhenLarge(path: string, bytesMax: number): Promise<void> {
  if (sizeOf(path) <= bytesMax) return
  await copyFile(path, `${path}.1`)
  await truncate(path, 0)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

async function readTail(file: FileHandle, lines: number, from: number): Promise<string> {
  const { size } = await file.stat()
  const start = Math.max(from <= size ? from : 0, size - TAIL_BYTES_MAX)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
  return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-lines).join('\n')
}
