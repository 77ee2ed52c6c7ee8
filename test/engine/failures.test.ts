// Promise: a failure is handled by an arc that looks at failures or by on_error, or it ends the execution as FAILED; nothing
// runs behind it; late and repeated answers change nothing; time alone ends what nobody answers.

import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { run } from './run.js'

const work = 'tool: {kind: python, code: "return {}"}'

function workflow(...steps: string[]): string {
  return `workflow:\n${steps.map((step) => `- {${step}}`).join('\n')}\n`
}

describe('a failed step', () => {
  it('is handled by an arc that reads the failure', () => {
    const one = run(
      workflow(
        `step: start, ${work}, next: {arcs: [{step: ok}, {step: mend, when: "{{ event.name == 'call.error' and error.kind == 'timeout' }}"}]}`,
        `step: ok, ${work}`,
        `step: mend, ${work}`,
      ),
    ).fail('start', { kind: 'timeout', message: 'late' })
    expect(one.words()).toEqual(['step.exit start', 'step.skipped ok', 'step.enter mend', 'command.issued mend'])
    expect(one.exit('start')).toMatchObject({
      status: 'FAILED',
      error: 'late',
      meta: { handled: true },
      context: { error: { kind: 'timeout', message: 'late', retryable: false } },
    })
    expect(one.answer('mend').status).toBe('COMPLETED')
  })

  it('tells its error by its name, also when it left no data', () => {
    const one = run(
      workflow(
        `step: start, ${work}, next: {arcs: [{step: mend, when: "{{ start.error.kind == 'timeout' }}"}]}`,
        'step: mend, tool: {kind: noop, result: {why: "{{ start.error.message }}", how: "{{ start.status }}", data: "{{ start.data }}"}}',
      ),
    ).fail('start', { kind: 'timeout', message: 'late' })
    expect(one.end?.result).toMatchObject({ context: { data: { why: 'late', how: 'error', data: null } } })
  })

  it('keeps the data that its tool left behind', () => {
    const one = run(
      workflow(
        `step: start, ${work}, spec: {on_error: continue}, next: [look]`,
        'step: look, tool: {kind: noop, result: {code: "{{ start.exit_code }}", out: "{{ start.data.stdout }}", why: "{{ start.error.kind }}"}}',
      ),
    )
    const command = one.id('start')
    const error = { kind: 'exception', message: 'exit code 3' }
    const envelope = { status: 'error', data: { exit_code: 3, stdout: 'a' }, error, duration_ms: 1 }
    const context = { command_id: command, call_index: 0, error, result: { status: 'error', context: envelope } }
    const meta = { command_id: command }
    one.append({
      eventType: 'call.error',
      nodeName: 'start',
      status: 'FAILED',
      result: { status: 'FAILED', context },
      meta,
    })
    one.fail('start', error)
    expect(one.restart().end?.result).toMatchObject({ context: { data: { code: 3, out: 'a', why: 'exception' } } })
  })

  it('without such an arc stops everything new, and the rest ends in peace', () => {
    const one = run(
      workflow(
        `step: start, ${work}, next: [a, b]`,
        `step: a, ${work}, next: [j]`,
        `step: b, ${work}, next: [j]`,
        `step: j, ${work}`,
      ),
    ).answer('start')
    one.fail('a', 'no')
    expect(one.words()).toEqual(['step.exit a'])
    one.answer('b')
    expect(one.words()).toEqual(['step.exit b', 'playbook.failed playbook'])
    expect(one.exit('b')).toMatchObject({ status: 'COMPLETED', meta: { routed: [] } })
    expect(one.end).toMatchObject({ error: 'step "a": no', context: { failed_steps: ['a'], error_kind: 'unknown' } })
    expect(one.entries()).not.toContain('j')
  })

  it('in best effort lets the others go on, and the end is a failure', () => {
    const one = run(
      `executor: {spec: {policy: {failure: {mode: best_effort}}}}\n${workflow(
        `step: start, ${work}, next: [a, b]`,
        `step: a, ${work}, next: [j]`,
        `step: b, ${work}, next: [j]`,
        `step: j, ${work}`,
      )}`,
    ).answer('start')
    one.fail('a').answer('b')
    expect(one.words()).toEqual(['step.exit b', 'step.enter j', 'command.issued j'])
    expect(one.answer('j').end).toMatchObject({ status: 'FAILED', context: { failed_steps: ['a'] } })
  })

  it('goes on with on_error: continue, on every arc', () => {
    const one = run(
      workflow(
        `step: start, spec: {on_error: continue}, ${work}, set: {ctx.status: "{{ output.status }}"}, next: [b]`,
        `step: b, ${work}`,
      ),
    ).fail('start')
    expect(one.words()).toEqual(['ctx.updated', 'step.exit start', 'step.enter b', 'command.issued b'])
    expect(one.ctx).toEqual({ status: 'error' })
    expect(one.answer('b').status).toBe('COMPLETED')
  })

  it('is one that reports an error in a completed command', () => {
    const body = workflow(`step: start, ${work}, next: [b]`, `step: b, ${work}`)
    const completed = (settings = {}) => {
      const one = run(body, { settings })
      const id = one.id('start')
      const envelope = {
        status: 'error',
        data: { status_code: 404 },
        error: { kind: 'not_found', message: 'HTTP 404' },
      }
      const call = { command_id: id, result: { status: 'error', context: envelope } }
      one.append({ eventType: 'call.done', nodeName: 'start', result: { status: 'COMPLETED', context: call } })
      one.completed(id)
      return one.settle()
    }
    expect(completed().end).toMatchObject({ context: { error: 'step "start": HTTP 404', error_kind: 'not_found' } })
    expect(completed({ toolErrors: 'reference' }).entries()).toEqual(['start', 'b'])
  })

  it('is one whose set cannot be rendered', () => {
    const one = run(workflow(`step: start, ${work}, set: {ctx.x: "{{ 1 / 0 }}"}`)).answer('start')
    expect(one.end).toMatchObject({ context: { error_kind: 'template', failed_steps: ['start'] } })
  })

  it('is one whose arc cannot be judged, whatever its arcs for failures say', () => {
    const one = run(
      workflow(
        `step: start, ${work}, next: {arcs: [{step: b, when: "{{ output.n / 0 }}"}, {step: b, when: "{{ error }}"}]}`,
        `step: b, ${work}`,
      ),
    ).answer('start', { n: 1 })
    expect(one.end).toMatchObject({
      error: 'next of step "start", arc to "b": {{ output.n / 0 }}: division by zero near "/ 0 }}"',
    })
  })

  it('is one without a true arc, if that is not allowed', () => {
    const steps = [`step: start, ${work}, next: {arcs: [{step: b, when: "false"}]}`, `step: b, ${work}`]
    const strict = run(`executor: {spec: {no_next_is_error: true}}\n${workflow(...steps)}`).answer('start')
    expect(strict.end).toMatchObject({ error: 'no arc of step "start" was true' })
    const own = run(
      workflow(
        `step: start, ${work}, next: {spec: {on_no_match: fail}, arcs: [{step: b, when: "false"}]}`,
        `step: b, ${work}`,
      ),
    )
    expect(own.answer('start').status).toBe('FAILED')
  })

  it('cannot be begun with a configuration that does not render', () => {
    const one = run(workflow('step: start, tool: {kind: http, url: "{{ 1 / 0 }}"}'))
    expect(one.words()).toEqual(['step.enter start', 'step.exit start', 'playbook.failed playbook'])
    expect(one.commands.size).toBe(0)
  })
})

describe('answers', () => {
  const body = workflow(`step: start, ${work}, set: {ctx.n: "{{ output.n }}"}, next: [b]`, `step: b, ${work}`)

  it('count once: the first of an attempt', () => {
    const one = run(body)
    one.done(one.id('start'), { n: 1 })
    one.done(one.id('start'), { n: 2 })
    one.failed(one.id('start'))
    one.settle()
    expect([one.ctx, one.status]).toEqual([{ n: 1 }, 'RUNNING'])
    one.done(one.id('start'), { n: 3 })
    one.failed(one.id('start'))
    one.settle().restart()
    expect(one.ctx).toEqual({ n: 1 })
    expect(one.answer('b').status).toBe('COMPLETED')
  })

  it('of a later attempt beat those of an earlier one', () => {
    const one = run(body)
    one.failed(one.id('start'), 'lost', { attempt: 1 })
    one.done(one.id('start'), { n: 2 }, { attempt: 2 })
    expect(one.settle().ctx).toEqual({ n: 2 })
  })

  it('to a command nobody issued, or of a step nobody knows, are nothing', () => {
    const one = run(body)
    one.done(`380600494935949312:start:7`, { n: 9 })
    one.append({ eventType: 'call.done', nodeName: 'ghost', meta: { command_id: '380600494935949312:ghost:1' } })
    one.append({ eventType: 'step.exit', nodeName: 'start', meta: { visit: 1, routed: [{ step: 'b', arc: 0 }] } })
    one.append({ eventType: 'ctx.updated', result: { context: { values: { n: 'forged' } } } })
    one.settle()
    expect([one.entries(), one.ctx, one.status]).toEqual([['start'], {}, 'RUNNING'])
    expect(one.answer('start', { n: 1 }).answer('b').status).toBe('COMPLETED')
  })

  it('without data are waited for two seconds', () => {
    const one = run(body)
    one.completed(one.id('start'))
    one.settle()
    expect(one.last).toEqual({ checkAfterMs: 2000 })
    one.nowMs += 2000
    one.settle()
    expect(one.decisions.map(({ key }) => key).slice(1)).toEqual([`${one.id('start')}:nodata:1`, 'start#1:exit'])
    expect(one.ctx).toEqual({ n: null })
  })

  it('of a parked command come by call back', () => {
    const one = run(body)
    const id = one.id('start')
    one.append({
      eventType: 'command.completed',
      nodeName: 'start',
      result: { status: 'success', context: { command_id: id, pending_callback: true } },
    })
    expect(one.settle().decisions).toHaveLength(1)
    const call = { command_id: id, result: { status: 'success', context: { data: { n: 5 } } } }
    one.append({ eventType: 'call.done', nodeName: 'start', result: { status: 'COMPLETED', context: call } })
    expect(one.settle().ctx).toEqual({ n: 5 })
  })
})

describe('time', () => {
  it('ends a command that takes too long', () => {
    const one = run(workflow(`step: start, spec: {timeout: 30s}, ${work}`))
    expect([...one.commands.values()][0]).toMatchObject({ deadlineMs: one.nowMs + 30_000 })
    expect(one.last).toEqual({ checkAfterMs: 30_000 })
    one.nowMs += 30_000
    one.settle()
    expect(one.decisions.at(1)?.key).toBe(`${one.id('start')}:timeout:1`)
    expect(one.words(one.decisions.at(1))).toEqual(['command.failed start'])
    expect(one.end).toMatchObject({
      context: { error_kind: 'timeout', error: 'step "start": it took longer than 30 s' },
    })
    one.done(one.id('start'))
    expect(one.settle().status).toBe('FAILED')
  })

  it('ends an execution that takes too long, without its final step', () => {
    const body = `executor: {spec: {final_step: clean}}\n${workflow(`step: start, ${work}`, `step: clean, ${work}`)}`
    const one = run(body, { startMeta: { timeout_seconds: 60 } })
    one.nowMs += 60_000
    one.settle()
    expect(one.decisions.at(-1)?.key).toBe('timeout')
    expect(one.end).toMatchObject({ status: 'FAILED', context: { error_kind: 'timeout' } })
  })
})

describe('whatever goes wrong inside', () => {
  it('ends the execution and says why', () => {
    const one = run(workflow(`step: start, ${work}, next: [b]`, `step: b, ${work}`))
    const other = run(workflow(`step: start, ${work}, next: [c]`, `step: c, ${work}`)).answer('start')
    one.state = other.state
    const verdict = one.ask()
    expect(verdict).toMatchObject({
      key: 'error',
      events: [
        {
          eventType: 'playbook.failed',
          context: { error: 'the playbook has no step "c", but the log does', error_kind: 'engine' },
        },
      ],
    })
  })

  it('is not asked about executions that others drive, or that have ended', () => {
    const one = run(workflow(`step: start, ${work}`))
    one.append({
      eventType: 'playbook_cancelled',
      nodeName: 'playbook',
      status: 'CANCELLED',
      meta: { emitter: 'control_plane' },
    })
    expect(one.settle().last).toBeUndefined()
  })
})

it('a failure has the reason that call.error gave, although the ending only says that there is one', () => {
  const one = run('workflow:\n- {step: a, tool: {kind: python, code: ""}}\n')
  const meta = { command_id: one.id('a'), attempt: 1 }
  const said = (eventType: string, status: string, context: JsonObject) =>
    one.append({
      nodeName: 'a',
      eventType,
      status,
      result: { status, context: { command_id: one.id('a'), ...context } },
      meta,
    })
  said('call.error', 'FAILED', { error: { kind: 'http', message: 'HTTP 503', retryable: true } })
  said('command.completed', 'error', { status: 'error' })
  one.nowMs += 5_000
  expect(one.settle().end).toMatchObject({
    eventType: 'playbook.failed',
    context: { error: 'step "a": HTTP 503' },
  })
})
