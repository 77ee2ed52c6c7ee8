// Commands for workers, one service for those of this process and those behind HTTP.
//
// A worker of this process uses it like this:
//
//   const list = await commands.claim({ workerId, pools: ['shared'], max: freeSlots, waitMs: 30_000, signal })
//                                        waits for work; a commit of this process wakes it at once
//   await commands.report(command, [started()])              only if it takes long: RUNNING, and the lease begins again
//   await commands.beat(workerId, heldCommands)              every second or so: extends leases, says what is lost
//   await commands.report(command, [done, completed])        one transaction; the first answer that ends it counts
//
// `claim` hands a command out once per attempt. A command that was lost (`beat` says `lost` or `cancelled`) is to be
// stopped; answers to it are ignored and not stored. Nothing here decides what an execution does next: the state
// service hears of every append.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { isJsonObject } from '../../domain/json/value.js'
import { CpError, toCpError } from '../../errors.js'
import type { Service } from '../../runtime/service.js'
import {
  type CommandFilter,
  findCandidates,
  getCommand,
  listCommands,
  releaseStrays,
  requeueCommand,
  type ShownCommand,
} from '../../stores/commands/commandQueue.js'
import type { Unclaimable } from '../events/appendInTx.js'
import { type BeatKey, type BeatOutcome, beat } from './beats.js'
import { type ClaimEvents, createClaimEvents } from './claimEvents.js'
import { type Asker, type ClaimQueue, type ClaimRequest, createClaimQueue } from './claimQueue.js'
import { createCommandLimits, hasRoom, type Room, saturated } from './commandLimits.js'
import { type CommandNames, createFreshCommands } from './freshCommands.js'
import { type HandOutDeps, type HeldCommand, handOut, metaAt, readIssued, type Wanted } from './handOut.js'
import { createHandOver, type HandOver } from './handOver.js'
import {
  type ReportDeps,
  type ReportedCommand,
  type ReportOutcome,
  report,
  type WorkerReport,
} from './workerReports.js'

export type { ShownCommand } from '../../stores/commands/commandQueue.js'
export type { BeatKey, BeatOutcome } from './beats.js'
export type { ClaimRequest } from './claimQueue.js'
export type { HeldCommand } from './handOut.js'
export type { ReportOutcome, WorkerReport } from './workerReports.js'

export interface CommandDeps extends Omit<HandOutDeps, 'fresh'>, ReportDeps {
  pollMs: number
}

/** A command as it is read, without being claimed. */
export type IssuedCommand = Pick<
  HeldCommand,
  'executionId' | 'eventId' | 'commandId' | 'step' | 'kind' | 'attempt' | 'context' | 'meta'
>

export interface Commands extends Service, HandOver {
  claim(request: ClaimRequest): Promise<HeldCommand[]>
  /** A certain one; the refusal says why it is not to be had. */
  claimOne(eventId: string, workerId: string, leaseSeconds?: number): Promise<HeldCommand | Unclaimable>
  /** For claims that come as events. */
  appendClaims: ClaimEvents
  /** `open`: with its secrets. */
  get(eventId: string, secrets: 'open' | 'sealed'): Promise<IssuedCommand>
  report(command: ReportedCommand, reports: readonly WorkerReport[]): Promise<ReportOutcome[]>
  /** By event id. */
  beat(workerId: string, commands: readonly BeatKey[]): Promise<Map<string, BeatOutcome>>
  beatOne(eventId: string, workerId: string, leaseToken?: number): Promise<BeatOutcome>
  show(eventId: string): Promise<ShownCommand>
  list(filter: CommandFilter): Promise<ShownCommand[]>
  /** Takes it from its holder and gives it to the next. */
  requeue(eventId: string): Promise<ShownCommand>
  /** Its worker will not work on it; nothing happens if it holds it no more. */
  giveBack(command: HeldCommand): Promise<void>
  /** Gives them back if the signal comes: whoever asked for them is gone, and has not got them. */
  giveBackOnAbort(commands: readonly HeldCommand[], signal: AbortSignal): void
  /** Gives back what the worker has held for a while and does not know of; `known` are the events of those it runs. */
  releaseStrays(workerId: string, known: readonly string[]): Promise<void>
  /** Commands were issued in this shard, in these pools; absent: in any. */
  nudge: ClaimQueue['nudge']
  /** Workers that wait for commands. */
  waiting(): number
}

const CLAIM_ROUNDS_MAX = 5
/** What was claimed just now may still be on its way to its worker. */
const STRAY_SECONDS = 10

export function createCommands(given: CommandDeps): Commands {
  const { databases } = given
  const fresh = createFreshCommands(given.clock)
  const deps: CommandDeps & HandOutDeps = { ...given, fresh }
  deps.appender.onAppended((_shard, _grown, _traces, _ended, news) => {
    for (const one of news.values()) fresh.note(one)
  })
  const limits = createCommandLimits(deps)
  const queue = createClaimQueue({
    clock: deps.clock,
    shards: databases.shards.length,
    pollMs: deps.pollMs,
    claim: claimFor,
  })

  /** Others may be faster; then there is another look. */
  function claimFor(shard: number, askers: readonly Asker[]): Promise<HeldCommand[][]> {
    return limits.within(askers[0]!.pools, async (room) => {
      const given: HeldCommand[][] = askers.map(() => [])
      for (let round = 0; round < CLAIM_ROUNDS_MAX; round++) {
        if (!(await claimRound(shard, askers, room, given))) break
      }
      return given
    })
  }

  /** Answers whether another look may find more. */
  async function claimRound(
    shard: number,
    askers: readonly Asker[],
    room: Room,
    given: HeldCommand[][],
  ): Promise<boolean> {
    const places = askers.flatMap(({ max }, index) => Array.from({ length: max - given[index]!.length }, () => index))
    if (room.pools.length === 0 || places.length === 0) return false
    const { kinds } = askers[0]!
    const found = await findCandidates(databases.shards[shard]!.db, room.pools, kinds, places.length, room.fullPaths)
    const wanted = found
      .filter((row) => room.take(row.pool, row.path))
      .map((row, index): Wanted => {
        const { workerId, leaseSeconds } = askers[places[index]!]!
        return { ...namesOf(row), workerId, leaseSeconds }
      })
    if (wanted.length === 0) return false
    const outcomes = await handOut(deps, wanted)
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome !== undefined && !isRefusal(outcome)) given[places[index]!]!.push(outcome)
    }
    const isAllRead = outcomes.every((outcome) => outcome !== undefined)
    return found.length === places.length && isAllRead && given.some((list) => list.length === 0)
  }

  /** An id does not say where its execution lives: every shard is asked, and none may be away. */
  async function find(eventId: string): Promise<ShownCommand> {
    const { answers, failures } = await databases.fanOut((db) => getCommand(db, eventId))
    const found = answers.map(({ value }) => value).find((row) => row !== undefined)
    if (found !== undefined) return found
    if (failures.length > 0) throw failures[0]!.error
    throw new CpError('not_found', `there is no command ${eventId}; it is the event_id of a command.issued event`)
  }

  /** Undefined: it has to be looked up. */
  async function claimFresh(
    eventId: string,
    workerId: string,
    leaseSeconds: number | undefined,
  ): Promise<HeldCommand | Unclaimable | undefined> {
    const known = fresh.find(eventId)
    if (known === undefined || !(await limits.unlimited([known.pool])).includes(known.pool)) return undefined
    const [outcome] = await handOut(deps, [{ ...known.names, workerId, leaseSeconds }])
    return outcome
  }

  async function readOne(row: ShownCommand, secrets: 'open' | 'sealed'): Promise<EventRecord> {
    const names = namesOf(row)
    const issued = (await readIssued(deps, [names], secrets)).get(names.eventId)
    if (issued !== undefined) return issued
    throw unreadable(names.eventId)
  }

  async function giveBack(command: HeldCommand): Promise<void> {
    const { executionId, eventId: commandId } = command
    const attempt = await requeueCommand(databases.of(executionId), { executionId, commandId }, command)
    if (attempt !== undefined) queue.nudge(databases.shardOf(executionId))
  }

  return {
    name: 'commands',
    start: queue.start,
    stop: queue.stop,
    nudge: queue.nudge,
    offer: createHandOver({ ...deps, queue, limits }).offer,
    waiting: queue.waiting,
    // A name that stands twice would be served twice.
    claim: (request) => queue.claim({ ...request, pools: [...new Set(request.pools)] }),
    claimOne: async (eventId, workerId, leaseSeconds) => {
      const claimed = await claimFresh(eventId, workerId, leaseSeconds)
      if (claimed !== undefined) return claimed
      const row = await find(eventId)
      const [outcome] = await limits.within([row.pool], async (room) => {
        return hasRoom(room, row, workerId)
          ? handOut(deps, [{ ...namesOf(row), workerId, leaseSeconds }])
          : [saturated(eventId)]
      })
      if (outcome === undefined) throw unreadable(eventId)
      return outcome
    },
    appendClaims: createClaimEvents({ databases, limits }),
    get: async (eventId, secrets) => {
      const row = await find(eventId)
      const issued = await readOne(row, secrets)
      return {
        ...namesOf(row),
        attempt: row.attempt,
        context: isJsonObject(issued.context) ? issued.context : {},
        meta: metaAt(issued, row.attempt),
      }
    },
    report: (command, reports) => report(deps, command, reports),
    beat: (workerId, held) => beat(databases, workerId, held),
    releaseStrays: async (workerId, known) => {
      await Promise.all(
        databases.shards.map(async ({ db }, shard) => {
          if ((await releaseStrays(db, workerId, known, STRAY_SECONDS)) > 0) queue.nudge(shard)
        }),
      )
    },
    beatOne: async (eventId, workerId, leaseToken) => {
      const { executionId } = namesOf(await find(eventId))
      return (
        await beat(databases, workerId, [{ executionId, eventId, ...(leaseToken === undefined ? {} : { leaseToken }) }])
      ).get(eventId)!
    },
    show: find,
    list: async (filter) => {
      const { executionId } = filter
      if (executionId !== undefined) return listCommands(databases.of(executionId), filter)
      const { answers, failures } = await databases.fanOut((db) => listCommands(db, filter))
      if (failures.length > 0) throw failures[0]!.error
      const all = answers.flatMap(({ value }) => value)
      return all.sort((a, b) => (BigInt(a.command_id) < BigInt(b.command_id) ? -1 : 1)).slice(0, filter.limit)
    },
    giveBack,
    giveBackOnAbort: (held, signal) => {
      const onAbort = () => {
        for (const one of held) giveBack(one).catch((error: unknown) => deps.onError(toCpError(error)))
      }
      if (signal.aborted) onAbort()
      else if (held.length > 0) signal.addEventListener('abort', onAbort, { once: true })
    },
    requeue: async (eventId) => {
      const row = await find(eventId)
      const { executionId } = namesOf(row)
      const attempt = await requeueCommand(databases.of(executionId), { executionId, commandId: eventId })
      if (attempt === undefined && row.status !== 'PENDING') {
        throw new CpError(
          'conflict',
          `command ${eventId} is ${row.status}; only one that a worker holds can be requeued`,
        )
      }
      queue.nudge(databases.shardOf(executionId))
      return find(eventId)
    },
  }
}

export function isRefusal(outcome: HeldCommand | Unclaimable): outcome is Unclaimable {
  return 'code' in outcome
}

function unreadable(eventId: string): CpError {
  return new CpError('unavailable', `command ${eventId} cannot be read here; the log of this daemon says why`)
}

type Named = Pick<ShownCommand, 'execution_id' | 'command_id' | 'command_key' | 'step_name' | 'tool_kind'>

function namesOf(row: Named): CommandNames {
  return {
    executionId: row.execution_id,
    eventId: row.command_id,
    commandId: row.command_key,
    step: row.step_name,
    kind: row.tool_kind,
  }
}
