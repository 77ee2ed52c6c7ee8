// What templates of the engine can read. A bare name means, in this order: a variable of the place (item of a loop), a
// reserved root, a step, a key of ctx, a key of the workload.

import { type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { Selection } from '../playbook/plan.js'
import { RESERVED_ROOTS } from '../playbook/templateRoots.js'
import type { TemplateContext, TemplateValue } from '../template/run.js'
import type { ArrivalOnBoard, Board } from './board.js'
import { dataIn, rootIn } from './references.js'
import { withSelected } from './selected.js'
import { startRoot } from './startRoots.js'
import { stepEntry, stepOutput, type VisitData } from './visitData.js'

/** Roots that only this place has; made when somebody asks for them. */
export type Locals = ReadonlyMap<string, () => TemplateValue>

const NO_LOCALS: Locals = new Map()

export class EngineContext implements TemplateContext {
  private readonly made = new Map<string, TemplateValue>()

  constructor(
    readonly board: Board,
    private readonly locals: Locals = NO_LOCALS,
    /** Visits that a step name means here, other than the last one. */
    private readonly bound: ReadonlyMap<number, VisitData> = new Map(),
    /** What `output` and `result` mean here. */
    private readonly ended?: VisitData,
  ) {}

  get nowMs(): number {
    return this.board.input.nowMs
  }

  get(name: string): TemplateValue {
    if (this.made.has(name)) return this.made.get(name)
    const value = this.make(name)
    this.made.set(name, value)
    return value
  }

  isStep(name: string): boolean {
    return !this.locals.has(name) && !RESERVED_ROOTS.has(name) && this.visitOf(name) !== undefined
  }

  factOf(step: string, name: 'status' | 'error'): TemplateValue {
    const visit = this.isStep(step) ? this.visitOf(step) : undefined
    // Playbooks ask `<step>.error is defined`, so that a success must not have one.
    return name === 'status' ? visit?.status : (visit?.error ?? undefined)
  }

  isEventNamed(actual: string, wanted: string): boolean {
    return EVENT_NAMES[wanted]?.includes(actual) ?? false
  }

  /** The visit that the name of a step, `output` or `result` means here. */
  visitOf(name: string): VisitData | undefined {
    if (ENDED_ROOTS.has(name) && this.ended !== undefined) return this.ended
    const index = this.board.plan.stepIndex.get(name)
    return index === undefined ? undefined : (this.bound.get(index) ?? this.board.lastFinished(index))
  }

  private make(name: string): TemplateValue {
    const local = this.locals.get(name)
    if (local !== undefined) return local()
    if (RESERVED_ROOTS.has(name)) return this.reserved(name)
    const visit = this.visitOf(name)
    if (visit !== undefined)
      return withSelected(rootIn(this.board, visit), this.board, visit, selectionsOf(this.board, name))
    const { ctx, workload } = this.board
    if (Object.hasOwn(ctx, name)) return ctx[name]
    return Object.hasOwn(workload, name) ? workload[name] : undefined
  }

  private reserved(name: string): TemplateValue {
    const { board } = this
    const { startMeta } = board.input
    switch (name) {
      case 'workload':
        return board.workload
      case 'ctx':
        return board.ctxRoot
      case 'vars':
        return board.vars
      case 'steps':
        return this.steps()
      case 'trace':
        return startMeta['trace']
      default:
        return startRoot(board.input, name)
    }
  }

  private steps(): JsonObject {
    const all: JsonObject = {}
    for (const { index, name } of this.board.plan.steps) {
      const visit = this.bound.get(index) ?? this.board.lastFinished(index)
      const isSkipped = !this.bound.has(index) && this.board.wasSkipped(index)
      if (visit === undefined && !isSkipped) continue
      const entry: JsonObject = visit === undefined ? {} : stepEntry({ ...visit, data: dataIn(this.board, visit) })
      setKey(all, name, isSkipped ? { ...entry, status: 'skipped' } : entry)
    }
    return all
  }
}

/** They mean the visit that has just ended. */
const ENDED_ROOTS: ReadonlySet<string> = new Set(['output', 'result', 'loop_results'])

/** What a comparison with `event.name` may ask for, beside the name itself. */
const EVENT_NAMES: Readonly<Record<string, readonly string[]>> = {
  'call.done': ['step.done'],
  'call.error': ['step.failed'],
  'command.failed': ['step.failed'],
  'step.exit': ['step.done', 'step.failed', 'loop.done'],
}

// --- places ---------------------------------------------------------------------------------------------------------

/** `set`, `vars` and arcs of a step that has just ended. */
export function exitContext(board: Board, visit: VisitData, attempt: number, name: string): EngineContext {
  const index = board.plan.stepIndex.get(name) as number
  const locals = new Map<string, () => TemplateValue>(endedLocals(board, visit, attempt, name))
  if (visit.isLoop) {
    locals.set('loop_results', () => objectKey(dataIn(board, visit), 'results'))
    locals.set('loop', () => ({ done: true, ...(objectKey(visit.data, 'stats') as JsonObject | undefined) }))
  }
  return new EngineContext(board, locals, new Map([[index, visit]]), visit)
}

/** Guard, configuration and arguments of a step that is entered by these arrivals. */
export function enterContext(
  board: Board,
  arrivals: readonly ArrivalOnBoard[],
  more: Locals = NO_LOCALS,
): EngineContext {
  const last = arrivals.at(-1)
  const locals = new Map<string, () => TemplateValue>()
  if (last !== undefined) {
    for (const [name, make] of endedLocals(board, last.data, 1, board.stepAt(last.source).name)) locals.set(name, make)
  }
  for (const [name, make] of more) locals.set(name, make)
  const bound = arrivals
    .filter(({ data }) => data.status !== 'skipped')
    .map(({ source, data }) => [source, data] as const)
  return new EngineContext(board, locals, new Map(bound), last?.data)
}

function endedLocals(board: Board, visit: VisitData, attempt: number, step: string): [string, () => TemplateValue][] {
  return [
    [
      'output',
      () => {
        const output = stepOutput({ ...visit, data: dataIn(board, visit) }, attempt)
        return withSelected(output, board, visit, selectionsOf(board, step))
      },
    ],
    ['result', () => dataIn(board, visit)],
    ['error', () => visit.error],
    ['event', () => ({ name: eventNameOf(visit), step, visit: visit.visit, status: visit.status, error: visit.error })],
  ]
}

function selectionsOf({ plan }: Board, step: string): readonly Selection[] {
  const index = plan.stepIndex.get(step)
  return index === undefined ? [] : (plan.steps[index]?.selections ?? [])
}

function eventNameOf({ status, isLoop }: VisitData): string {
  if (status === 'error') return 'step.failed'
  return isLoop ? 'loop.done' : 'step.done'
}

function objectKey(value: JsonValue, key: string): TemplateValue {
  return (value as JsonObject | null)?.[key]
}

/** The body of a loop. */
export function itemLocals(variable: string, item: JsonValue, index: number, total: number): Locals {
  const isFirst = index === 0
  const isLast = index === total - 1
  const iter = (): JsonObject => {
    const value: JsonObject = { item, index, _index: index, _first: isFirst, _last: isLast, _total: total }
    setKey(value, variable, item)
    return value
  }
  return new Map<string, () => TemplateValue>([
    [variable, () => item],
    ['iter', iter],
    ['_index', () => index],
    ['_total', () => total],
    ['loop_index', () => index],
    ['loop', () => ({ index: index + 1, index0: index, first: isFirst, last: isLast, length: total })],
  ])
}
