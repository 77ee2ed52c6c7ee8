// An execution in memory: the log, the state folded from it, and the engine asked after every event, as the daemon does.
// Whoever plays the worker answers commands by hand. Every run checks what must hold of every log: a decision key once, a
// command key once, one end and nothing after it.

import { expect } from 'vitest'
import { decide } from '../../src/domain/engine/decide.js'
import { ENGINE_DEFAULTS, ENGINE_VERSION, type EngineSettings } from '../../src/domain/engine/settings.js'
import { isTerminalEventType } from '../../src/domain/events/eventType.js'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import type { Plan } from '../../src/domain/playbook/plan.js'
import { planOf } from '../../src/domain/playbook/planOf.js'
import { referenceTo } from '../../src/domain/results/extracted.js'
import { applyEvent } from '../../src/domain/state/applyEvent.js'
import type { Decision, EmittedEvent, NewCommand, Verdict } from '../../src/domain/state/orchestrator.js'
import { parseState, serialiseState } from '../../src/domain/state/serialiseState.js'
import type { WorkflowEvent } from '../../src/domain/state/workflowEvent.js'
import { emptyState, type WorkflowState } from '../../src/domain/state/workflowState.js'

export const EXECUTION = '380600494935949312' as ExecutionId
const HEAD = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: test, path: tests/test}\n'

export function planFrom(body: string): Plan {
  const { plan, problems } = planOf(HEAD + body)
  if (plan === undefined) throw new Error(problems.map(({ pointer, message }) => `${pointer}: ${message}`).join('\n'))
  return plan
}

export interface RunOptions {
  workload?: JsonObject
  startMeta?: JsonObject
  settings?: Partial<EngineSettings>
  /** Values stored outside of the log. */
  stored?: ReadonlyMap<string, JsonValue>
}

export interface Logged extends WorkflowEvent {
  status: string
}

export class Run {
  readonly log: Logged[] = []
  state: WorkflowState = emptyState(EXECUTION)
  readonly decisions: Decision[] = []
  readonly keys = new Set<string>()
  readonly commands = new Map<string, NewCommand>()
  nowMs = 1_780_000_000_000
  last: Verdict | undefined
  private nextId = BigInt(EXECUTION)
  /** What was too large for the log. */
  readonly stored = new Map<string, JsonValue>()
  /** What decisions have asked for, in order. */
  readonly fetches: string[] = []

  constructor(
    readonly plan: Plan,
    readonly options: RunOptions = {},
  ) {}

  /** Starts it and lets the engine do what it can. */
  start(): this {
    const context = { path: 'tests/test', version: 1, workload: { ...this.plan.workload, ...this.options.workload } }
    const meta = { emitter: 'control_plane', engine: ENGINE_VERSION, ...this.options.startMeta }
    this.append({ eventType: 'playbook_started', nodeName: 'playbook', status: 'STARTED', context, meta })
    return this.settle()
  }

  append(event: EmittedEvent, id?: string): Logged {
    this.nextId += 1000n
    const whole = parseJson(
      writeJson({
        eventType: event.eventType,
        status: event.status ?? 'STARTED',
        ...(event.nodeName === undefined ? {} : { nodeName: event.nodeName }),
        ...(event.context === undefined ? {} : { context: event.context }),
        result: event.result ?? { status: event.status ?? 'STARTED' },
        meta: event.meta ?? {},
        ...(event.error === undefined ? {} : { error: event.error }),
      }),
    ) as unknown as Logged
    const logged = {
      ...whole,
      executionId: EXECUTION,
      catalogId: '77',
      eventId: id ?? String(this.nextId),
      createdAt: wireTimeFromMillis(this.nowMs),
    } as unknown as Logged
    const ended = this.log.some(({ eventType }) => isTerminalEventType(eventType))
    if (ended && event.meta !== undefined && (event.meta as JsonObject)['emitter'] === 'orchestrator') {
      throw new Error(`the engine wrote ${event.eventType} after the end`)
    }
    this.log.push(logged)
    applyEvent(this.state, logged)
    return logged
  }

  ask(): Verdict | undefined {
    const { plan, state, nowMs, options } = this
    const fetched = new Map<string, JsonValue | undefined>()
    for (let round = 0; ; round++) {
      const settings = { ...ENGINE_DEFAULTS, ...options.settings }
      const before = serialiseState(state)
      const verdict = decide({ plan, state, settings, nowMs, startMeta: options.startMeta ?? {}, fetched })
      expect(serialiseState(state), 'deciding changes nothing').toBe(before)
      if (verdict === undefined || !('needs' in verdict)) return verdict
      for (const ref of verdict.needs) {
        this.fetches.push(ref)
        fetched.set(ref, options.stored?.get(ref) ?? this.stored.get(ref))
      }
      if (round > 10) throw new Error('it never has what it needs')
    }
  }

  /** Asks until there is nothing to decide. */
  settle(): this {
    for (let round = 0; round < 20_000; round++) {
      const verdict = this.ask()
      this.last = verdict
      if (verdict === undefined || !('key' in verdict)) return this
      this.write(verdict)
    }
    throw new Error('it never comes to rest')
  }

  /** As the writer of decisions does it: a key once, the events together. */
  write(decision: Decision): void {
    expect(this.keys, `the key ${decision.key} again`).not.toContain(decision.key)
    expect(decision.events.length, `nothing in ${decision.key}`).toBeGreaterThan(0)
    this.keys.add(decision.key)
    this.decisions.push(decision)
    for (const command of decision.commands ?? []) {
      expect(this.commands.has(command.key), `the command ${command.key} again`).toBe(false)
      expect(decision.events[command.event]).toMatchObject({
        eventType: 'command.issued',
        meta: { command_id: command.key },
      })
      this.commands.set(command.key, command)
    }
    for (const emitted of decision.events) {
      const event = this.withPartStored(emitted)
      const meta = { ...(event.meta as JsonObject), emitter: 'orchestrator', idempotency_key: decision.key }
      this.append({ ...event, meta })
    }
  }

  private withPartStored({ large, ...event }: EmittedEvent): EmittedEvent {
    if (large === undefined) return event
    const ref = `noetl://stored/${this.stored.size}`
    this.stored.set(ref, parseJson(large.text))
    if (large.at === 'items') return { ...event, context: { ...(event.context as JsonObject), items_ref: ref } }
    const reference = referenceTo({ ref }, large.extracted ?? {})
    return { ...event, result: { ...(event.result as JsonObject), reference } }
  }

  /** The state read back from its text, as after a restart; or folded again from the log. */
  restart(how: 'text' | 'log' = 'log'): this {
    if (how === 'text') this.state = parseState(serialiseState(this.state))
    else {
      const before = serialiseState(this.state)
      this.state = emptyState(EXECUTION)
      for (const event of this.log) applyEvent(this.state, event)
      expect(serialiseState(this.state), 'the log folded again').toBe(before)
    }
    return this
  }

  // --- the worker -----------------------------------------------------------------------------------------------------

  id(step: string, visit = 1, suffix = ''): string {
    return `${EXECUTION}:${step}:${visit}${suffix === '' ? '' : `:${suffix}`}`
  }

  /** Answers a command with data; without `settle` the engine is not asked. */
  done(command: string, data: JsonValue = {}, more: JsonObject = {}, beside: JsonObject = {}): void {
    const node = this.nodeOf(command)
    const envelope = { status: 'success', data, duration_ms: 1, ...beside }
    const call = { command_id: command, call_index: 0, result: { status: 'success', context: envelope } }
    this.append({
      ...node,
      eventType: 'call.done',
      status: 'COMPLETED',
      result: { status: 'COMPLETED', context: call },
      meta: { command_id: command, ...more },
    })
    this.completed(command, more)
  }

  completed(command: string, more: JsonObject = {}): void {
    const node = this.nodeOf(command)
    const context = { command_id: command, status: 'success' }
    this.append({
      ...node,
      eventType: 'command.completed',
      status: 'success',
      result: { status: 'success', context },
      meta: { command_id: command, ...more },
    })
  }

  failed(command: string, error: JsonValue = 'broken', more: JsonObject = {}): void {
    const node = this.nodeOf(command)
    const context = { command_id: command, error }
    this.append({
      ...node,
      eventType: 'command.failed',
      status: 'FAILED',
      result: { status: 'FAILED', context },
      meta: { command_id: command, ...more },
    })
  }

  /** Answers, and lets the engine go on. */
  answer(step: string, data: JsonValue = {}, visit = 1, suffix = ''): this {
    this.done(this.id(step, visit, suffix), data)
    return this.settle()
  }

  fail(step: string, error: JsonValue = 'broken', visit = 1, suffix = ''): this {
    this.failed(this.id(step, visit, suffix), error)
    return this.settle()
  }

  private nodeOf(command: string): { nodeName: string } {
    const known = this.commands.get(command)
    return { nodeName: known?.step ?? (command.split(':')[1] as string) }
  }

  // --- looking --------------------------------------------------------------------------------------------------------

  /** Commands that were issued to somebody and have not ended. */
  open(): string[] {
    const ended = new Set(
      this.log
        .filter(({ eventType }) => eventType === 'command.completed' || eventType === 'command.failed')
        .map(({ meta }) => (meta as JsonObject)['command_id']),
    )
    return [...this.commands.keys()].filter((key) => !ended.has(key))
  }

  /** One word per event of a decision: `step.exit a`. */
  words(decision: Decision | undefined = this.decisions.at(-1)): string[] {
    return (decision?.events ?? []).map(({ eventType, nodeName }) => [eventType, nodeName].filter(Boolean).join(' '))
  }

  entries(): string[] {
    return this.log.filter(({ eventType }) => eventType === 'step.enter').map(({ nodeName }) => nodeName as string)
  }

  get end(): Logged | undefined {
    const ends = this.log.filter(({ eventType }) => isTerminalEventType(eventType))
    expect(ends.length).toBeLessThanOrEqual(1)
    return ends[0]
  }

  get status(): string {
    return this.end?.status ?? 'RUNNING'
  }

  get ctx(): JsonObject {
    return Object.fromEntries([...this.state.ctx].map(([key, { value }]) => [key, parseJson(value)]))
  }

  get vars(): JsonObject {
    return Object.fromEntries([...this.state.vars].map(([key, { value }]) => [key, parseJson(value)]))
  }

  issued(command: string): JsonObject {
    const event = this.log.find(
      ({ eventType, meta }) => eventType === 'command.issued' && (meta as JsonObject)['command_id'] === command,
    )
    if (event === undefined) throw new Error(`no command ${command}`)
    return event.context as JsonObject
  }

  exit(step: string, visit = 1): Logged {
    const event = this.log.find(
      ({ eventType, nodeName, meta }) =>
        eventType === 'step.exit' && nodeName === step && (meta as JsonObject)['visit'] === visit,
    )
    if (event === undefined) throw new Error(`step ${step} was not left`)
    return event
  }
}

export function run(body: string, options: RunOptions = {}): Run {
  return new Run(planFrom(body), options).start()
}
