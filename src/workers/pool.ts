// The killable pool: one-shot CPU work off the main loop. Bounded queue, memory limit and deadline per
// task; a crashed or looping thread is replaced and only its own task fails, with a code.
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { CpError, messageOf } from '../errors.js'
import { withDeadline } from '../runtime/deadline.js'
import { type TaskCall, type TaskInput, type TaskOutput, type TaskResult, unwrap } from './protocol.js'
import { startOf } from './startOf.js'
import type { TaskName } from './tasks.js'
import { poolThreadCount } from './threadCounts.js'

export interface WorkerPoolSettings {
  /** 0 takes the number of cores, at least 2. */
  threads: number
  queueMax: number
  memoryMb: number
  taskTimeoutMs: number
  /** Threads that stay when there is nothing to do; 1 by default. */
  warmThreads?: number
  /** How long the others wait for the next task. */
  idleMs?: number
  /** The compiled entry; only tests name another one. */
  entry?: string
  onTask?: (task: string, outcome: TaskOutcome, seconds: number) => void
}

export type TaskOutcome = 'ok' | 'failed' | 'timeout' | 'crashed' | 'overloaded'

export interface WorkerPool {
  run<N extends TaskName>(
    task: N,
    input: TaskInput<N>,
    options?: { signal?: AbortSignal; timeoutMs?: number },
  ): Promise<TaskOutput<N>>
  stats(): { threads: number; queued: number; completed: number }
  close(deadlineMs: number): Promise<void>
}

const YOUNG_MB = 24
const IDLE_MS = 5_000

export function createWorkerPool(settings: WorkerPoolSettings): WorkerPool {
  const threads = poolThreadCount(settings.threads)
  const pool = new Piscina<TaskCall, TaskResult>({
    ...startOf(settings.entry ?? fileURLToPath(new URL('./entry.js', import.meta.url))),
    minThreads: Math.min(settings.warmThreads ?? 1, threads),
    maxThreads: threads,
    // A thread at rest collects nothing: what its last task left behind is given back with the thread.
    idleTimeout: settings.idleMs ?? IDLE_MS,
    // The bound is ours, in run(): piscina does not count the tasks it could not hand out at once.
    maxQueue: Number.POSITIVE_INFINITY,
    // Rows die young. A larger young space saved no time, but let memory grow with the length of a log.
    resourceLimits: { maxOldGenerationSizeMb: settings.memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
    // Tasks may keep a database connection open while they page; a sleeping thread could not serve it.
    atomics: 'disabled',
  })
  const unfinished = new Set<Promise<TaskResult>>()
  let closed = false
  // A thread that dies between tasks concerns nobody; its successor is already started.
  pool.on('error', () => undefined)

  async function run(
    task: TaskName,
    input: unknown,
    options: { signal?: AbortSignal; timeoutMs?: number },
  ): Promise<unknown> {
    const started = performance.now()
    if (closed) throw new CpError('unavailable', `the worker threads are closed; ${task} was not started`)
    if (unfinished.size >= threads + settings.queueMax) {
      settings.onTask?.(task, 'overloaded', 0)
      throw new CpError('overloaded', `${settings.queueMax} tasks already wait for a worker thread; try again later`)
    }
    const { signal, isLate, release } = limitTask(options.timeoutMs ?? settings.taskTimeoutMs, options.signal)
    // Tasks may be run again; once, because this one may be what ended its thread.
    const running = pool.run({ task, input }, { signal }).catch((error: unknown) => {
      if (closed || signal.aborted || !isThreadEnd(error)) throw error
      return pool.run({ task, input }, { signal })
    })
    unfinished.add(running)
    try {
      const result = await running
      settings.onTask?.(task, result.ok ? 'ok' : 'failed', result.ms / 1000)
      return unwrap(result)
    } catch (error) {
      if (error instanceof CpError) throw error
      const seconds = (performance.now() - started) / 1000
      const [failure, outcome] = explain(task, error, isLate(), options.signal?.aborted ?? false, seconds)
      settings.onTask?.(task, outcome, seconds)
      throw failure
    } finally {
      release()
      unfinished.delete(running)
    }
  }

  return {
    run: (task, input, options = {}) => run(task, input, options) as Promise<never>,
    stats: () => ({
      threads: pool.threads.length,
      queued: Math.max(0, unfinished.size - threads),
      completed: pool.completed,
    }),
    close: async (deadlineMs) => {
      closed = true
      // Not pool.close(): it never returns once its threads have been destroyed under it.
      await withDeadline(Promise.allSettled(unfinished), deadlineMs, { what: 'the running tasks' }).catch(
        () => undefined,
      )
      await pool.destroy()
    },
  }
}

/** One signal for the deadline of a task and for its caller, who may live much longer than the task. */
function limitTask(timeoutMs: number, caller: AbortSignal | undefined) {
  const stop = new AbortController()
  let late = false
  const cancel = () => stop.abort()
  const timer = setTimeout(() => {
    late = true
    stop.abort()
  }, timeoutMs)
  timer.unref()
  if (caller?.aborted === true) cancel()
  else caller?.addEventListener('abort', cancel, { once: true })
  return {
    signal: stop.signal,
    isLate: () => late,
    release: () => {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    },
  }
}

function explain(
  task: string,
  error: unknown,
  timedOut: boolean,
  cancelled: boolean,
  seconds: number,
): [CpError, TaskOutcome] {
  // piscina rejects with a bare object when the answer of a task cannot be cloned.
  const isBare = typeof error === 'object' && error !== null && !('message' in error)
  const message = isBare ? 'its answer cannot be sent between threads' : messageOf(error)
  if (cancelled) return [new CpError('cancelled', `${task} was cancelled`, { cause: error }), 'failed']
  if (timedOut) {
    return [
      new CpError('timeout', `${task} did not finish within ${seconds.toFixed(1)} s; its thread was stopped`, {
        cause: error,
      }),
      'timeout',
    ]
  }
  if (isOutOfMemory(error)) {
    return [
      new CpError('overloaded', `${task} needed more memory than a thread may have; raise NOETL_CP_WORKER_MEMORY_MB`, {
        cause: error,
      }),
      'crashed',
    ]
  }
  return [new CpError('internal', `the worker thread of ${task} died: ${message}`, { cause: error }), 'crashed']
}

/** How piscina tells that a thread ended under its task, by whatever hand. */
function isThreadEnd(error: unknown): boolean {
  return messageOf(error).startsWith('worker exited with code')
}

function isOutOfMemory(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}
