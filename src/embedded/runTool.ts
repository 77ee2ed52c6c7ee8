// Runs a program that ends by itself, such as initdb, on a leash and under a deadline. Its output is kept
// in the log and quoted when it fails; it must therefore never be given a secret to print.

import { CpError } from '../errors.js'
import { type LeashSpec, startLeashed } from './leash.js'
import type { LogFile } from './logFile.js'
import { pollUntil } from './pollUntil.js'

export type ToolSpec = Omit<LeashSpec, 'logFd' | 'whenAbandoned'> & {
  deadlineMs: number
  signal: AbortSignal | undefined
}

const STOP = [
  { signal: 'TERM', waitMs: 3_000 },
  { signal: 'KILL', waitMs: 3_000 },
] as const

export async function runTool(spec: ToolSpec, log: LogFile): Promise<string> {
  const from = log.size()
  const child = await startLeashed({ ...spec, logFd: log.fd, whenAbandoned: STOP })
  let code: number | undefined
  try {
    code = await pollUntil(() => child.exitCode, { everyMs: 10, deadlineMs: spec.deadlineMs, signal: spec.signal })
  } finally {
    if (code === undefined) await child.stop(STOP)
  }
  const output = await log.tail(20, from)
  if (code === 0) return output
  if (code === undefined) {
    throw new CpError(
      'timeout',
      `${spec.name} did not end within ${spec.deadlineMs / 1000} s; its last lines:\n${output}`,
    )
  }
  throw new CpError('unavailable', `${spec.name} failed with exit code ${code}; its last lines:\n${output}`)
}
