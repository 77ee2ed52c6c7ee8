// When things happened, gathered beside the fold: per step and per command, from the times of the events. It
// is for people and never part of a state. Bounded: a log of any length costs no more than its first entries.

import { canonicalEventType, meaningOf } from '../events/eventType.js'
import { parseWireTime, type WireTime } from '../events/wireTime.js'
import type { JsonObject } from '../json/value.js'
import { textOrNull } from './coerce.js'

export type SpanState = 'running' | 'done' | 'failed' | 'cancelled' | 'seen'

export interface Span {
  name: string
  state: SpanState
  from: WireTime
  to: WireTime
  events: number
  /** Commands of a step: issued, completed, failed. */
  issued: number
  completed: number
  failed: number
}

export interface TimelineReport {
  from: WireTime | null
  to: WireTime | null
  steps: Span[]
  commands: Span[]
  /** Entries that were left out because there are too many. */
  leftOut: number
}

const SPANS_MAX = 2_000

export class Timeline {
  private from: WireTime | null = null
  private to: WireTime | null = null
  private readonly steps = new Map<string, Span>()
  private readonly commands = new Map<string, Span>()
  private leftOut = 0

  /** Events in id order; `meta` is parsed. An event without a readable time is left out. */
  add(event: JsonObject, timeText: unknown): void {
    const time = readTime(timeText)
    if (time === undefined) return
    if (this.from === null || time < this.from) this.from = time
    if (this.to === null || time > this.to) this.to = time
    const type = canonicalEventType(textOrNull(event['event_type']) ?? '')
    const node = textOrNull(event['node_name'])
    if (node) this.touchStep(node, type, time)
    const meta = event['meta']
    const inMeta = typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? (meta as JsonObject) : {}
    const command = textOrNull(event['command_id'] ?? inMeta['command_id'])
    if (command && type.startsWith('command.')) this.touch(this.commands, command, meaningOf(type).step, time)
  }

  report(): TimelineReport {
    return {
      from: this.from,
      to: this.to,
      steps: Array.from(this.steps.values()),
      commands: Array.from(this.commands.values()),
      leftOut: this.leftOut,
    }
  }

  private touchStep(node: string, type: string, time: WireTime): void {
    const state = meaningOf(type).step
    const isCommand = type.startsWith('command.')
    const step = this.touch(this.steps, node, isCommand ? undefined : state, time)
    if (step === undefined) return
    if (type === 'command.issued') step.issued++
    else if (type === 'command.completed') step.completed++
    else if (type === 'command.failed') step.failed++
    // Logs without step events: commands tell how far the step is.
    if (isCommand && state !== undefined && (step.state === 'seen' || step.state === 'running')) step.state = 'running'
  }

  private touch(
    spans: Map<string, Span>,
    name: string,
    state: SpanState | undefined,
    time: WireTime,
  ): Span | undefined {
    let span = spans.get(name)
    if (span === undefined) {
      if (spans.size >= SPANS_MAX) {
        this.leftOut++
        return undefined
      }
      span = { name, state: 'seen', from: time, to: time, events: 0, issued: 0, completed: 0, failed: 0 }
      spans.set(name, span)
    }
    span.events++
    if (time < span.from) span.from = time
    if (time > span.to) span.to = time
    if (state !== undefined) span.state = state
    return span
  }
}

function readTime(value: unknown): WireTime | undefined {
  try {
    return parseWireTime(value, 'time')
  } catch {
    return undefined
  }
}
