// Looking at an execution at any moment: the tape of its log, the state at a place, the checksum there. The work is done
// in a thread of its own, which live states do not share; here each question gets its owner, its bound and its end.
import type { Databases } from '../../db/databases.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { Service } from '../../runtime/service.js'
import type { LogOwner } from '../../stores/replay/replayStore.js'
import type { TapeThreads } from '../../workers/resident.js'
import { findExecution } from '../executions/executionQueries.js'
import type { ScrubParts, ScrubPlace } from './inThread/scrubAnswers.js'
import type { TapeQuestion, TapeTasks } from './inThread/tapeTasks.js'

export type { ScrubParts, ScrubPlace } from './inThread/scrubAnswers.js'

export interface ScrubbingDeps {
  databases: Databases
  clock: Clock
  /** Made when it is first needed: whoever never scrubs has no thread for it. */
  openThread(): TapeThreads
  /** So long after the last question the thread ends. */
  idleMs: number
  onAnswer?(kind: keyof TapeTasks, seconds: number): void
}

type Output<N extends keyof TapeTasks> = Awaited<ReturnType<TapeTasks[N]>>

export interface Scrubbing extends Service {
  tape(
    id: ExecutionId,
    piece: { level: 'auto' | 'full' | 'coarse'; from: number; to: number; waitMs: number; gzip: boolean },
    signal: AbortSignal,
  ): Promise<Output<'tape'>>
  at(id: ExecutionId, place: ScrubPlace, timeMs: number, parts: ScrubParts, signal: AbortSignal): Promise<Output<'at'>>
  checksum(id: ExecutionId, place: ScrubPlace, timeMs: number, signal: AbortSignal): Promise<Output<'checksum'>>
  stats(): Promise<Output<'stats'>>
}

const WAITING_MAX = 64
const OWNERS_MAX = 100

export function createScrubbing(deps: ScrubbingDeps): Scrubbing {
  let thread: TapeThreads | undefined
  let waiting = 0
  let rest: NodeJS.Timeout | undefined
  const owners = new Map<ExecutionId, LogOwner>()

  /** The thread notices when it is another: it asks the log each time, and whoever drags asks twenty times a second. */
  async function ownerOf(id: ExecutionId): Promise<LogOwner> {
    const known = owners.get(id)
    if (known !== undefined) return known
    const { tenant_id, organization_id } = await findExecution(deps, id)
    if (owners.size >= OWNERS_MAX) owners.clear()
    owners.set(id, { tenant_id, organization_id })
    return { tenant_id, organization_id }
  }

  /** What a thread forgets stays with the process for long; with the thread itself all of it goes. The next question makes one. */
  function restLater(): void {
    clearTimeout(rest)
    rest = setTimeout(() => {
      if (waiting > 0) return
      void thread?.close()
      thread = undefined
    }, deps.idleMs)
    rest.unref()
  }

  async function ask<N extends Exclude<keyof TapeTasks, 'stats'>>(
    task: N,
    id: ExecutionId,
    what: Omit<Parameters<TapeTasks[N]>[0], keyof TapeQuestion>,
    signal: AbortSignal,
  ): Promise<Output<N>> {
    if (waiting >= WAITING_MAX) {
      throw new CpError('overloaded', `${WAITING_MAX} questions about moments of executions wait already; ask again`, {
        details: { retryAfterSeconds: 1 },
      })
    }
    waiting++
    const started = deps.clock.monotonic()
    const cancelled = new SharedArrayBuffer(4)
    const cancel = (): void => {
      Atomics.store(new Int32Array(cancelled), 0, 1)
    }
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      for (let isAgain = false; ; isAgain = true) {
        const question: TapeQuestion = {
          shard: deps.databases.shardOf(id),
          executionId: id,
          owner: await ownerOf(id),
          mark: deps.clock.now().toString(36),
          cancelled,
        }
        thread ??= deps.openThread()
        try {
          return (await thread.ask(0, task, { ...what, ...question } as never)) as Output<N>
        } catch (error) {
          owners.delete(id)
          if (!(error instanceof CpError) || error.details['another'] !== true || isAgain) throw error
        }
      }
    } finally {
      waiting--
      restLater()
      signal.removeEventListener('abort', cancel)
      deps.onAnswer?.(task, (deps.clock.monotonic() - started) / 1000)
    }
  }

  return {
    name: 'scrubbing',
    start: async () => undefined,
    stop: async () => {
      clearTimeout(rest)
      await thread?.close()
    },
    tape: (id, piece, signal) => ask('tape', id, piece, signal),
    at: (id, place, timeMs, parts, signal) => ask('at', id, { place, timeMs, parts }, signal),
    checksum: (id, place, timeMs, signal) => ask('checksum', id, { place, timeMs }, signal),
    stats: async () => (await thread?.ask(0, 'stats', {})) ?? { logs: 0, bytes: 0 },
  }
}
