// How many threads and processes a setting of 0 means on this machine.
import { availableParallelism } from 'node:os'

const PROCESSES_PER_CORE = 4

/** Threads that hold live states. */
export function stateThreadCount(wanted: number): number {
  return wanted === 0 ? Math.max(1, availableParallelism() - 1) : wanted
}

/** Threads for one-shot work. */
export function poolThreadCount(wanted: number): number {
  return wanted === 0 ? Math.max(2, availableParallelism()) : wanted
}

/** Steps that run as a process at a time, of each kind. */
export function stepProcessCount(wanted: number): number {
  return wanted === 0 ? PROCESSES_PER_CORE * availableParallelism() : wanted
}
