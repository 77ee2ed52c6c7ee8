// The rules of the fold written the simple way: sort by event id, drop repetitions, change one object per
// step. Slow, order-bound and independent of the code under test; what the real fold shows must equal this.

import { canonicalEventType, terminalStatusOf } from '../../src/domain/events/eventType.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import type { WorkflowEvent } from '../../src/domain/state/workflowEvent.js'

interface Step {
  state: string
  result?: JsonValue
  error?: string
  entered_at?: string
  completed_at?: string
  completed_event_id?: bigint
  attempt: number
  expected?: number
  dispatched: string[]
  finished: string[]
  /** With the index of its item. */
  results: [number, JsonValue][]
  indices: Map<string, number>
  isCursor: boolean
  places: Map<string, [string, number]>
  frames: Map<number, JsonObject>
  dones: Map<string, JsonValue>
  mine: Set<string>
  newest?: string
}

const fresh = (): Step => ({
  state: 'pending',
  attempt: 0,
  dispatched: [],
  finished: [],
  results: [],
  indices: new Map(),
  isCursor: false,
  places: new Map(),
  frames: new Map(),
  dones: new Map(),
  mine: new Set(),
})

const part = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  isJsonObject(value) ? value[key] : undefined

export function inOrderFold(events: readonly WorkflowEvent[]): JsonObject {
  const byId = new Map(events.map((event) => [event.eventId, event]))
  const log = [...byId.values()].sort((a, b) => (BigInt(a.eventId) < BigInt(b.eventId) ? -1 : 1))
  const steps = new Map<string, Step>()
  const over = new Set<string>()
  const ctx: JsonObject = {}
  const marks: JsonObject = {}
  const view: JsonObject = { state: 'initial' }

  for (const event of log) {
    if (event.nodeName === '__orchestrate__') continue
    const type = canonicalEventType(event.eventType)
    const status = terminalStatusOf(type)
    if (status !== undefined) {
      view['state'] = status.toLowerCase()
      view['completed_at'] = event.createdAt
    }
    if (view['state'] === 'initial' && ['playbook.started', 'step.enter'].includes(type)) view['state'] = 'in_progress'
    if (type === 'playbook.started') {
      for (const key of ['workload', 'path', 'version']) view[key] = part(event.context, key) as JsonValue
      view['started_at'] = event.createdAt
      view['parent_execution_id'] = Number(event.parentExecutionId)
      view['catalog_id'] = Number(event.catalogId)
    }
    const context = part(event.result, 'context') ?? event.context
    if (type === 'ctx.updated') {
      Object.assign(ctx, part(context, 'values'))
      marks[part(context, 'step') as string] = part(context, 'gen') as JsonValue
      continue
    }
    const name = event.nodeName as string
    const id = (part(event.meta, 'command_id') ?? part(context, 'command_id')) as string | undefined
    if (!/^(step|command|call)\./.test(type) || type === 'command.heartbeat' || type === 'call.error') continue
    if (type === 'step.enter' && event.workerId === undefined) {
      for (const old of steps.get(name)?.mine ?? []) over.add(old)
      const step = fresh()
      step.state = 'entered'
      step.entered_at = event.createdAt
      const expected = part(context, 'iterations_expected')
      if (typeof expected === 'number') step.expected = expected
      step.isCursor = part(context, '__cursor_loop') === true
      steps.set(name, step)
      continue
    }
    if (id !== undefined && over.has(id)) continue
    const step = steps.get(name) ?? fresh()
    steps.set(name, step)
    fold(step, type, event, id, context)
  }

  view['steps'] = Object.fromEntries([...steps].map(([name, step]) => [name, show(name, step)]))
  if (Object.keys(ctx).length > 0) view['ctx'] = ctx
  if (Object.keys(marks).length > 0) view['ctx_set_marks'] = marks
  return view
}

function fold(
  step: Step,
  type: string,
  event: WorkflowEvent,
  id: string | undefined,
  context: JsonValue | undefined,
): void {
  const isOver = ['completed', 'failed', 'skipped'].includes(step.state)
  if (type === 'step.skipped') {
    Object.assign(step, { state: 'skipped', entered_at: event.createdAt, completed_at: event.createdAt })
    delete step.result
    delete step.completed_event_id
    delete step.error
  } else if (type === 'command.issued' && id !== undefined) {
    step.mine.add(id)
    step.dispatched.push(id)
    const index = part(event.meta, 'iteration_index')
    if (typeof index === 'number') step.indices.set(id, index)
    step.newest = id
    const cursor = part(event.meta, 'cursor')
    if (cursor !== undefined) {
      const place: [string, number] = [part(cursor, 'phase') as string, part(cursor, 'frame') as number]
      step.places.set(id, place)
      const frame = step.frames.get(place[1]) ?? { body_issued: 0, body_completed: 0 }
      step.frames.set(place[1], frame)
      if (place[0] === 'body') frame['body_issued'] = (frame['body_issued'] as number) + 1
    }
    step.attempt = 0
    if (step.expected === undefined && !step.isCursor) {
      for (const key of ['result', 'error', 'completed_at', 'completed_event_id'] as const) delete step[key]
    }
    if (!(isOver && (step.expected !== undefined || step.isCursor))) step.state = 'command_issued'
  } else if (type === 'command.claimed' && !isOver && id === step.newest && step.state === 'command_issued') {
    step.state = 'command_claimed'
  } else if (type === 'command.started' && id === step.newest) {
    step.attempt = part(event.meta, 'attempt') as number
    if (!isOver) step.state = 'command_started'
  } else if (type === 'call.done' && id !== undefined) {
    const place = step.places.get(id)
    if (place?.[0] === 'claim') {
      const rows = part(part(part(part(context, 'result'), 'context'), 'data'), 'rows')
      ;(step.frames.get(place[1]) as JsonObject)['claim_rows'] = rows as JsonValue
    } else if (!step.isCursor && step.expected === undefined) step.result = event.result as JsonValue
    else step.dones.set(id, event.result as JsonValue)
  } else if (type === 'command.completed' || type === 'step.exit') complete(step, type, event, id, context)
  else if (type === 'command.failed' && !(step.expected === undefined && !step.isCursor && id !== step.newest)) {
    step.state = 'failed'
    step.completed_at = event.createdAt
    const error = part(context, 'error')
    if (typeof error === 'string') step.error = error
    else delete step.error
  }
}

function complete(
  step: Step,
  type: string,
  event: WorkflowEvent,
  id: string | undefined,
  context: JsonValue | undefined,
): void {
  const place = id === undefined ? undefined : step.places.get(id)
  if (step.isCursor && part(context, '__cursor_drained') !== true) {
    const frame = step.frames.get(place?.[1] as number) as JsonObject
    if (place?.[0] === 'claim') frame['claim_completed'] = true
    else frame['body_completed'] = (frame['body_completed'] as number) + 1
    step.finished.push(id as string)
    return
  }
  if (step.expected !== undefined) {
    if (id !== undefined) {
      step.finished.push(id)
      step.results.push([step.indices.get(id) ?? 0, step.dones.get(id) ?? (event.result as JsonValue)])
      step.results.sort(([a], [b]) => a - b)
    }
    if (step.state === 'failed' || step.finished.length < step.expected) return
    step.result = step.results.map(([, result]) => result)
  } else if (step.isCursor) {
    step.result = event.result as JsonValue
  } else {
    if (type === 'step.exit' && ['completed', 'failed'].includes(step.state)) return
    step.result ??= event.result as JsonValue
  }
  step.state = 'completed'
  step.completed_at = event.createdAt
  step.completed_event_id = BigInt(event.eventId)
}

function show(name: string, step: Step): JsonObject {
  const isLoop = step.expected !== undefined || step.isCursor
  const shown: Record<string, unknown> = {
    name,
    // Which of its commands a running loop names is not part of the promise.
    state: isLoop && step.state.startsWith('command_') ? 'running' : step.state,
    result: step.result,
    error: step.error,
    entered_at: step.entered_at,
    completed_at: step.completed_at,
    completed_event_id: step.completed_event_id,
    attempt: step.attempt,
    iterations_expected: step.expected,
  }
  if (step.expected !== undefined) {
    shown['iterations_dispatched'] = step.dispatched.length
    if (step.finished.length > 0) shown['iteration_command_ids'] = [...step.finished].sort()
    if (step.results.length > 0) shown['iteration_results'] = step.results.map(([, result]) => result)
  }
  if (step.isCursor) {
    shown['is_cursor'] = true
    if (step.places.size > 0) shown['cursor_issued'] = Object.fromEntries(step.places)
    if (step.finished.length > 0) shown['cursor_completed'] = [...step.finished].sort()
    if (step.frames.size > 0) shown['cursor_frames'] = Object.fromEntries(step.frames)
  }
  for (const key of Object.keys(shown)) if (shown[key] === undefined) delete shown[key]
  return shown as JsonObject
}
