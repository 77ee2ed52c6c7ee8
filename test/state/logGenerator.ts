// Builds valid logs as the orchestrator and its workers write them: plain steps with and without
// step.enter, steps that are entered again, sequential, parallel and cursor loops, failures, skips, context
// updates, cancellations, answers that come after their step was entered again, and both spellings of
// types. The same seed gives the same log.

import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import type { WorkflowEvent } from '../../src/domain/state/workflowEvent.js'

export const EXECUTION = '320816801799737344'

type Draft = Omit<WorkflowEvent, 'eventId' | 'createdAt' | 'executionId'>

export interface Random {
  (): number
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return Object.assign(next, {
    below: (limit: number) => Math.floor(next() * limit),
    chance: (probability: number) => next() < probability,
    pick: <T>(items: readonly T[]) => items[Math.floor(next() * items.length)] as T,
  })
}

const SPELLINGS: Record<string, string[]> = {
  'step.enter': ['step.enter', 'step_enter', 'step_started'],
  'step.exit': ['step.exit', 'step_completed'],
  'step.skipped': ['step.skipped', 'step_skipped'],
  'command.started': ['command.started', 'action_started'],
  'command.completed': ['command.completed', 'action_completed'],
  'command.failed': ['command.failed', 'action_failed'],
  'call.done': ['call.done', 'action_done'],
  'playbook.started': ['playbook_started', 'playbook.started'],
  'playbook.completed': ['playbook.completed', 'playbook_completed'],
  'playbook.failed': ['playbook.failed', 'playbook_failed'],
  'execution.cancelled': ['execution.cancelled', 'playbook_cancelled', 'playbook.canceled'],
}

export function buildLog(seed: number): WorkflowEvent[] {
  const random = randomOf(seed)
  let commands = 0

  const draft = (type: string, nodeName: string, more: Partial<Draft> = {}): Draft => ({
    eventType: random.pick(SPELLINGS[type] ?? [type]),
    nodeName,
    ...more,
  })
  const enter = (step: string, context: JsonObject = {}): Draft =>
    random.chance(0.5)
      ? draft('step.enter', step, { context, meta: { emitted_by: 'orchestrator' } })
      : draft('step.enter', step, { result: { status: 'STARTED', context }, meta: { emitted_by: 'orchestrator' } })

  /** One command from its issue to its end; the parts after the first come from a worker. */
  function command(step: string, options: { meta?: JsonObject; data?: JsonObject; fails?: boolean } = {}): Draft[] {
    commands += 1
    const id = `${EXECUTION}:${step}:${commands}`
    const data = options.data ?? { n: random.below(1000) }
    const named = (context: JsonObject, status = 'COMPLETED'): Partial<Draft> =>
      random.chance(0.5)
        ? { meta: { command_id: id, worker_id: 'w' }, result: { status, context }, workerId: 'w' }
        : { result: { status, context: { ...context, command_id: id } }, workerId: 'w' }
    const attempt = { meta: { command_id: id, attempt: 1 + random.below(3), worker_id: 'w' } }
    const events = [
      draft('command.issued', step, { meta: { command_id: id, ...options.meta } }),
      draft('command.claimed', step, { meta: { command_id: id, worker_id: 'w' } }),
      draft('command.started', step, attempt),
      draft('command.heartbeat', step, named({})),
    ]
    if (options.fails === true) {
      const error = random.chance(0.7) ? { error: `broken ${commands}` } : {}
      return [...events, draft('call.error', step, named(error)), draft('command.failed', step, named(error, 'FAILED'))]
    }
    return [
      ...events,
      draft('call.done', step, named({ result: { status: 'success', context: { data } } })),
      draft('command.completed', step, named(random.chance(0.3) ? { extra: commands } : {}, 'success')),
    ]
  }

  function interleave(lists: Draft[][]): Draft[] {
    const queues = lists.filter((list) => list.length > 0).map((list) => [...list])
    const merged: Draft[] = []
    while (queues.length > 0) {
      const index = random.below(queues.length)
      const queue = queues[index] as Draft[]
      merged.push(queue.shift() as Draft)
      if (queue.length === 0) queues.splice(index, 1)
    }
    return merged
  }

  function visit(step: string, isFirst: boolean): Draft[] {
    const kind = random.pick(['plain', 'plain', 'sequential', 'parallel', 'cursor', 'skipped', 'retried', 'empty'])
    const fails = random.chance(0.15)
    // The orchestrator skips only what it has never entered.
    if (kind === 'skipped' && isFirst) return [draft('step.skipped', step)]
    if (kind === 'empty') return [enter(step, { iterations_expected: 0 }), draft('step.exit', step)]
    if (kind === 'sequential' || kind === 'parallel') {
      const count = 1 + random.below(4)
      const items = Array.from({ length: count }, (_, index) =>
        command(step, {
          meta: { iteration_index: index, iteration_total: count },
          fails: fails && index === count - 1,
        }),
      )
      const opened = enter(step, { iterations_expected: count })
      if (kind === 'sequential') return [opened, ...items.flat()]
      return [opened, ...items.map(([issued]) => issued as Draft), ...interleave(items.map(([, ...rest]) => rest))]
    }
    if (kind === 'cursor') return [enter(step, { __cursor_loop: true }), ...cursorFrames(step)]
    const body = command(step, { fails })
    const again = kind === 'retried' ? command(step) : []
    const late = random.chance(0.2)
      ? [draft('step.exit', step, { workerId: 'w', result: { status: 'COMPLETED' } })]
      : []
    // Only the very first command of a playbook comes without its step being entered.
    return [...(isFirst && step === 'start' ? [] : [enter(step)]), ...body, ...again, ...(fails ? [] : late)]
  }

  function cursorFrames(step: string): Draft[] {
    const events: Draft[] = []
    const frames = 1 + random.below(3)
    for (let frame = 0; frame <= frames; frame++) {
      const rows = frame === frames ? [] : Array.from({ length: 1 + random.below(3) }, (_, row) => ({ row, frame }))
      events.push(...command(step, { meta: { cursor: { phase: 'claim', step, frame } }, data: { rows } }))
      const bodies = rows.map(({ row }) => command(step, { meta: { cursor: { phase: 'body', step, frame, row } } }))
      events.push(...interleave(bodies))
    }
    return [
      ...events,
      draft('step.exit', step, { result: { status: 'COMPLETED', context: { __cursor_drained: true } } }),
    ]
  }

  /** Visits of one step follow each other, but what a worker says last may come after the next visit began. */
  function history(step: string): Draft[] {
    const visits = Array.from({ length: 1 + random.below(3) }, (_, index) => visit(step, index === 0))
    const events: Draft[] = []
    for (const [index, current] of visits.entries()) {
      const next = visits[index + 1]
      const last = current.at(-1) as Draft
      const namesCommand =
        last.workerId === 'w' && /completed|failed/.test(last.eventType) && !last.eventType.startsWith('step')
      if (next !== undefined && isEntered(next) && namesCommand && random.chance(0.25)) {
        events.push(...current.slice(0, -1))
        next.splice(1 + random.below(next.length), 0, last)
      } else {
        events.push(...current)
      }
    }
    return events
  }

  const isEntered = (list: Draft[]) => /enter|step_started/.test(list[0]?.eventType ?? '')
  const ctx = Array.from({ length: random.below(4) }, (_, index) =>
    draft('ctx.updated', 'start', {
      result: {
        status: 'COMPLETED',
        context: { step: random.pick(['start', 'a']), gen: index, values: { [random.pick(['x', 'y'])]: index } },
      },
    }),
  )
  const started = draft('playbook.started', 'playbook', {
    catalogId: '77' as never,
    parentExecutionId: '5' as never,
    context: { path: 'a/b', version: 3, workload: { limit: 5 } },
  })
  const own: Draft[] = [
    draft('command.completed', '__orchestrate__', { meta: { command_id: 'o' } }),
    draft('unknown.type', 'a'),
  ]
  const ends = random.chance(0.7)
    ? [draft(random.pick(['playbook.completed', 'playbook.failed', 'execution.cancelled']), 'playbook')]
    : []
  const drafts = [started, ...interleave([history('start'), history('a'), history('b'), ctx, own]), ...ends]
  const kept = random.chance(0.5) ? drafts : drafts.slice(0, 1 + random.below(drafts.length))
  let id = BigInt(EXECUTION)
  return kept.map((one, index) => {
    id += BigInt(1 + random.below(5000))
    return {
      ...one,
      executionId: EXECUTION,
      eventId: String(id),
      createdAt: wireTimeFromMillis(1_780_000_000_000 + index),
    } as WorkflowEvent
  })
}
