// What the events of an execution tell a person: one entry per visit of a step, and how it all ended. Pure: events in the
// order of the log go in, the entries that changed come out.
import { parseWireTime, wireTimeToMicros } from '../../domain/events/wireTime.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'

export interface Visit {
  step: string
  kind: string
  number: number
  state: 'running' | 'ok' | 'failed' | 'handled' | 'skipped'
  startedMs: number
  endedMs: number | undefined
  loop: { total: number | undefined; mode: string; maxInFlight: number | undefined } | undefined
  /** Commands of the visit. */
  issued: number
  done: number
  failed: number
  /** The last thing worth a remark: a retry, a worker that was lost. */
  note: string | undefined
  data: JsonValue | undefined
  error: JsonObject | undefined
  stderr: string
  /** Why it was skipped. */
  reason: string | undefined
}

export interface Ending {
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED'
  error: string | undefined
  errorKind: string | undefined
  failedSteps: string[]
  durationMs: number
}

const ENDINGS: Readonly<Record<string, Ending['status']>> = {
  'playbook.completed': 'COMPLETED',
  'playbook.failed': 'FAILED',
  playbook_cancelled: 'CANCELLED',
  'execution.cancelled': 'CANCELLED',
}

export class Story {
  readonly visits: Visit[] = []
  /** By step; a step has one live visit at a time. */
  private readonly live = new Map<string, Visit>()
  private startedMs: number | undefined
  commands = 0
  ending: Ending | undefined

  /** The visit that changed; undefined when there is nothing new to show. */
  tell(event: JsonObject): Visit | undefined {
    const type = String(event['event_type'])
    const step = String(event['node_name'] ?? '')
    const atMs = timeOf(event)
    this.startedMs ??= atMs
    const visit = this.live.get(step)
    switch (type) {
      case 'step.enter':
        return this.enter(step, event, atMs)
      case 'step.skipped':
        return this.skip(step, event, atMs)
      case 'command.issued':
        this.commands += 1
        return visit === undefined ? undefined : issued(visit, event)
      case 'command.claimed':
        return visit === undefined ? undefined : reclaimed(visit, event)
      case 'command.heartbeat':
        return visit === undefined ? undefined : noted(visit, event)
      case 'call.done':
        return visit === undefined ? undefined : answered(visit, event)
      case 'command.completed':
        if (visit !== undefined) visit.done += 1
        return visit
      case 'call.error':
        return visit === undefined ? undefined : wentWrong(visit, event)
      case 'command.failed':
        if (visit === undefined) return undefined
        visit.failed += 1
        return wentWrong(visit, event)
      case 'step.exit':
        return visit === undefined ? undefined : this.exit(visit, event, atMs)
      default:
        if (ENDINGS[type] !== undefined) this.end(ENDINGS[type], event, atMs)
        return undefined
    }
  }

  private enter(step: string, event: JsonObject, atMs: number): Visit {
    const context = mapAt(event, 'context')
    const isLoop = context['iterations_expected'] !== undefined || context['__cursor_loop'] === true
    const visit: Visit = {
      step,
      kind: String(event['node_type'] ?? ''),
      number: Number(mapAt(event, 'meta')['visit'] ?? 1),
      state: 'running',
      startedMs: atMs,
      endedMs: undefined,
      loop: isLoop
        ? {
            total: numberAt(context, 'iterations_expected'),
            mode: context['__cursor_loop'] === true ? 'cursor' : String(context['mode'] ?? ''),
            maxInFlight: numberAt(context, 'max_in_flight'),
          }
        : undefined,
      issued: 0,
      done: 0,
      failed: 0,
      note: undefined,
      data: undefined,
      error: undefined,
      stderr: '',
      reason: undefined,
    }
    this.visits.push(visit)
    this.live.set(step, visit)
    return visit
  }

  private skip(step: string, event: JsonObject, atMs: number): Visit | undefined {
    const reason = String(mapAt(event, 'context')['reason'] ?? '')
    const visit = this.enter(step, event, atMs)
    this.live.delete(step)
    Object.assign(visit, { state: 'skipped', endedMs: atMs, reason })
    return visit
  }

  private exit(visit: Visit, event: JsonObject, atMs: number): Visit {
    const isFailed = event['status'] === 'FAILED'
    visit.state = !isFailed ? 'ok' : mapAt(event, 'meta')['handled'] === true ? 'handled' : 'failed'
    visit.endedMs = atMs
    const said = mapAt(mapAt(event, 'result'), 'context')
    if (visit.loop === undefined && said['data'] !== undefined) visit.data = said['data']
    if (isFailed && visit.error === undefined) {
      const error = said['error'] ?? mapAt(event, 'context')['error']
      visit.error = isJsonObject(error) ? error : { message: String(error ?? event['error'] ?? 'failed') }
    }
    this.live.delete(visit.step)
    return visit
  }

  private end(status: Ending['status'], event: JsonObject, atMs: number): void {
    const context = mapAt(event, 'context')
    const failed = context['failed_steps']
    this.ending = {
      status,
      error: typeof event['error'] === 'string' ? event['error'] : textAt(context, 'error'),
      errorKind: textAt(context, 'error_kind'),
      failedSteps: Array.isArray(failed) ? failed.map(String) : [],
      durationMs: atMs - (this.startedMs ?? atMs),
    }
  }
}

/** The event that entered a loop may be too large to be sent with its context; its commands know of the loop, too. */
function issued(visit: Visit, event: JsonObject): Visit {
  visit.issued += 1
  const total = numberAt(mapAt(event, 'meta'), 'iteration_total')
  if (total !== undefined) visit.loop ??= { total, mode: '', maxInFlight: undefined }
  return visit
}

function answered(visit: Visit, event: JsonObject): Visit {
  const envelope = mapAt(mapAt(said(event), 'result'), 'context')
  const runs = runsOf(envelope)
  if (runs > 1) visit.note = `${runs} runs`
  if (visit.loop === undefined) visit.data = envelope['data'] ?? visit.data
  if (typeof envelope['stderr'] === 'string') visit.stderr = envelope['stderr']
  if (isJsonObject(envelope['error'])) visit.error = envelope['error']
  return visit
}

function wentWrong(visit: Visit, event: JsonObject): Visit {
  const payload = said(event)
  const envelope = mapAt(mapAt(payload, 'result'), 'context')
  const error = payload['error'] ?? envelope['error']
  if (isJsonObject(error)) visit.error = error
  else if (visit.error === undefined) visit.error = { message: String(error ?? event['error'] ?? 'failed') }
  if (typeof envelope['stderr'] === 'string') visit.stderr = envelope['stderr']
  return visit
}

/** Workers put what they say into the result, others into the context. */
function said(event: JsonObject): JsonObject {
  return { ...mapAt(event, 'context'), ...mapAt(mapAt(event, 'result'), 'context') }
}

function runsOf(envelope: JsonObject): number {
  const tasks = mapAt(envelope, 'meta')['tasks']
  const runs = Array.isArray(tasks) ? tasks.map((task) => (isJsonObject(task) ? Number(task['runs'] ?? 1) : 1)) : []
  return Math.max(1, ...runs)
}

function noted(visit: Visit, event: JsonObject): Visit {
  visit.note = textAt(mapAt(event, 'context'), 'note') ?? visit.note
  return visit
}

function reclaimed(visit: Visit, event: JsonObject): Visit {
  const meta = mapAt(event, 'meta')
  if (meta['reclaimed'] === true) visit.note = `its worker was lost; attempt ${String(meta['attempt'])}`
  return visit
}

function timeOf(event: JsonObject): number {
  const time = parseWireTime(event['timestamp'], 'timestamp')
  return time === undefined ? 0 : Number(wireTimeToMicros(time) / 1_000n)
}

function mapAt(value: JsonValue | undefined, key: string): JsonObject {
  const inner = isJsonObject(value) ? value[key] : undefined
  return isJsonObject(inner) ? inner : {}
}

function textAt(map: JsonObject, key: string): string | undefined {
  const value = map[key]
  return typeof value === 'string' ? value : undefined
}

function numberAt(map: JsonObject, key: string): number | undefined {
  const value = map[key]
  return value === undefined || value === null ? undefined : Number(value)
}
