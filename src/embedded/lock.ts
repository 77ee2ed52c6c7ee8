// One daemon per data folder. The lock file names its holder (pid and start time) and appears whole, by
// link(2). The lock of a dead process is taken over under a second lock named after the dead one, so of
// several starters that all saw it dead exactly one replaces it. It must never replace a lock it has not
// just read under that guard, and never remove one that is not its own.

import { randomBytes } from 'node:crypto'
import { rename, unlink } from 'node:fs/promises'
import { CpError } from '../errors.js'
import { createFile, readIfPresent, writeBeside } from './atomicFile.js'
import { pause } from './pollUntil.js'
import { isRunning, ownIdentity, type ProcessIdentity } from './processIdentity.js'

export interface Lock {
  path: string
  release(): Promise<void>
}

interface LockEntry extends ProcessIdentity {
  nonce: string
}

type Attempt = { held: LockEntry } | { heldBy: ProcessIdentity }

const ATTEMPTS_MAX = 50
const RETRY_MS = 40
/** A guard lives for milliseconds; dead ones nest only when starters are killed inside it. */
const GUARD_DEPTH_MAX = 8

/** Refuses with the pid of the process that holds the lock of `folder`. */
export async function acquireLock(path: string, folder: string): Promise<Lock> {
  const attempt = await tryAcquire(path, 0)
  if ('heldBy' in attempt) {
    const { pid } = attempt.heldBy
    const who = pid === process.pid ? `this same process (pid ${pid})` : `process ${pid}`
    throw new CpError(
      'refused',
      `the data folder ${folder} is in use by ${who}; stop it first (kill ${pid}), or choose another folder with --data-dir`,
      { details: { pid, folder } },
    )
  }
  const { nonce } = attempt.held
  return { path, release: () => removeOwn(path, nonce) }
}

async function tryAcquire(path: string, depth: number): Promise<Attempt> {
  const entry: LockEntry = { ...ownIdentity(), nonce: randomBytes(8).toString('hex') }
  const content = `${JSON.stringify(entry)}\n`
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (await createFile(path, content)) return { held: entry }
    const current = await readEntry(path)
    if (current === undefined) continue
    if (isRunning(current)) return { heldBy: current }
    if (depth >= GUARD_DEPTH_MAX) break
    if (await takeOver(path, current, content, depth)) return { held: entry }
    // Another starter is busy with the same dead lock; spread the next looks.
    await pause(RETRY_MS * (0.5 + randomBytes(1).readUInt8() / 256))
  }
  throw new CpError('timeout', `could not take the lock ${path}; if no noetl-cp runs on that folder, remove the file`)
}

async function takeOver(path: string, dead: LockEntry, content: string, depth: number): Promise<boolean> {
  const guardPath = `${path}.${dead.nonce}`
  const guard = await tryAcquire(guardPath, depth + 1)
  if ('heldBy' in guard) return false
  try {
    if ((await readEntry(path))?.nonce !== dead.nonce) return false
    await rename(await writeBeside(path, content), path)
    return true
  } finally {
    await removeOwn(guardPath, guard.held.nonce)
  }
}

async function removeOwn(path: string, nonce: string): Promise<void> {
  if ((await readEntry(path))?.nonce === nonce) await unlink(path)
}

async function readEntry(path: string): Promise<LockEntry | undefined> {
  const text = await readIfPresent(path)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && 'pid' in value && 'startId' in value && 'nonce' in value) {
      return { pid: Number(value.pid), startId: String(value.startId), nonce: String(value.nonce) }
    }
  } catch {
    // Falls through: a lock cut short by a power failure has no living holder.
  }
  return { pid: 0, startId: '', nonce: 'unreadable' }
}
