// Starts a program so that it cannot outlive us. A small shell holds a pipe from this process: when we end
// in any way, kill -9 included, the pipe closes and the shell stops the program, gently first, and waits
// for it. The shell has its own session, so Ctrl-C in our terminal reaches neither, and it ignores every
// signal that can be ignored. Nobody but this process may ever hold the writing end of that pipe.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { CpError, messageOf } from '../errors.js'
import { pollUntil } from './pollUntil.js'
import type { ServiceUser } from './serviceUser.js'

export type StopSignal = 'INT' | 'TERM' | 'QUIT' | 'KILL'

export interface StopStep {
  signal: StopSignal
  waitMs: number
}

export interface LeashSpec {
  /** For messages: "Postgres", "initdb". */
  name: string
  program: string
  args: readonly string[]
  /** Undefined: as ourselves. */
  user: ServiceUser | undefined
  /** The program's output goes here. */
  logFd: number
  /** A file the program reads as its input; nothing when undefined. */
  inputFile?: string | undefined
  /** What the shell does by itself once we are gone; a KILL follows when these did not help. */
  whenAbandoned: readonly [StopStep, StopStep]
}

export interface LeashedChild {
  readonly pid: number
  readonly exitCode: number | undefined
  /** Resolves with the exit code; 128 + n when signal n ended it. */
  readonly exited: Promise<number>
  /** Sends each signal in turn until the program is gone. False when even the last one did not help. */
  stop(steps: readonly StopStep[]): Promise<boolean>
}

const PID_DEADLINE_MS = 15_000
const TENTH_MS = 100

// Why it is written like this:
// - Programs started with & by a shell without job control have INT and QUIT ignored, and some shells do
//   not let the subshell undo that. Postgres installs its own handlers for both, nats-server is stopped
//   with TERM; programs that keep INT ignored must not be stopped with it.
// - Two processes: one waits for the program and ends with its exit code, one reads the pipe.
// - A stopped program (SIGSTOP) acts on a signal only after CONT.
const SCRIPT = `# noetl-cp leash: stops the program below when noetl-cp ends
trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
exec 3<&0 </dev/null
input=$1 first=$2 first_tenths=$3 second=$4 second_tenths=$5
shift 5
(trap - HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU; exec "$@" <"$input" >&2 3<&-) &
child=$!
echo "$child"
exec >&2
(
  exec <&3 3<&-
  while IFS= read -r wanted; do
    kill -s "$wanted" "$child" && kill -s CONT "$child"
  done
  stop() {
    { kill -s "$1" "$child" && kill -s CONT "$child"; } || exit 0
    left=$2
    while [ "$left" -gt 0 ]; do
      kill -0 "$child" || exit 0
      sleep 0.1 || sleep 1
      left=$((left - 1))
    done
  }
  stop "$first" "$first_tenths"
  stop "$second" "$second_tenths"
  stop KILL 50
) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$child"
status=$?
exec 2>/dev/null
kill -s KILL "$watcher"
wait "$watcher"
exit "$status"
`

// The script travels in the environment, so that `ps` shows one readable line and not all of it; a file would
// have to lie where the other user can read it.
const LAUNCH = 'leash=$NOETL_LEASH; unset NOETL_LEASH; eval "$leash"'

export async function startLeashed(spec: LeashSpec): Promise<LeashedChild> {
  const [first, second] = spec.whenAbandoned
  const tenths = (step: StopStep) => String(Math.ceil(step.waitMs / TENTH_MS))
  const words = [spec.inputFile ?? '/dev/null', first.signal, tenths(first), second.signal, tenths(second)]
  const shell = spawn('/bin/sh', ['-c', LAUNCH, 'noetl-cp-leash', ...words, spec.program, ...spec.args], {
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC', NOETL_LEASH: SCRIPT },
    stdio: ['pipe', 'pipe', spec.logFd],
    ...(spec.user === undefined ? {} : { uid: spec.user.uid, gid: spec.user.gid }),
  })
  let exitCode: number | undefined
  const exited = new Promise<number>((resolve) => {
    shell.once('exit', (code) => {
      exitCode = code ?? 137
      // The shell itself may have been killed; letting go of the pipe makes its other half stop the program.
      shell.stdin?.destroy()
      resolve(exitCode)
    })
  })
  const pid = await readPid(shell, spec)
  return {
    pid,
    exited,
    get exitCode() {
      return exitCode
    },
    async stop(steps) {
      for (const step of steps) {
        if (exitCode !== undefined) return true
        shell.stdin?.write(`${step.signal}\n`)
        await pollUntil(() => exitCode, { everyMs: 20, deadlineMs: step.waitMs })
      }
      return exitCode !== undefined
    },
  }
}

async function readPid(shell: ChildProcess, spec: LeashSpec): Promise<number> {
  let failure: unknown
  let text = ''
  shell.once('error', (error) => {
    failure = error
  })
  // Writing to a program that has just ended is not an error worth a crash; its exit is reported anyway.
  shell.stdin?.on('error', () => undefined)
  const output = shell.stdout as Socket | null
  output?.on('error', () => undefined)
  output?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  const pid = await pollUntil(
    () => (failure !== undefined ? 0 : /^(\d+)\n/.test(text) ? Number.parseInt(text, 10) : undefined),
    { everyMs: 5, deadlineMs: PID_DEADLINE_MS },
  )
  if (pid !== undefined && pid > 0) return pid
  shell.stdin?.destroy()
  shell.kill('SIGKILL')
  const as = spec.user === undefined ? '' : ` as user ${spec.user.name}`
  const why = failure === undefined ? `no answer within ${PID_DEADLINE_MS / 1000} s` : messageOf(failure)
  throw new CpError(
    'unavailable',
    `${spec.name} could not be started${as}: ${why}; check that /bin/sh works and that we may start programs for this user, ` +
      'or name the servers with NOETL_DATABASE_URL and NOETL_NATS_URL',
    { cause: failure },
  )
}
