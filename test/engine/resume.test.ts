// Promise: an execution that goes on from a failed one runs again what failed and what was under way, and nothing that was
// done; it ends as if nothing had failed, and its state is one that the engine itself could have made.

import { describe, expect, it } from 'vitest'
import { keptOf, transplanted } from '../../src/domain/engine/resume.js'
import type { EventRecord } from '../../src/domain/events/eventRecord.js'
import type { EventId } from '../../src/domain/ids/ids.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { EXECUTION, Run, run } from './run.js'

const work = 'tool: {kind: python, code: "return {}"}'

function workflow(...steps: string[]): string {
  return `workflow:\n${steps.map((step) => `- {${step}}`).join('\n')}\n`
}

/** Another execution of the same plan, with what is kept of this one. */
function resumed(one: Run): Run {
  const { events } = keptOf(one.log as unknown as EventRecord[])
  const next = new Run(one.plan, one.options)
  const [start] = one.log
  next.append({
    eventType: start!.eventType,
    nodeName: start!.nodeName,
    context: start!.context,
    meta: start!.meta,
  } as never)
  for (const event of transplanted(events, EXECUTION, () => '0' as EventId)) {
    const answer = (event.meta as JsonObject)['answer']
    expect(answer === undefined || answer === '0', 'the answer is among what is kept').toBe(true)
  }
  for (const event of events) next.append(event as never, event.eventId)
  return next.settle().restart('log').restart('text')
}

describe('a resumed execution', () => {
  const chain = workflow(
    `step: a, ${work}, set: {ctx.seen: "{{ output.data.n }}"}, next: [b]`,
    `step: b, ${work}, input: {n: "{{ a.n }}", seen: "{{ ctx.seen }}"}, next: [c]`,
    `step: c, ${work}`,
  )

  it('begins with the step that failed, with the data of those before', () => {
    const one = run(chain).answer('a', { n: 7 }).fail('b')
    expect(one.status).toBe('FAILED')
    const next = resumed(one)
    expect(next.open()).toEqual([next.id('b')])
    expect(next.log.find((event) => event.eventType === 'command.issued' && event.nodeName === 'b')).toMatchObject({
      context: { args: { n: 7, seen: 7 } },
    })
    next.answer('b').answer('c')
    expect(next.status).toBe('COMPLETED')
    expect(next.entries()).toEqual(['a', 'b', 'c'])
  })

  it('begins from the start when the first step failed', () => {
    const next = resumed(run(chain).fail('a'))
    expect(next.open()).toEqual([next.id('a')])
  })

  it('can fail and go on again', () => {
    const next = resumed(resumed(run(chain).answer('a', { n: 7 }).fail('b')).fail('b'))
    expect(next.answer('b').answer('c').status).toBe('COMPLETED')
  })

  it('follows the arcs of branches that ended well after the failure, without running them again', () => {
    const body = workflow(
      `step: start, ${work}, next: [a, b]`,
      `step: a, ${work}, next: [j]`,
      `step: b, ${work}, set: {ctx.b: 1}, next: [j]`,
      `step: j, ${work}`,
    )
    const next = resumed(run(body).answer('start').fail('a').answer('b'))
    expect(next.open()).toEqual([next.id('a')])
    expect(next.answer('a').open()).toEqual([next.id('j')])
    expect(next.answer('j').status).toBe('COMPLETED')
  })

  it('keeps failures that an arc has handled', () => {
    const body = workflow(
      `step: a, ${work}, next: {arcs: [{step: mend, when: "{{ event.name == 'call.error' }}"}]}`,
      `step: mend, ${work}`,
    )
    const next = resumed(run(body).fail('a').fail('mend'))
    expect(next.open()).toEqual([next.id('mend')])
  })

  it('keeps what a tool left behind when it failed', () => {
    const body = workflow(
      `step: a, ${work}, next: {arcs: [{step: mend, when: "{{ event.name == 'call.error' }}"}]}`,
      `step: mend, ${work}, input: {left: "{{ a.code }}"}`,
    )
    const one = run(body)
    const context = { status: 'error', data: { code: 404 }, error: { kind: 'not_found', message: 'gone' } }
    const meta = { command_id: one.id('a'), attempt: 1 }
    one.append({
      eventType: 'call.error',
      nodeName: 'a',
      status: 'FAILED',
      context: { command_id: one.id('a'), result: { status: 'error', context } },
      meta,
    } as never)
    const next = resumed(one.fail('a', { kind: 'not_found', message: 'gone' }).fail('mend'))
    expect(next.log.filter(({ eventType }) => eventType === 'call.error')).toHaveLength(1)
    expect(
      next.log.findLast((event) => event.eventType === 'command.issued' && event.nodeName === 'mend'),
    ).toMatchObject({
      context: { args: { left: 404 } },
    })
  })

  it('goes on with a loop at the first item that failed', () => {
    const body = workflow(
      `step: a, ${work}, loop: {in: [1, 2, 3, 4], iterator: x, spec: {mode: parallel, max_in_flight: 4}}, next: [b]`,
      `step: b, ${work}, input: {all: "{{ a.results }}"}`,
    )
    const one = run(body)
    for (const item of ['i0', 'i1', 'i3']) one.done(one.id('a', 1, item), { item })
    one.fail('a', 'no', 1, 'i2')
    const next = resumed(one)
    expect(next.open()).toEqual([next.id('a', 1, 'i2'), next.id('a', 1, 'i3')])
    next.answer('a', { item: 'again' }, 1, 'i2').answer('a', { item: 'i3' }, 1, 'i3')
    expect(next.log.find((event) => event.eventType === 'command.issued' && event.nodeName === 'b')).toMatchObject({
      context: { args: { all: [{ item: 'i0' }, { item: 'i1' }, { item: 'again' }, { item: 'i3' }] } },
    })
  })

  it('keeps what items of a sequential loop have written', () => {
    const body = workflow(
      `step: a, tool: [{name: t, kind: python, code: "return 1", set: {ctx.sum: 1}}], loop: {in: [1, 2, 3], iterator: x, spec: {mode: sequential}}`,
    )
    const one = run(body)
    one.answer('a', { _context_updates: { sum: 1 } }, 1, 'i0').answer('a', { _context_updates: { sum: 2 } }, 1, 'i1')
    one.fail('a', 'no', 1, 'i2')
    const next = resumed(one)
    expect(next.open()).toEqual([next.id('a', 1, 'i2')])
    expect(next.answer('a', {}, 1, 'i2').status).toBe('COMPLETED')
  })

  it('runs the final step again, at its own end', () => {
    const body = `executor: {spec: {final_step: last}}\n${workflow(`step: a, ${work}, next: [b]`, `step: b, ${work}`, `step: last, ${work}`)}`
    const next = resumed(run(body).answer('a').fail('b').answer('last'))
    expect(next.open()).toEqual([next.id('b')])
    expect(next.answer('b').answer('last').status).toBe('COMPLETED')
  })

  it('names the steps that come again, and moves every name to the new execution', () => {
    const one = run(chain).answer('a', { n: 7 }).fail('b')
    const kept = keptOf(one.log as unknown as EventRecord[])
    expect(kept.again).toEqual(['b'])
    let id = 0
    const moved = transplanted(kept.events, '999' as never, () => String(++id) as EventId)
    expect(JSON.stringify(moved)).not.toContain(`${EXECUTION}:`)
    const done = moved.find(({ eventType }) => eventType === 'call.done')
    expect(moved.find(({ eventType }) => eventType === 'step.exit')?.meta).toMatchObject({ answer: done?.eventId })
    expect(moved.every(({ meta }) => (meta as JsonObject)['actionable'] !== true)).toBe(true)
  })
})
