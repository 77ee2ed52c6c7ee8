// Promise, case by case: what killed executions before cannot happen again. Late events do not demote,
// re-entered loops start clean, counters survive a rebuild, and memory does not grow with the history.

import { describe, expect, it } from 'vitest'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { applyEvent } from '../../src/domain/state/applyEvent.js'
import { parseState, serialiseState } from '../../src/domain/state/serialiseState.js'
import type { StepInfo } from '../../src/domain/state/stepView.js'
import { viewState, viewStateStep } from '../../src/domain/state/viewState.js'
import type { WorkflowEvent } from '../../src/domain/state/workflowEvent.js'
import {
  emptyState,
  FOLD_VERSION,
  isTerminal,
  type WorkflowState,
  workflowStatus,
} from '../../src/domain/state/workflowState.js'
import { CpError } from '../../src/errors.js'

const EXECUTION = '320816801799737344' as ExecutionId

function event(id: number, eventType: string, more: Partial<Record<keyof WorkflowEvent, unknown>> = {}): WorkflowEvent {
  const createdAt = `2026-11-16T00:00:00.${String(id).padStart(6, '0')}+00:00`
  return { executionId: EXECUTION, eventId: String(id), eventType, nodeName: 'a', createdAt, ...more } as WorkflowEvent
}

const forCommand = (command: string, more: JsonObject = {}) => ({ meta: { command_id: command, ...more } })
const done = (id: number, command: string, data: JsonObject) =>
  event(id, 'call.done', {
    result: { status: 'COMPLETED', context: { command_id: command, result: { status: 'success', context: { data } } } },
  })

function fold(...events: WorkflowEvent[]): WorkflowState {
  const state = emptyState(EXECUTION)
  for (const one of events) applyEvent(state, one)
  return state
}

function step(...events: WorkflowEvent[]): StepInfo {
  return viewStateStep(fold(...events), 'a') as StepInfo
}

const RUN = [
  event(10, 'step.enter'),
  event(11, 'command.issued', forCommand('c1')),
  event(12, 'command.claimed', forCommand('c1')),
  event(13, 'command.started', forCommand('c1', { attempt: 2 })),
  done(14, 'c1', { n: 1 }),
  event(15, 'command.completed', forCommand('c1')),
]

describe('a plain step', () => {
  it('goes through its states', () => {
    const states = RUN.map((_, index) => step(...RUN.slice(0, index + 1)).state)
    expect(states).toEqual([
      'entered',
      'command_issued',
      'command_claimed',
      'command_started',
      'command_started',
      'completed',
    ])
    expect(step(...RUN)).toMatchObject({
      attempt: 2,
      completedEventId: '15',
      completedAt: '2026-11-16T00:00:00.000015+00:00',
    })
    expect(step(...RUN).result).toContain('"n":1')
  })

  it('is never demoted by a late claim or start, even with a higher id', () => {
    const late = [event(16, 'command.started', forCommand('c1')), event(17, 'command.claimed', forCommand('c1'))]
    expect(step(...RUN, ...late).state).toBe('completed')
    expect(step(...late, ...RUN).state).toBe('completed')
  })

  it('takes its result from the call, from the completion only without one', () => {
    const completed = event(15, 'command.completed', { result: { context: { command_id: 'c1', x: 1 } } })
    expect(step(...RUN.slice(0, 4), completed).result).toContain('"x":1')
    expect(step(...RUN.slice(0, 5), completed).result).toContain('"n":1')
    expect(step(...RUN.slice(0, 4), completed, RUN[4] as WorkflowEvent).result).toContain('"n":1')
  })

  it('fails with the text wherever it is', () => {
    const failed = (more: object) =>
      step(...RUN.slice(0, 4), event(15, 'action_failed', { ...forCommand('c1'), ...more }))
    expect(failed({ result: { error: 'x' } })).toMatchObject({ state: 'failed', error: 'x' })
    expect(failed({ result: { context: { error: 'y' } } })).toMatchObject({ state: 'failed', error: 'y' })
    expect(failed({ error: 'z' })).toMatchObject({ state: 'failed', error: 'z' })
    expect(failed({}).completedEventId).toBeUndefined()
  })

  it('fails when the tool failed, whatever the event is called', () => {
    const ended = (result: JsonObject) =>
      step(...RUN.slice(0, 5), event(15, 'command.completed', { ...forCommand('c1'), result }))
    expect(ended({ status: 'error', error: 'HTTP 404' })).toMatchObject({ state: 'failed', error: 'HTTP 404' })
    expect(ended({ status: 'COMPLETED', context: { status: 'timeout' } }).state).toBe('failed')
    expect(ended({ status: 'success' }).state).toBe('completed')
  })

  it('starts clean when it is entered or issued again', () => {
    const again = step(...RUN, event(20, 'step.enter'), event(21, 'command.issued', forCommand('c2')))
    expect(again).toMatchObject({ state: 'command_issued', attempt: 0 })
    expect([again.result, again.completedAt, again.completedEventId]).toEqual([undefined, undefined, undefined])
    const failedOnce = event(15, 'command.failed', { ...forCommand('c1'), error: 'x' })
    const retried = step(...RUN.slice(0, 4), failedOnce, event(16, 'command.issued', forCommand('c2')))
    expect(retried).toMatchObject({ state: 'command_issued' })
    expect(retried.error).toBeUndefined()
  })

  it('ignores an answer to a command of an earlier visit', () => {
    const [entered, issued, ...rest] = RUN as [WorkflowEvent, WorkflowEvent, ...WorkflowEvent[]]
    const stray = rest.map((one, index) => ({ ...one, eventId: String(30 + index) }) as WorkflowEvent)
    const second = [event(20, 'step.enter'), event(21, 'command.issued', forCommand('c2'))]
    expect(step(entered, issued, ...second, ...stray).state).toBe('command_issued')
    expect(step(...stray, ...second, issued, entered).state).toBe('command_issued')
  })

  it('ignores what was said before the visit about a command nobody issued', () => {
    const unknown = event(5, 'command.completed', forCommand('c0'))
    expect(step(unknown).state).toBe('completed')
    expect(step(unknown, event(10, 'step.enter')).state).toBe('entered')
  })

  it('is entered by its worker without losing its command', () => {
    const entered = event(14, 'step.enter', { workerId: 'w' })
    expect(step(...RUN.slice(1, 4), entered)).toMatchObject({ state: 'command_started', enteredAt: entered.createdAt })
    expect(step(...RUN.slice(1), entered).state).toBe('completed')
  })

  it('works without command ids', () => {
    const plain = [event(1, 'command.issued'), event(2, 'action_started', { meta: { attempt: 4 } })]
    expect(step(...plain)).toMatchObject({ state: 'command_started', attempt: 4 })
    expect(step(...plain, event(3, 'step_completed', { result: { v: 1 } }))).toMatchObject({
      state: 'completed',
      result: '{"v":1}',
    })
    expect(step(...plain, event(3, 'step_failed', { error: 'x' }))).toMatchObject({ state: 'failed', error: 'x' })
    expect(step(event(1, 'step.exit'), event(2, 'command.issued')).state).toBe('command_issued')
  })

  it('waits for a call back and is completed by it', () => {
    const parked = event(15, 'command.completed', { result: { context: { command_id: 'c1', pending_callback: true } } })
    const waiting = step(...RUN.slice(0, 5), parked)
    expect(waiting).toMatchObject({ state: 'command_started', pendingCallback: true, usesCallback: true })
    const answered = step(...RUN.slice(0, 5), parked, done(20, 'c1', { n: 2 }))
    expect(answered).toMatchObject({
      state: 'completed',
      completedEventId: '20',
      pendingCallback: false,
      usesCallback: true,
    })
    expect(answered.result).toContain('"n":2')
  })
})

describe('a loop', () => {
  const enter = (id: number, expected: number) =>
    event(id, 'step.enter', { result: { context: { iterations_expected: expected } } })
  const item = (id: number, command: string, n: number) => [
    event(id, 'command.issued', forCommand(command)),
    done(id + 1, command, { n }),
    event(id + 2, 'command.completed', forCommand(command)),
  ]

  it('counts a dispatch once, however often it is told', () => {
    const log = [enter(1, 3), ...item(2, 'c1', 1)]
    expect(step(...log, ...log, ...log)).toMatchObject({ iterationsDispatched: 1, iterationCommandIds: ['c1'] })
  })

  it('completes with all results, by index, whichever came first', () => {
    const indexed = (id: number, command: string, index: number) =>
      item(id, command, index).map((one) =>
        one.eventType === 'command.issued'
          ? ({ ...one, ...forCommand(command, { iteration_index: index }) } as WorkflowEvent)
          : one,
      )
    const info = step(enter(1, 2), ...indexed(5, 'second', 1), ...indexed(10, 'first', 0))
    expect(info).toMatchObject({ state: 'completed', completedEventId: '12', iterationsDispatched: 2 })
    expect(info.iterationResults.map((text) => /"n":(\d)/.exec(text)?.[1])).toEqual(['0', '1'])
    expect(info.iterationCommandIds).toEqual(['first', 'second'])
    expect(parseJson(info.result as string)).toHaveLength(2)
  })

  it('does not carry anything into its next visit', () => {
    const info = step(enter(1, 2), ...item(2, 'c1', 1), ...item(5, 'c2', 2), enter(10, 2), ...item(11, 'c3', 3))
    expect(info).toMatchObject({ state: 'command_started', iterationsDispatched: 1, iterationCommandIds: ['c3'] })
    expect(info.iterationResults).toHaveLength(1)
  })

  it('of nothing is complete when it is left', () => {
    expect(step(enter(1, 0)).state).toBe('entered')
    expect(step(enter(1, 0), event(2, 'step.exit'))).toMatchObject({ state: 'completed', result: '[]' })
  })

  it('knows its size from its commands when nobody entered it', () => {
    const sized = (id: number, command: string) =>
      event(id, 'command.issued', forCommand(command, { iteration_total: 2 }))
    const log = [sized(1, 'c1'), sized(2, 'c2'), event(3, 'command.completed', forCommand('c1'))]
    expect(step(...log)).toMatchObject({ iterationsExpected: 2, state: 'command_issued' })
    expect(step(...log, event(4, 'command.completed', forCommand('c2'))).state).toBe('completed')
  })
})

describe('a cursor', () => {
  const enter = event(1, 'step.enter', { context: { __cursor_loop: true } })
  const place = (command: string, phase: string, frame: number) =>
    forCommand(command, { cursor: { phase, step: 'a', frame } })
  const claim = event(2, 'command.issued', place('k0', 'claim', 0))
  const claimed = event(4, 'command.completed', forCommand('k0'))

  it('tells rows that are not known yet from none', () => {
    const shown = (...events: WorkflowEvent[]) => step(enter, claim, ...events).cursorFrames.get(0)
    expect(shown(claimed)).toMatchObject({ claimCompleted: true })
    expect(shown(claimed)?.claimRows).toBeUndefined()
    expect(shown(claimed, done(3, 'k0', { rows: [] }))?.claimRows).toEqual([])
    expect(shown(done(3, 'k0', { rows: [{ a: 1 }] }))).toMatchObject({ claimCompleted: false, claimRows: [{ a: 1 }] })
    const stored = event(3, 'call.done', { result: { context: { command_id: 'k0' }, reference: { ref: 'noetl://x' } } })
    expect(shown(stored)?.claimRef).toBe('noetl://x')
  })

  it('counts bodies by command and keeps nothing of what they returned', () => {
    const body = (id: number, command: string) => [
      event(id, 'command.issued', place(command, 'body', 0)),
      done(id + 1, command, { big: 'x'.repeat(1000) }),
      event(id + 2, 'command.completed', forCommand(command)),
    ]
    const state = fold(enter, claim, claimed, ...body(10, 'b1'), ...body(20, 'b2').reverse(), ...body(10, 'b1'))
    expect(viewStateStep(state, 'a')?.cursorFrames.get(0)).toMatchObject({ bodyIssued: 2, bodyCompleted: 2 })
    expect(viewStateStep(state, 'a')?.state).toBe('command_started')
    expect(serialiseState(state)).not.toContain('xxx')
  })

  it('ends by its marker only', () => {
    const drained = event(50, 'step.exit', { result: { status: 'COMPLETED', context: { __cursor_drained: true } } })
    expect(step(enter, claim, claimed, event(49, 'step.exit')).state).toBe('command_started')
    expect(step(enter, claim, claimed, drained)).toMatchObject({ state: 'completed', completedEventId: '50' })
    expect(step(enter, claim, claimed, drained, { ...enter, eventId: '60' } as WorkflowEvent)).toMatchObject({
      state: 'entered',
    })
  })
})

describe('the execution', () => {
  it.each([
    ['execution.cancelled', 'cancelled'],
    ['playbook_cancelled', 'cancelled'],
    ['playbook.canceled', 'cancelled'],
    ['playbook_completed', 'completed'],
    ['workflow.failed', 'failed'],
  ])('ends by %s as %s', (type, status) => {
    const state = fold(event(1, 'playbook_started'), event(5, type))
    expect([workflowStatus(state), isTerminal(state)]).toEqual([status, true])
    applyEvent(state, event(9, 'step.enter'))
    applyEvent(state, event(4, 'playbook.failed'))
    expect(workflowStatus(state)).toBe(status)
  })

  it('does not end by a failed command', () => {
    const state = fold(event(1, 'playbook_started'), event(2, 'command.failed', forCommand('c')))
    expect([workflowStatus(state), isTerminal(state)]).toEqual(['in_progress', false])
  })

  it('is untouched by the orchestrator itself and by unknown types', () => {
    const before = serialiseState(emptyState(EXECUTION))
    const state = fold(
      event(1, 'command.completed', { nodeName: '__orchestrate__' }),
      event(2, 'subscription.rate_limited'),
    )
    expect(serialiseState(state)).toBe(before)
    expect(workflowStatus(state)).toBe('initial')
  })

  it('refuses events of another one', () => {
    expect(() => fold(event(1, 'step.enter', { executionId: '5' }))).toThrowError(CpError)
  })

  it('shows the documented shape and nothing empty', () => {
    const started = event(1, 'playbook_started', {
      nodeName: 'playbook',
      catalogId: '320816801799737345',
      parentExecutionId: '7',
      context: { path: 'a/b', version: 2, workload: { big: 9223372036854775807n } },
    })
    const ctx = event(2, 'ctx.updated', { result: { context: { step: 'a', gen: 15n, values: { x: [1] } } } })
    expect(writeJson(viewState(fold(started, ctx, ...RUN.slice(0, 2))))).toBe(
      '{"execution_id":320816801799737344,"catalog_id":320816801799737345,"state":"in_progress",' +
        '"steps":{"a":{"name":"a","state":"command_issued","entered_at":"2026-11-16T00:00:00.000010+00:00","attempt":0}},' +
        '"ctx":{"x":[1]},"ctx_set_marks":{"a":15},"workload":{"big":9223372036854775807},"path":"a/b","version":2,' +
        '"started_at":"2026-11-16T00:00:00.000001+00:00","parent_execution_id":7}',
    )
    expect(writeJson(viewState(emptyState(EXECUTION)))).toBe(
      '{"execution_id":320816801799737344,"catalog_id":0,"state":"initial"}',
    )
  })

  it('keeps names that would touch a prototype as names', () => {
    const ctx = event(2, 'ctx.updated', {
      result: parseJson('{"context":{"step":"__proto__","gen":1,"values":{"__proto__":{"x":1}}}}'),
    })
    const state = fold(event(1, 'step.enter', { nodeName: '__proto__' }), ctx)
    const text = writeJson(viewState(parseState(serialiseState(state))))
    expect(text).toBe(writeJson(viewState(state)))
    expect(text).toContain('"steps":{"__proto__":{')
    expect(text).toContain('"ctx":{"__proto__":{"x":1}}')
  })
})

describe('memory', () => {
  it('does not grow with repeated visits but for the ids of their commands', () => {
    const state = emptyState(EXECUTION)
    const visits = 500
    for (let visit = 0; visit < visits; visit++) {
      const base = visit * 10 + 1
      applyEvent(state, event(base, 'step.enter'))
      applyEvent(state, event(base + 1, 'command.issued', forCommand(`c${visit}`)))
      applyEvent(state, done(base + 2, `c${visit}`, { big: 'x'.repeat(10_000) }))
      applyEvent(state, event(base + 3, 'command.completed', forCommand(`c${visit}`)))
    }
    expect(serialiseState(state).length).toBeLessThan(10_000 + visits * 20)
    expect(state.bytes).toBeLessThan(20_000 + visits * 500)
  })
})

describe('stored text', () => {
  const text = serialiseState(fold(...RUN, event(20, 'playbook.completed')))

  it.each([
    ['nothing', ''],
    ['cut', text.slice(0, -5)],
    ['a list', '[]'],
    ['no execution', `{"fold_version":${FOLD_VERSION}}`],
    ['other fold', text.replace(`"fold_version":${FOLD_VERSION}`, '"fold_version":1')],
    ['steps that are none', text.replace(/"steps":.*/, '"steps":[1]}')],
    ['a fact without id', text.replace('"id":"15",', '')],
    [
      'an unknown end',
      text.replace('"status":"COMPLETED"', '"status":"DONE"').replace('COMPLETED"},"execution', 'X"},"execution'),
    ],
  ])('that is damaged is refused: %s', (_, damaged) => {
    expect(damaged).not.toBe(text)
    expect(() => parseState(damaged)).toThrowError(CpError)
  })
})
