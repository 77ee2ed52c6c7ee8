// Playbooks that steps have started. A decision leaves a row with the id of the child; here it is started, and the command
// of the parent is answered when the child ends, without a worker slot and without polling. Every step can be repeated by
// whoever comes first, so a daemon may die between any two of them: rows are looked at again until they are done.
//
//   PENDING ──the child runs, and is waited for──▶ STARTED ──it ended, or the parent did──▶ DONE
//      └──── not waited for, cannot be started, or the parent ended ────────────────────────┘
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import { engineError } from '../../domain/engine/engineError.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { CpError, isTransient, toCpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import {
  abandonChild,
  type ChildRow,
  childrenOfEnded,
  dueChildren,
  type FamilyMember,
  noteBegun,
  noteDone,
  noteStarted,
  postponeChild,
} from '../../stores/children/childStore.js'
import { cancelExecution } from '../executions/cancellation.js'
import { openEvents } from '../secrets/sealedValues.js'
import { answerCommand, type ChildAnswer } from './childAnswer.js'
import { type ChildResultDeps, dataFor, type Returning, type Waiting } from './childResult.js'
import { type ChildStartDeps, prepareChild, startChild, type Wanted } from './childStart.js'
import { type Family, familyOf } from './family.js'

export interface ChildrenDeps extends ChildStartDeps, ChildResultDeps {
  databases: Databases
  random: () => number
  onError(error: CpError): void
}

export interface ChildKeeper extends PollLoop {
  /** Executions that have ended: children that somebody waits for, or parents. */
  ended(executionIds: Iterable<string>): void
  /** Until it is heard that the execution has ended, or the time is over. */
  untilEnded(executionId: string, timeoutMs: number, signal: AbortSignal): Promise<void>
}

const PAGE = 100
const AT_ONCE = 16
const IDLE_MS = 5_000
/** How often a row is looked at though nothing is heard of it. */
const AGAIN_SECONDS = 30
/** Whoever began to start a child has done so by then, or is dead. */
const START_SECONDS_MAX = 60
const ENDED_MAX = 10_000

export function createChildKeeper(deps: ChildrenDeps): ChildKeeper {
  const { databases } = deps
  const heard = new Set<string>()
  const waiters = new Map<string, Set<AbortController>>()

  async function passOf(db: Db, ended: readonly string[]): Promise<boolean> {
    const told = ended.length === 0 ? [] : await childrenOfEnded(db, ended)
    const due = await dueChildren(db, PAGE, AGAIN_SECONDS)
    await settleAll(db, [...new Map([...told, ...due].map((row) => [row.command_id, row])).values()])
    return due.length === PAGE
  }

  async function settleAll(db: Db, rows: readonly ChildRow[]): Promise<void> {
    if (rows.length === 0) return
    const family = await familyOf(
      databases,
      rows.flatMap((row) => [row.parent_execution_id, row.child_execution_id]),
    )
    const waiting = [...rows]
    const work = async (): Promise<void> => {
      for (let row = waiting.shift(); row !== undefined; row = waiting.shift())
        await settleSafely(deps, db, row, family)
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, rows.length) }, work))
  }

  const loop = createPollLoop({
    name: 'child playbooks',
    clock: deps.clock,
    random: deps.random,
    idleMs: IDLE_MS,
    errorMs: 500,
    errorMsMax: IDLE_MS,
    onError: deps.onError,
    runOnce: async () => {
      const ended = [...heard]
      heard.clear()
      const { answers, failures } = await databases.fanOut((db) => passOf(db, ended))
      if (failures[0] !== undefined) throw toCpError(failures[0].error)
      return answers.some(({ value }) => value) || heard.size > 0 ? 'busy' : 'idle'
    },
  })
  return {
    ...loop,
    ended: (executionIds) => {
      // Only a hint: what is not remembered is found when it is due.
      for (const id of executionIds) {
        if (heard.size < ENDED_MAX) heard.add(id)
        for (const waiter of waiters.get(id) ?? []) waiter.abort()
      }
      loop.nudge()
    },
    untilEnded: async (executionId, timeoutMs, signal) => {
      const waiter = new AbortController()
      const all = waiters.get(executionId) ?? new Set()
      waiters.set(executionId, all.add(waiter))
      await deps.clock.sleep(timeoutMs, signal, waiter.signal)
      all.delete(waiter)
      if (all.size === 0) waiters.delete(executionId)
    },
  }
}

async function settleSafely(deps: ChildrenDeps, db: Db, row: ChildRow, family: Family): Promise<void> {
  try {
    await settle(deps, db, row, family)
  } catch (error) {
    const trouble = toCpError(error)
    deps.onError(trouble)
    await postponeChild(db, row, trouble.message)
  }
}

async function settle(deps: ChildrenDeps, db: Db, row: ChildRow, family: Family): Promise<void> {
  const parent = family.get(row.parent_execution_id)
  const child = family.get(row.child_execution_id)
  if (parent === undefined || isTerminalStatus(parent.status)) return leave(deps, db, row, child)
  if (child === undefined) return begin(deps, db, row, parent)
  if (!isTerminalStatus(child.status)) {
    if (row.state === 'PENDING') await onStarted(deps, db, row, child)
    return
  }
  const command = await readCommand(deps, row)
  await answerCommand(deps, row, command.wants.waits ? await answerOf(deps, child, command) : startedAnswer(child, row))
}

/** The parent has ended: what it waited for is cancelled. What was started and not waited for goes on. */
async function leave(deps: ChildrenDeps, db: Db, row: ChildRow, child: FamilyMember | undefined): Promise<void> {
  // Somebody may have begun to start it before the parent ended; then it is looked at again.
  if (child === undefined) return abandonChild(db, row, START_SECONDS_MAX)
  if (!isTerminalStatus(child.status) && (await waitsFor(deps, row))) {
    const reason = `its parent ${row.parent_execution_id} has ended`
    await cancelExecution(deps, { executionId: child.execution_id as ExecutionId, reason, cascade: true }).catch(
      (error: unknown) => {
        if (toCpError(error).code !== 'refused') throw error
      },
    )
  }
  await noteDone(db, row)
}

async function waitsFor(deps: ChildrenDeps, row: ChildRow): Promise<boolean> {
  return row.state === 'STARTED' || (await readCommand(deps, row)).wants.waits
}

async function begin(deps: ChildrenDeps, db: Db, row: ChildRow, parent: FamilyMember): Promise<void> {
  const { id, wants } = await readCommand(deps, row)
  if (!(await noteBegun(db, row))) return
  try {
    await startChild(deps, row.child_execution_id, await prepareChild(deps, parent, { id, wants }))
  } catch (error) {
    const trouble = toCpError(error)
    if (isTransient(trouble) || !isFinal(trouble)) throw trouble
    await answerCommand(deps, row, { error: engineError('config', trouble.message) })
    return
  }
  const child = (await familyOf(deps.databases, [row.child_execution_id])).get(row.child_execution_id)
  if (child !== undefined) await onStarted(deps, db, row, child)
}

function isFinal({ code }: CpError): boolean {
  return code === 'not_found' || code === 'refused' || code === 'invalid_input' || code === 'corrupt'
}

async function onStarted(deps: ChildrenDeps, db: Db, row: ChildRow, child: FamilyMember): Promise<void> {
  const command = await readCommand(deps, row)
  if (!command.wants.waits) {
    await answerCommand(deps, row, startedAnswer(child, row))
    return
  }
  await noteStarted(db, row)
  // It may have ended before it was known that somebody waits.
  const now = (await familyOf(deps.databases, [row.child_execution_id])).get(row.child_execution_id)
  if (now !== undefined && isTerminalStatus(now.status))
    await answerCommand(deps, row, await answerOf(deps, now, command))
}

function startedAnswer(child: FamilyMember, row: ChildRow): ChildAnswer {
  return { data: { status: 'started', execution_id: row.child_execution_id, path: child.path, async: true } }
}

async function answerOf(
  deps: ChildrenDeps,
  child: FamilyMember,
  { wants, waiting }: StartingCommand,
): Promise<ChildAnswer> {
  if (child.status === 'COMPLETED') {
    try {
      return await dataFor(deps, child, wants.returning, waiting)
    } catch (error) {
      // It is gone, or there is no room for it: asking again would change nothing, and the parent would wait for its time-out.
      if (error instanceof ToolFailure && error.kind === 'storage')
        return { error: engineError('storage', error.message) }
      throw error
    }
  }
  const why = child.error ?? child.status
  return { error: engineError('child_failed', `child ${child.path ?? ''} (${child.execution_id}): ${why}`) }
}

interface StartingCommand {
  id: string
  wants: WantedChild
  waiting: Waiting
}

interface WantedChild extends Wanted {
  waits: boolean
  returning: Returning
}

/** What the command.issued says. */
async function readCommand(deps: ChildrenDeps, row: ChildRow): Promise<StartingCommand> {
  const [issued] = await openEvents(deps, 'engine', row.parent_execution_id, [row.command_id])
  const context: JsonObject = isJsonObject(issued?.context) ? issued.context : {}
  const meta: JsonObject = isJsonObject(issued?.meta) ? issued.meta : {}
  const config: JsonObject = isJsonObject(context['tool_config']) ? context['tool_config'] : {}
  const args = context['args']
  if (issued === undefined) throw new CpError('corrupt', `the command ${row.command_id} has no event`)
  const id = String(meta['command_id'] ?? row.command_id)
  return {
    id,
    waiting: { executionId: row.parent_execution_id, name: id, step: String(meta['step'] ?? '') },
    wants: {
      path: textOf(config['path']),
      catalogId: textOf(config['catalog_id']),
      version: textOf(config['version']),
      payload: isJsonObject(args) ? args : {},
      waits: config['waits'] === true,
      returning: { step: textOf(config['return_step']), result: config['return_result'] === true },
    },
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
