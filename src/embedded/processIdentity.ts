// Who a process is. A pid alone proves nothing, since the system gives it away again; pid and start time
// together do. Also finds running servers by their command line. It only looks: it never sends a signal.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

export interface ProcessIdentity {
  pid: number
  /** Boot and start time on Linux, the start time of `ps` elsewhere; empty when the system hides it. */
  startId: string
}

const HAS_PROC = existsSync('/proc/self/stat')
const PS_DEADLINE_MS = 5_000

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startId: startIdOf(process.pid) ?? '' }
}

/** Whether this very process still runs, and not just another one that got its pid. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (!isAlive(identity.pid)) return false
  if (identity.startId === '') return true
  const now = startIdOf(identity.pid)
  return now === undefined ? isAlive(identity.pid) : now === identity.startId
}

/** False for a zombie too: it holds nothing any more. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Not permitted means: it is there, but it belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  return statFields(pid)?.[0] !== 'Z'
}

export interface ProcessSearch {
  /** The file name of the program, such as `postgres`. */
  program: string
  /** One whole argument of its command line. */
  argument: string
}

export function findProcesses(search: ProcessSearch): number[] {
  return HAS_PROC ? findInProc(search) : findWithPs(search)
}

/** Processes of a program by their working folder: the only trace of a Postgres backend without a postmaster. */
export function findWorkingIn(program: string, folder: string): number[] {
  if (!HAS_PROC) return []
  return procPids().filter((pid) => {
    const name = readProc(pid, 'comm')?.trim()
    return name === program && linkTarget(`/proc/${pid}/cwd`) === folder
  })
}

function findInProc(search: ProcessSearch): number[] {
  return procPids().filter((pid) => {
    const words = readProc(pid, 'cmdline')?.split('\0') ?? []
    return basename(words[0] ?? '') === search.program && words.slice(1).includes(search.argument)
  })
}

function findWithPs(search: ProcessSearch): number[] {
  const listing = ps(['-axww', '-o', 'pid=,args='])
  return listing.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || command === undefined) return []
    const at = command.indexOf(` ${search.argument}`)
    // ps joins the words with blanks, so a program path with blanks is cut only at the argument we know.
    const program = at < 0 ? '' : basename(command.slice(0, at).split(' -')[0] ?? '')
    return program === search.program ? [Number(pid)] : []
  })
}

function startIdOf(pid: number): string | undefined {
  if (!HAS_PROC) return ps(['-o', 'lstart=', '-p', String(pid)]).trim() || undefined
  const ticks = statFields(pid)?.[19]
  return ticks === undefined ? undefined : `${bootId()}/${ticks}`
}

/** The fields of /proc/<pid>/stat after the name, which may itself hold blanks and brackets. */
function statFields(pid: number): string[] | undefined {
  const text = HAS_PROC ? readProc(pid, 'stat') : undefined
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')
}

// Start times count from boot, so the same numbers may return after one.
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return 'unknown-boot'
  }
}

function procPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function ps(words: string[]): string {
  const result = spawnSync('ps', words, {
    encoding: 'utf8',
    timeout: PS_DEADLINE_MS,
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
  })
  return result.status === 0 ? result.stdout : ''
}
