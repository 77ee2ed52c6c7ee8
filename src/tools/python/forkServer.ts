// Our side of the warm Python (python/fork_server.py): one process that has everything imported, a fork of it for each
// call. It is started when first needed, and again when it was killed. What a call starts ends with the call, and all
// of it ends with us: each call hangs on a socket that the system closes when we die.
//
// Never: a call that began a second time. When its process is lost in the middle, the call fails.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OutputCut } from '../../domain/tool/outputCut.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { messageOf } from '../../errors.js'
import { withDeadline } from '../../runtime/deadline.js'
import { PACKAGE_FOLDER } from '../../runtime/packageFolder.js'
import { type PythonAnswer, PythonCall, type PythonCallOptions } from './pythonCall.js'

export interface ForkServerSettings {
  /** `python3`, or the path of an interpreter. */
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
}

export interface ForkServer {
  /** Starts it ahead of the first call. */
  warm(): Promise<void>
  call(request: string, options: PythonCallOptions): Promise<PythonAnswer>
  close(): Promise<void>
}

const SCRIPT = fileURLToPath(new URL('python/fork_server.py', PACKAGE_FOLDER))
// Importing what playbooks use takes a tenth of a second on an idle machine; a loaded one is given time.
const START_DEADLINE_MS = 30_000
const STOP_DEADLINE_MS = 3_000
/** Guardians and leaders that wait for a call, each a fork that shares nearly all of its memory. */
const WAITING = 3
const CONNECT_TRIES = 3
const RESTART_PAUSE_MS = 50

interface Running {
  readonly process: ChildProcess
  readonly folder: string
  readonly socketPath: string
  readonly ended: Promise<void>
}

export function createForkServer(settings: ForkServerSettings): ForkServer {
  let running: Promise<Running> | undefined
  let closed = false

  function current(): Promise<Running> {
    if (closed) return Promise.reject(new ToolFailure('cancelled', 'the worker is stopping'))
    if (running === undefined) {
      const starting = start(settings)
      running = starting
      const forget = (): void => {
        if (running === starting) running = undefined
      }
      starting.then(({ ended }) => void ended.then(forget), forget)
    }
    return running
  }

  return {
    warm: async () => void (await current()),
    call: async (request, options) => {
      for (let tries = 1; ; tries++) {
        const { socketPath } = await current()
        const call = new PythonCall(socketPath, options)
        try {
          return await call.perform(request)
        } catch (error) {
          // The fork server went away before anything of the call happened.
          if (call.hasBegun || options.signal.aborted || tries === CONNECT_TRIES) throw error
          await restartPause()
        }
      }
    },
    close: async () => {
      closed = true
      const server = await running?.catch(() => undefined)
      if (server === undefined) return
      server.process.stdin?.end()
      await withDeadline(server.ended, STOP_DEADLINE_MS, {
        what: 'stopping Python',
        onExpire: () => server.process.kill('SIGKILL'),
      }).catch(() => server.ended)
    },
  }
}

async function start({ program, environment }: ForkServerSettings): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'noetl-cp-python-'))
  const socketPath = join(folder, 'calls')
  // A group of its own: Ctrl-C in our terminal is for us. -B: nothing is written beside the scripts, which may be read-only.
  const child = spawn(program, ['-I', '-B', SCRIPT, socketPath, String(WAITING)], {
    detached: true,
    cwd: folder,
    env: { ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const errors = new OutputCut(4096)
  child.stderr.on('data', (chunk: Buffer) => errors.add(chunk))
  // Writing to one that has just ended; its end is reported anyway.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => {
    child.once('close', resolve)
    child.once('error', () => resolve())
  })
    .then(() => rm(folder, { recursive: true, force: true }))
    // A folder that cannot be removed holds a dead socket and nothing else. Nobody waits for its removal, and a failure
    // here would end the process or keep the next call from starting another Python.
    .catch(() => undefined)
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('error', (error) => reject(notStarted(program, messageOf(error))))
    child.once('close', (code, signal) => reject(notStarted(program, `${signal ?? code}: ${errors.text().trim()}`)))
  })
  await withDeadline(ready, START_DEADLINE_MS, { what: `starting ${program}`, onExpire: () => child.kill('SIGKILL') })
  return { process: child, folder, socketPath, ended }
}

function notStarted(program: string, why: string): ToolFailure {
  return new ToolFailure(
    'config',
    `${program} cannot be started (${why}); install Python 3.8 or newer, or name one with NOETL_CP_WORKER_PYTHON`,
  )
}

/** Time for the end of the old one to be noticed. */
function restartPause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS))
}
