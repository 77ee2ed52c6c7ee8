// Records a log, event by event in id order, as columns: what happened when, and the spans of steps, commands, frames,
// stages and loops as places in the log. A mark of a span is set once and never moved, so the tape can be cut at any place.
import { canonicalEventType, meaningOf } from '../events/eventType.js'
import type { EventView } from '../replay/eventView.js'
import type { KeyIndex } from '../replay/keyframes/persistentMap.js'
import type { MapSurface } from '../replay/profile.js'
import { GrowingColumn } from './growingColumn.js'
import { NameList } from './nameList.js'
import { NewestSpans } from './newestSpans.js'
import { END_FLAG, FAILED_FLAG, OUTCOMES, type Outcome, SPAN_KINDS, type SpanKind } from './tapeFormat.js'

/** A call that failed is done: only its status says how. */
const FAILED_STATUS = /^(failed|error)$/i

/** What the type of an event says, looked up once. */
interface Sort {
  number: number
  flags: number
  isOfStep: boolean
  said: string | undefined
}

export class TapeRecorder {
  readonly types = new NameList()
  readonly steps = new NameList()
  readonly statuses = new NameList()
  readonly workers = new NameList()
  readonly pools = new NameList()
  readonly events = {
    type: GrowingColumn.ofWhole(),
    step: GrowingColumn.ofWhole(),
    status: GrowingColumn.ofWhole(),
    worker: GrowingColumn.ofWhole(),
    span: GrowingColumn.ofWhole(),
    flags: GrowingColumn.ofWhole(),
    /** Of the log; 0 is none. */
    version: GrowingColumn.ofWhole(),
  }
  /** Milliseconds since 1970. */
  readonly times = GrowingColumn.ofFloats()
  readonly spans = {
    kind: GrowingColumn.ofWhole(),
    /** Number of its entity, from 0. */
    key: GrowingColumn.ofWhole(),
    row: GrowingColumn.ofWhole(),
    /** Number of the span that it is a part of, from 1; 0 is none. */
    parent: GrowingColumn.ofWhole(),
    /** Of workers that it was issued for. */
    pool: GrowingColumn.ofWhole(),
    issued: GrowingColumn.ofWhole(),
    claimed: GrowingColumn.ofWhole(),
    started: GrowingColumn.ofWhole(),
    ended: GrowingColumn.ofWhole(),
    outcome: GrowingColumn.ofWhole(),
  }
  /** Entities that have spans, by id. */
  readonly keys: string[] = []
  private readonly sorts = new Map<string, Sort>()
  private readonly isFailedStatus: boolean[] = []
  private readonly newest: Readonly<Record<SpanKind, NewestSpans>>

  /** The index has the places of the entities in the state, which reads each event first. */
  constructor({ commands, frames, stages, loops }: Readonly<Record<MapSurface, KeyIndex>>) {
    this.newest = {
      // Steps are no entities of the state: their own number is their place.
      step: new NewestSpans({ placeOf: (name) => this.steps.numberOf(name) }),
      command: new NewestSpans(commands),
      frame: new NewestSpans(frames),
      stage: new NewestSpans(stages),
      loop: new NewestSpans(loops),
    }
  }

  get length(): number {
    return this.times.length
  }

  get bytes(): number {
    const { times, events, spans, newest } = this
    const columns = [times, ...Object.values(events), ...Object.values(spans), ...Object.values(newest)]
    return columns.reduce((sum, column) => sum + column.bytes, 0) + this.keys.length * 120
  }

  get spanCount(): number {
    return this.spans.issued.length
  }

  add(view: EventView, timeMs: number, version: number): void {
    const place = this.length + 1
    const sort = this.sortOf(view)
    const step = this.steps.numberOf(textOf(view.nodeName))
    const worker = textOf(view.event['worker_id'] ?? view.meta['worker_id'] ?? null)
    const status = this.statuses.numberOf(textOf(view.status))
    this.isFailedStatus[status] ??= FAILED_STATUS.test(this.statuses.names[status]!)
    const { events } = this
    events.type.push(sort.number)
    events.step.push(step)
    events.status.push(status)
    events.worker.push(this.workers.numberOf(worker))
    events.flags.push(this.isFailedStatus[status] ? sort.flags | FAILED_FLAG : sort.flags)
    events.version.push(version)
    this.times.push(timeMs)
    events.span.push(this.follow(view, sort, step, place, this.isFailedStatus[status]))
  }

  private sortOf({ type, kind }: EventView): Sort {
    let sort = this.sorts.get(type)
    if (sort === undefined) {
      const canonical = canonicalEventType(type)
      const said = meaningOf(canonical).step
      const isFailed = said === 'failed' || kind.frame === 'failed' || kind.execution === 'FAILED'
      const isEnd = kind.execution !== null && kind.execution !== 'RUNNING'
      const flags = (isFailed ? FAILED_FLAG : 0) | (isEnd ? END_FLAG : 0)
      sort = { number: this.types.numberOf(type), flags, isOfStep: canonical.startsWith('step.'), said }
      this.sorts.set(type, sort)
    }
    return sort
  }

  /** Whether that was news. */
  renumber(place: number, version: number): boolean {
    if (this.events.version.get(place - 1) === version) return false
    this.events.version.set(place - 1, version)
    return true
  }

  /** Forgets everything after a place. */
  cut(place: number): void {
    for (const column of Object.values(this.events)) column.cut(place)
    this.times.cut(place)
    const { spans } = this
    let kept = this.spanCount
    while (kept > 0 && spans.issued.get(kept - 1) > place) kept--
    for (const column of Object.values(spans)) column.cut(kept)
    for (const newest of Object.values(this.newest)) newest.clear()
    let keys = 0
    for (let index = 0; index < kept; index++) {
      const key = spans.key.get(index)
      this.newest[SPAN_KINDS[spans.kind.get(index)]!].set(this.keys[key]!, index + 1)
      keys = Math.max(keys, key + 1)
      for (const mark of [spans.claimed, spans.started, spans.ended]) if (mark.get(index) > place) mark.set(index, 0)
      if (spans.ended.get(index) === 0) spans.outcome.set(index, 0)
    }
    this.keys.length = keys
  }

  /** Answers the number of the span that the event belongs to most closely; 0 is none. */
  private follow(view: EventView, { isOfStep, said }: Sort, step: number, place: number, isFailed: boolean): number {
    const { kind } = view
    let closest = 0
    if (view.loopId) {
      closest = this.touch('loop', view.loopId, step, 0, place)
      if (kind.loop === 'completed') this.end(closest, place, 'completed')
    }
    if (view.stageId) {
      closest = this.touch('stage', view.stageId, step, closest, place)
      if (kind.stage === 'closed') this.end(closest, place, 'completed')
    }
    if (isOfStep && step !== 0) {
      closest = this.touch('step', this.steps.names[step]!, step, closest, place, said === 'running')
      // A step that failed is left as well: how, its status says.
      const hasSucceeded = said === 'done' && !isFailed
      if (said !== undefined && said !== 'running') this.end(closest, place, hasSucceeded ? 'completed' : 'failed')
    }
    if (view.frameId) {
      closest = this.touch('frame', view.frameId, step, closest, place)
      this.moveFrame(closest, kind.frame, place)
    }
    if (!view.commandId) return closest
    const parent = closest || (step === 0 ? 0 : this.newest.step.of(this.steps.names[step]!))
    closest = this.touch('command', view.commandId, step, parent, place, kind.command === 'issued')
    mark(this.spans.pool, closest, this.pools.numberOf(textOf(view.meta['execution_pool'])))
    this.moveCommand(closest, kind.command, place)
    return closest
  }

  private moveFrame(span: number, action: EventView['kind']['frame'], place: number): void {
    if (action === 'dispatched') mark(this.spans.claimed, span, place)
    else if (action === 'started') mark(this.spans.started, span, place)
    else if (action === 'committed') this.end(span, place, 'completed')
    else if (action === 'failed') this.end(span, place, 'failed')
  }

  private moveCommand(span: number, action: EventView['kind']['command'], place: number): void {
    if (action === 'claimed') mark(this.spans.claimed, span, place)
    else if (action === 'started') mark(this.spans.started, span, place)
    else if (action === 'completed' || action === 'failed' || action === 'cancelled') this.end(span, place, action)
  }

  /** The span of an entity; one that begins again after its end gets a new one. */
  private touch(kind: SpanKind, id: string, row: number, parent: number, place: number, begins = false): number {
    const { spans, keys } = this
    const newest = this.newest[kind]
    const known = newest.of(id)
    if (known !== 0 && !(begins && spans.ended.get(known - 1) !== 0)) return known
    newest.set(id, this.spanCount + 1)
    spans.key.push(known === 0 ? keys.push(id) - 1 : spans.key.get(known - 1))
    spans.kind.push(SPAN_KINDS.indexOf(kind))
    spans.row.push(row)
    spans.parent.push(parent)
    spans.pool.push(0)
    spans.issued.push(place)
    spans.claimed.push(0)
    // A command waits and a frame is handed out; everything else has begun when it is first spoken of.
    spans.started.push(kind === 'command' || kind === 'frame' ? 0 : place)
    spans.ended.push(0)
    spans.outcome.push(0)
    return this.spanCount
  }

  private end(span: number, place: number, outcome: Outcome): void {
    if (this.spans.ended.get(span - 1) !== 0) return
    this.spans.ended.set(span - 1, place)
    this.spans.outcome.set(span - 1, OUTCOMES.indexOf(outcome))
  }
}

function mark(column: GrowingColumn, span: number, place: number): void {
  if (column.get(span - 1) === 0) column.set(span - 1, place)
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
