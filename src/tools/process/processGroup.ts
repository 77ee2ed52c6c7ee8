// Runs a program of a step in a process group of its own, and leaves nothing of it behind. A small shell leads the group:
// it runs the program, tells its exit code, and stays until it is killed with all that is left, so that the number of the
// group cannot mean anything else meanwhile. It hangs on a pipe from us: when we die, it kills the group.
// What made itself a session of its own is known by a variable in its environment (Linux).
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { OutputCut } from '../../domain/tool/outputCut.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { messageOf } from '../../errors.js'
import type { OutputStream } from '../tool.js'
import { TERM_GRACE_MS } from './endingSignals.js'
import { killMarked } from './markedProcesses.js'
import type { Environment } from './toolEnvironment.js'

export interface ProgramSpec {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: Environment
  readonly signal: AbortSignal
  readonly onOutput: ((stream: OutputStream, chunk: Buffer) => void) | undefined
}

export interface ProgramEnd {
  /** 128 + n when signal n ended it. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

// The leader handles TERM by doing nothing, so that its children have the signal as usual; what it says itself goes nowhere.
// 3: exit code to us. 4: from us, and never written. 5: errors of the program.
const LEADER = `trap : TERM HUP INT QUIT
exec 5>&2 2>/dev/null
(trap '' TERM HUP INT QUIT; exec >/dev/null 3>&- 5>&-; read -r end <&4; kill -s KILL 0) &
"$@" 2>&5 3>&- 4<&- 5>&- </dev/null
echo "$?" >&3
exec >/dev/null 3>&- 5>&-
read -r end <&4
kill -s KILL 0
`
/** How long output may still come when all processes are gone. */
const DRAIN_MS = 1_000
const MARK = 'NOETL_CP_RUN'

export async function runProgram(spec: ProgramSpec): Promise<ProgramEnd> {
  const { signal } = spec
  if (signal.aborted) throw signal.reason
  const mark = randomBytes(12).toString('hex')
  const child = spawn('/bin/sh', ['-c', LEADER, 'noetl-cp-step', spec.program, ...spec.args], {
    detached: true,
    cwd: spec.cwd,
    env: { ...spec.environment, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  const stdout = collect(child.stdout as Readable, 'stdout', spec)
  const stderr = collect(child.stderr as Readable, 'stderr', spec)
  const stopper = new Stopper(child)
  const onAbort = (): void => stopper.stop()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const exitCode = await ended(child)
    stopper.killGroup()
    await killMarked(`${MARK}=${mark}`, child.pid ?? 0)
    await Promise.race([Promise.all([closed(child.stdout), closed(child.stderr)]), pauseMs(DRAIN_MS)])
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? `no folder ${spec.cwd}` : messageOf(error)
    throw new ToolFailure('config', `the program cannot be started: ${why}`, { cause: error })
  } finally {
    signal.removeEventListener('abort', onAbort)
    stopper.done()
    for (const stream of child.stdio) stream?.destroy()
  }
}

function collect(stream: Readable, name: OutputStream, { onOutput }: ProgramSpec): OutputCut {
  const cut = new OutputCut()
  stream.on('error', () => undefined)
  stream.on('data', (chunk: Buffer) => {
    cut.add(chunk)
    onOutput?.(name, chunk)
  })
  return cut
}

/** The exit code that the leader tells; of the leader itself when it was killed before it could. */
function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let told = ''
    const code = child.stdio[3] as Readable
    for (const pipe of [child.stdio[3], child.stdio[4]]) pipe?.on('error', () => undefined)
    code.on('data', (chunk: Buffer) => {
      told += chunk.toString('latin1')
      if (told.includes('\n')) resolve(Number.parseInt(told, 10))
    })
    child.once('error', reject)
    child.once('exit', (exitCode, signal) => {
      // What it told may still be on its way.
      setImmediate(() =>
        resolve(told === '' ? (exitCode ?? (signal === 'SIGKILL' ? 137 : 143)) : Number.parseInt(told, 10)),
      )
    })
  })
}

class Stopper {
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly child: ChildProcess) {}

  stop(): void {
    this.signalGroup('SIGTERM')
    this.timer = setTimeout(() => this.killGroup(), TERM_GRACE_MS)
  }

  killGroup(): void {
    this.signalGroup('SIGKILL')
  }

  /** Only while its leader has not been waited for: afterwards the number may belong to others. */
  private signalGroup(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    try {
      process.kill(-pid, signal)
    } catch {
      // It is gone.
    }
  }

  done(): void {
    clearTimeout(this.timer)
  }
}

function closed(stream: Readable | null): Promise<void> {
  return new Promise((resolve) => {
    if (stream === null || stream.closed) resolve()
    else stream.once('close', () => resolve())
  })
}

function pauseMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
