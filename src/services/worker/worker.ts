// The built-in worker: takes commands as long as it has free slots, runs their tools, and answers. It never decides what an
// execution does next, and never answers a command that it does not hold any more.
//
//   claim ──▶ slot ──▶ tool runs ──▶ answer
//               │         └── its execution has ended, or another worker has it ──▶ aborted, no answer
//               └── only waits (a child playbook): the slot is lent
//
// Stopping: no more claims; what runs may end within the deadline, the rest is aborted and given back.
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { type CpError, isTransient, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { PassingMap } from '../../runtime/passingMap.js'
import type { Service } from '../../runtime/service.js'
import { type SpanOptions, traced } from '../../runtime/tracing.js'
import type { RunOptions } from '../../tools/run/commandRunner.js'
import type { WorkerTools } from '../../tools/workerTools.js'
import type { Commands, HeldCommand } from '../commands/commands.js'
import { answerOf } from './answer.js'
import { Slots } from './slots.js'

export interface WorkerDeps {
  clock: Clock
  commands: Pick<Commands, 'claim' | 'report' | 'beat' | 'giveBack' | 'releaseStrays'>
  tools: Pick<WorkerTools, 'run' | 'kinds' | 'warm' | 'close'>
  /** What is told of a command beside its end; for people who look on. */
  onLook?: (command: HeldCommand, seen: Seen) => void
  onDone?: (kind: string, outcome: 'success' | 'error' | 'timeout' | 'lost', seconds: number) => void
  onError(error: CpError): void
  /** Kinds to ask for; by default all. */
  wanted?(): string[] | undefined
  /** Large data of an envelope moves to the store, and a reference takes its place. */
  shorten?(command: HeldCommand, envelope: JsonObject): Promise<JsonObject>
}

export type Seen =
  | { kind: 'line'; stream: 'stdout' | 'stderr'; line: string }
  | { kind: 'retry'; runs: number; attempts: number; delayMs: number; message: string }

export interface WorkerSettings {
  /** New for every process. */
  workerId: string
  pools: readonly string[]
  slots: number
}

export interface Worker extends Service {
  /** These executions have ended: their commands are aborted at once. */
  ended(executionIds: Iterable<string>): void
  stats(): { slots: number; busy: number; held: number }
}

interface Held {
  command: HeldCommand
  abort: AbortController
  /** It must not be answered any more. */
  isGone: boolean
  /** By our own clock; renewed by every beat that says so. */
  leaseEndsAt: number
  /** When nothing of it is left to do; never rejected. */
  done: Promise<void>
}

const CLAIM_WAIT_MS = 20_000
/** Renewed every second: long enough for a database that fails over, short enough for others to go on soon after a crash. */
const LEASE_SECONDS = 30
const BEAT_MS = 1_000
const STRAY_BEATS = 5
const STARTED_AFTER_MS = 1_000
const RETRY_MS = 500
const RETRY_MS_MAX = 5_000
/** Of the time for a stop: the rest is for what must be aborted. */
const FINISH_SHARE = 0.5
/** Processes get a signal, five seconds, and another. */
const ABORT_MS = 6_000

export function createWorker(settings: WorkerSettings, deps: WorkerDeps): Worker {
  const { clock, commands, tools } = deps
  const slots = new Slots(settings.slots)
  const held = new PassingMap<string, Held>()
  const stopping = new AbortController()
  const ending = new AbortController()
  let claiming: Promise<void> | undefined
  let beating: Promise<void> | undefined

  async function claimLoop(): Promise<void> {
    let waitMs = RETRY_MS
    const { workerId, pools } = settings
    while (!stopping.signal.aborted) {
      await slots.untilFree(stopping.signal)
      if (stopping.signal.aborted) return
      try {
        const list = await commands.claim({
          workerId,
          pools,
          kinds: deps.wanted?.(),
          max: slots.free(),
          waitMs: CLAIM_WAIT_MS,
          leaseSeconds: LEASE_SECONDS,
          takesOffers: true,
          signal: stopping.signal,
        })
        // What was claimed while we were told to stop is not begun any more.
        if (stopping.signal.aborted) await giveBack(list)
        else for (const command of list) begin(command)
        waitMs = RETRY_MS
      } catch (error) {
        deps.onError(toCpError(error))
        await clock.sleep(waitMs, stopping.signal)
        waitMs = Math.min(RETRY_MS_MAX, waitMs * 2)
      }
    }
  }

  function begin(command: HeldCommand): void {
    const one: Held = {
      command,
      abort: new AbortController(),
      isGone: false,
      leaseEndsAt: clock.monotonic() + command.leaseSeconds * 1_000,
      done: Promise.resolve(),
    }
    // It was taken from us and came again: what runs of the claim before must end, and nothing else would tell it.
    const before = held.get(command.eventId)
    if (before !== undefined) letGo(before, LOST)
    held.set(command.eventId, one)
    one.done = run(one)
      .catch((error: unknown) => deps.onError(toCpError(error)))
      .finally(() => {
        // It may have been lost and come again while its tool was being ended.
        if (held.get(command.eventId) === one) held.delete(command.eventId)
      })
  }

  async function run(one: Held): Promise<void> {
    const { command } = one
    await slots.take()
    const began = clock.monotonic()
    const quiet = new AbortController()
    void clock.sleep(STARTED_AFTER_MS, quiet.signal, one.abort.signal).then(async () => {
      if (!quiet.signal.aborted && !one.abort.signal.aborted) await sayStarted(one)
    })
    try {
      const envelope = await traced('noetl.command', spanOf(command), async (span) => {
        const answered = await tools.run(command.context, command.meta, optionsOf(one))
        span.set({ 'noetl.outcome': String(answered['status']) })
        return answered
      })
      quiet.abort('answered')
      const outcome = one.isGone ? 'lost' : (envelope['status'] as 'success' | 'error' | 'timeout')
      deps.onDone?.(command.kind, outcome, (clock.monotonic() - began) / 1_000)
      if (!one.isGone) await answer(one, envelope)
    } finally {
      quiet.abort('answered')
      slots.give()
    }
  }

  function optionsOf({ command, abort }: Held): RunOptions {
    const look = deps.onLook
    return {
      signal: abort.signal,
      whileWaiting: (work) => slots.lend(work),
      ...(look === undefined
        ? {}
        : {
            onLine: (stream, line) => look(command, { kind: 'line', stream, line }),
            onRetry: ({ runs, attempts, delayMs, message }) =>
              look(command, { kind: 'retry', runs, attempts, delayMs, message }),
          }),
    }
  }

  async function sayStarted({ command }: Held): Promise<void> {
    try {
      await commands.report(command, [{ type: 'command.started', status: 'STARTED' }])
    } catch (error) {
      // For people who look on; the lease is kept by the beats.
      deps.onError(toCpError(error))
    }
  }

  /** Until it is stored, or nobody waits for it: the work must not be done again because a server was away. */
  async function answer(one: Held, envelope: JsonObject): Promise<void> {
    let waitMs = RETRY_MS
    for (;;) {
      try {
        const short = (await deps.shorten?.(one.command, envelope)) ?? {
          status: envelope['status'] ?? null,
          context: envelope,
        }
        await commands.report(one.command, answerOf(envelope, short))
        return
      } catch (error) {
        const trouble = toCpError(error)
        deps.onError(trouble)
        if (!isTransient(trouble)) return refuse(one, trouble)
        if (one.isGone || ending.signal.aborted) return
        await clock.sleep(waitMs, one.abort.signal, ending.signal)
        waitMs = Math.min(RETRY_MS_MAX, waitMs * 2)
      }
    }
  }

  /** An answer that the log cannot hold: the step fails with the reason instead of being tried again. */
  async function refuse({ command }: Held, trouble: CpError): Promise<void> {
    const error: JsonObject = {
      kind: 'schema',
      message: `the answer of the tool cannot be stored: ${trouble.message}`,
      retryable: false,
      code: 'ANSWER_REFUSED',
      source: command.kind,
    }
    await commands.report(command, answerOf({ error }, { status: 'error', context: { status: 'error', error } }))
  }

  async function beatLoop(): Promise<void> {
    for (let beats = 1; !ending.signal.aborted; beats++) {
      await clock.sleep(BEAT_MS, ending.signal)
      if (held.size > 0) await beat()
      if (beats % STRAY_BEATS === 0) await releaseStrays()
    }
  }

  /** Our own signs of life would keep them for ever. */
  async function releaseStrays(): Promise<void> {
    try {
      await commands.releaseStrays(settings.workerId, [...held.keys()])
    } catch (error) {
      deps.onError(toCpError(error))
    }
  }

  async function beat(): Promise<void> {
    const asked = [...held.values()]
    // The database counts from when it heard of us, which is not before now.
    const now = clock.monotonic()
    try {
      const outcomes = await commands.beat(
        settings.workerId,
        asked.map(({ command }) => command),
      )
      for (const one of asked) {
        const outcome = outcomes.get(one.command.eventId)
        if (outcome?.kind === 'held') one.leaseEndsAt = now + one.command.leaseSeconds * 1_000
        else if (held.get(one.command.eventId) === one) letGo(one, outcome?.kind === 'cancelled' ? CANCELLED : LOST)
      }
    } catch (error) {
      deps.onError(toCpError(error))
      // Nobody can say that it is still ours: when its lease is over, somebody else may have it.
      for (const one of asked) if (clock.monotonic() > one.leaseEndsAt) letGo(one, LOST)
    }
  }

  function letGo(one: Held, reason: string): void {
    if (one.isGone) return
    one.isGone = true
    one.abort.abort(new ToolFailure('cancelled', reason))
  }

  const allDone = (): Promise<unknown> => Promise.all([...held.values()].map(({ done }) => done))

  async function stop(deadlineMs: number): Promise<void> {
    stopping.abort()
    await Promise.race([Promise.all([claiming, allDone()]), clock.sleep(deadlineMs * FINISH_SHARE)])
    const left = [...held.values()].filter(({ isGone }) => !isGone)
    for (const one of left) letGo(one, 'the worker stops')
    await Promise.race([allDone(), clock.sleep(Math.min(ABORT_MS, deadlineMs))])
    ending.abort()
    await giveBack(left.map(({ command }) => command))
    await Promise.all([claiming, beating])
    await tools.close()
  }

  /** Others take them at once instead of when the leases are over. */
  async function giveBack(list: readonly HeldCommand[]): Promise<void> {
    for (const command of list)
      await commands.giveBack(command).catch((error: unknown) => deps.onError(toCpError(error)))
  }

  return {
    name: 'worker',
    start: async () => {
      await tools.warm().catch((error: unknown) => deps.onError(toCpError(error)))
      claiming = claimLoop()
      beating = beatLoop()
    },
    stop,
    ended: (executionIds) => {
      if (held.size === 0) return
      const ids = new Set(executionIds)
      for (const one of held.values()) if (ids.has(one.command.executionId)) letGo(one, CANCELLED)
    },
    stats: () => ({ slots: slots.size, busy: slots.inUse(), held: held.size }),
  }
}

const CANCELLED = 'its execution has ended'
const LOST = 'another worker has the command'

/** Below the trace that its execution was started with, if there was one. */
function spanOf({ executionId, commandId, kind, attempt, meta }: HeldCommand): SpanOptions {
  const { trace } = meta
  const isTraced = isJsonObject(trace) && typeof trace['traceparent'] === 'string'
  return {
    parent: isTraced ? writeJson(trace) : undefined,
    kind: 'consumer',
    attributes: {
      'noetl.execution_id': executionId,
      'noetl.command_id': commandId,
      'noetl.tool': kind,
      'noetl.attempt': attempt,
    },
  }
}
