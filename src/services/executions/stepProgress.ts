// How far the steps of an execution have come, and its variables. Asked about again and again while one runs, so what was read is
// remembered and only newer events are read: a question costs what happened since the last one, not the length of
// the log. Exact, because versions are dense and in commit order, and a step never comes to a lower rank. A failover may
// lose commits and give their versions to others: the event that was read last tells, and all is read anew.
import type { Queryable } from '../../db/db.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, setKey } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { readStepRanks, type StepRank } from '../../stores/events/eventStore.js'

export interface StepCounts {
  total: number
  completed: number
  failed: number
  running: number
  /** Names of those that are completed, sorted. */
  completedSteps: string[]
  /** Those that are set, as they may be shown. */
  variables: JsonObject
}

/** With `head`, the version of the log that the caller has seen, nothing is read if that is what is remembered. */
export type StepProgress = (db: Queryable, executionId: string, head?: string) => Promise<StepCounts>

/** JSON text; undefined: removed. The highest event id has the last word. */
interface Variable {
  eventId: bigint
  text: string | undefined
}

interface Known {
  version: string
  /** Which event has that version. */
  mark: string
  /** By numbered events alone: one without a number may vanish, or get any. */
  ranks: Map<string, number>
  variables: Map<string, Variable>
}

const EXECUTIONS_MAX = 1_000
/** With more, the steps are data; they are read anew each time. */
const STEPS_MAX = 1_000
const VARIABLES_BYTES_MAX = 64 * 1024
const BEFORE_ALL = '-1'
/** By rank. What the end of a step said is above what its commands said, so that it counts. */
const COUNTED_AS = ['nothing', 'running', 'failed', 'completed', 'failed', 'completed'] as const

export function createStepProgress(): StepProgress {
  // In the order of their last use.
  const known = new Map<string, Known>()

  async function progress(db: Queryable, executionId: string, head?: string): Promise<StepCounts> {
    const before = known.get(executionId)
    if (before !== undefined && before.version === head) return countsOf(before.ranks, before.variables)
    const rows = await readStepRanks(db, executionId, before?.version ?? BEFORE_ALL)
    known.delete(executionId)
    if (before !== undefined && !rows.some(({ mark }) => mark === before.mark)) return progress(db, executionId)
    const ranks = new Map(before?.ranks)
    const variables = new Map(before?.variables)
    const unnumbered = new Map<string, number>()
    const unnumberedVariables: StepRank[] = []
    let last: StepRank | undefined
    for (const row of rows) {
      if (row.rank !== null) raise(row.is_numbered ? ranks : unnumbered, row.node_name, row.rank)
      else if (row.variables === null) last = later(last, row)
      else if (row.is_numbered) setVariables(variables, row)
      else unnumberedVariables.push(row)
    }
    if (last !== undefined && ranks.size <= STEPS_MAX && bytesOf(variables) <= VARIABLES_BYTES_MAX)
      known.set(executionId, { version: last.stream_version!, mark: last.mark!, ranks, variables })
    for (const oldest of known.keys()) {
      if (known.size <= EXECUTIONS_MAX) break
      known.delete(oldest)
    }
    const all = new Map(ranks)
    for (const [name, rank] of unnumbered) raise(all, name, rank)
    const allVariables = new Map(variables)
    for (const row of unnumberedVariables) setVariables(allVariables, row)
    return countsOf(all, allVariables)
  }

  return progress
}

function raise(ranks: Map<string, number>, name: string | null, rank: number): void {
  if (name !== null) ranks.set(name, Math.max(rank, ranks.get(name) ?? 0))
}

function later(one: StepRank | undefined, other: StepRank): StepRank {
  return one === undefined || BigInt(other.stream_version!) > BigInt(one.stream_version!) ? other : one
}

function setVariables(variables: Map<string, Variable>, row: StepRank): void {
  const eventId = BigInt(row.event_id!)
  const said = parseJson(row.variables!)
  const { set, removed } = isJsonObject(said) ? said : {}
  const put = (name: string, text: string | undefined): void => {
    const before = variables.get(name)
    if (before === undefined || before.eventId <= eventId) variables.set(name, { eventId, text })
  }
  if (isJsonObject(set)) for (const name of Object.keys(set)) put(name, writeJson(set[name] ?? null))
  if (Array.isArray(removed)) for (const name of removed) if (typeof name === 'string') put(name, undefined)
}

function bytesOf(variables: ReadonlyMap<string, Variable>): number {
  let bytes = 0
  for (const [name, { text }] of variables) bytes += name.length + (text?.length ?? 0)
  return bytes
}

function countsOf(ranks: ReadonlyMap<string, number>, known: ReadonlyMap<string, Variable>): StepCounts {
  const of = (wanted: (typeof COUNTED_AS)[number]): string[] =>
    Array.from(ranks.keys()).filter((name) => COUNTED_AS[ranks.get(name)!] === wanted)
  const completedSteps = of('completed').sort()
  const variables: JsonObject = {}
  for (const [name, { text }] of known) if (text !== undefined) setKey(variables, name, parseJson(text))
  return {
    total: ranks.size - of('nothing').length,
    completed: completedSteps.length,
    failed: of('failed').length,
    running: of('running').length,
    completedSteps,
    variables,
  }
}
