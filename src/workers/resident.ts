// Resident threads: each is a pool of one that lives as long as the daemon and holds what it was asked about: the live
// states of the executions that hash to it, or the keyframes of a console. A thread that dies or hangs is replaced; what
// it held is gone, its callers are told, and its successor builds it again when it is asked for.
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { CpError, messageOf } from '../errors.js'
import type { TapeSetup, TapeTasks } from '../services/replay/inThread/tapeTasks.js'
import type { ResidentSetup, ResidentTasks } from '../services/state/inThread/residentTasks.js'
import { type TaskCall, unwrap } from './protocol.js'
import type { ResidentResult } from './residentAnswer.js'
import { startOf } from './startOf.js'
import { stateThreadCount } from './threadCounts.js'

export type { AdvanceOutput, AheadOutput, ResidentSetup } from '../services/state/inThread/residentTasks.js'
export type { SnapshotReport } from '../services/state/inThread/verify.js'

interface ThreadsOptions<Setup> {
  /** 0 takes one less than the number of cores, at least 1. */
  threads: number
  memoryMb: number
  /** Room for young objects. */
  youngMb: number
  /** Questions that one thread works on at a time. */
  parallelMax: number
  /** A thread that owes an answer for longer than this is taken for hung. */
  stallMs: number
  setup: Setup
  /** The compiled entry; of live states by default. */
  entry?: string
  /** The states of this thread are gone. */
  onLost(thread: number, reason: string): void
}

export interface Threads<Tasks extends TaskTable<Tasks>> {
  readonly count: number
  ask<N extends keyof Tasks>(
    thread: number,
    task: N,
    input: Parameters<Tasks[N]>[0],
  ): Promise<Awaited<ReturnType<Tasks[N]>>>
  close(): Promise<void>
}

type TaskTable<Tasks> = { [N in keyof Tasks]: (input: never) => Promise<unknown> }

export type ResidentThreads = Threads<ResidentTasks>
export type TapeThreads = Threads<TapeTasks>

// Rows read and folded are garbage at once. More room than this measured no faster, and is memory that comes and goes.
const YOUNG_MB = 24
/** A thread that reads a log now and then: room that it needs for a moment it would keep. Twice as much measured no faster. */
const TAPE_YOUNG_MB = 3
const STALL_CHECK_MS = 5_000

export function createResidentThreads(options: Omit<ThreadsOptions<ResidentSetup>, 'youngMb'>): ResidentThreads {
  return createThreads<ResidentTasks>({ ...options, youngMb: YOUNG_MB })
}

/** One thread for everybody who scrubs: live states have their own, and are never delayed by it. */
export function createTapeThread(options: Omit<ThreadsOptions<TapeSetup>, 'threads' | 'youngMb'>): TapeThreads {
  const entry = fileURLToPath(new URL('./tapeEntry.js', import.meta.url))
  return createThreads<TapeTasks>({ entry, ...options, threads: 1, youngMb: TAPE_YOUNG_MB })
}

function createThreads<Tasks extends TaskTable<Tasks>>(options: ThreadsOptions<unknown>): Threads<Tasks> {
  const threads = Array.from({ length: stateThreadCount(options.threads) }, (_, index) => openThread(options, index))
  const watch = setInterval(() => {
    for (const thread of threads) thread.checkStall()
  }, STALL_CHECK_MS)
  watch.unref()
  return {
    count: threads.length,
    ask: (thread, task, input) => threads[thread]!.ask(String(task), input) as Promise<never>,
    close: async () => {
      clearInterval(watch)
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

interface Thread {
  ask(task: string, input: unknown): Promise<unknown>
  checkStall(): void
  close(): Promise<void>
}

function openThread(options: ThreadsOptions<unknown>, index: number): Thread {
  const running = new Map<object, { task: string; since: number }>()
  let pool = openPool()
  let mark: string | undefined
  let closed = false

  function openPool(): Piscina<TaskCall, ResidentResult> {
    const opened = new Piscina<TaskCall, ResidentResult>({
      ...startOf(options.entry ?? fileURLToPath(new URL('./residentEntry.js', import.meta.url))),
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: options.parallelMax,
      maxQueue: Number.POSITIVE_INFINITY,
      resourceLimits: { maxOldGenerationSizeMb: options.memoryMb, maxYoungGenerationSizeMb: options.youngMb },
      workerData: options.setup,
      // The thread keeps database connections open; asleep it could not serve them.
      atomics: 'disabled',
      // Nobody reads the histograms of the pool: what a question takes is measured where it is asked.
      recordTiming: false,
    })
    opened.on('error', (error) => lost(messageOf(error)))
    return opened
  }

  function lost(reason: string): void {
    if (closed || mark === undefined) return
    mark = undefined
    options.onLost(index, reason)
  }

  return {
    ask: async (task, input) => {
      if (closed) throw new CpError('unavailable', `the threads are closed; ${task} was not started`)
      const ticket = {}
      running.set(ticket, { task, since: performance.now() })
      let result: ResidentResult
      try {
        result = await pool.run({ task, input })
      } catch (error) {
        const reason = messageOf(error)
        lost(reason)
        throw new CpError('unavailable', `the thread that held the state is gone (${reason}); it is built again`, {
          cause: error,
          details: { threadLost: true },
        })
      } finally {
        running.delete(ticket)
      }
      if (mark !== undefined && mark !== result.thread) lost('it was replaced')
      mark = result.thread
      return unwrap(result)
    },
    checkStall: () => {
      const hung = [...running.values()].find(({ since }) => performance.now() - since > options.stallMs)
      if (hung === undefined || closed) return
      const old = pool
      pool = openPool()
      running.clear()
      lost(`${hung.task} did not end within ${options.stallMs / 1000} s`)
      void old.destroy()
    },
    close: async () => {
      closed = true
      await pool.destroy()
    },
  }
}
