// Promise: without an SDK a span costs nothing and a trace that passes through us stays whole; with one, spans are
// children of what came in, carry their own context on, and tell failures.
import {
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { traceContextText } from '../../src/domain/events/traceContext.js'
import { isTracing, startSpan, traced } from '../../src/runtime/tracing.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = JSON.stringify({ traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: 'vendor=1' })
const exporter = new InMemorySpanExporter()

/** What an SDK for Node brings; a stack is enough for one test at a time. */
const manager: ContextManager & { stack: Context[] } = {
  stack: [],
  active: () => manager.stack.at(-1) ?? ROOT_CONTEXT,
  with: (active, work, self, ...args) => {
    manager.stack.push(active)
    try {
      return work.call(self as never, ...args)
    } finally {
      manager.stack.pop()
    }
  },
  bind: (_, target) => target,
  enable: () => manager,
  disable: () => manager,
}

const lineOf = (carrier: string | undefined) => JSON.parse(carrier ?? '{}').traceparent as string | undefined

describe('without an SDK', () => {
  it('nothing is made, and what came in goes on', async () => {
    expect(isTracing()).toBe(false)
    expect(startSpan('a', { parent: PARENT }).carrier).toBe(PARENT)
    expect(startSpan('a').carrier).toBeUndefined()
    expect(startSpan('a')).toBe(startSpan('b'))
    expect(await traced('a', { parent: PARENT }, async (span) => span.carrier)).toBe(PARENT)
    await expect(traced('a', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})

describe('with an SDK', () => {
  beforeEach(() => {
    exporter.reset()
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
    context.setGlobalContextManager(manager)
  })
  afterAll(() => trace.disable())

  it('a span is a child of what came in, and hands on itself', () => {
    expect(isTracing()).toBe(true)
    const span = startSpan('publish', { parent: PARENT, kind: 'producer', attributes: { rows: 1 } })
    span.end()
    const [told] = exporter.getFinishedSpans()
    expect(told).toMatchObject({ name: 'publish', kind: SpanKind.PRODUCER, attributes: { rows: 1 } })
    expect(told!.spanContext().traceId).toBe(TRACE)
    expect(told!.parentSpanContext).toMatchObject({ spanId: 'b7ad6b7169203331', isRemote: true })
    expect(lineOf(span.carrier)).toBe(`00-${TRACE}-${told!.spanContext().spanId}-01`)
    expect(JSON.parse(span.carrier!).tracestate).toBe('vendor=1')
  })

  it('a parent that is not sampled stays so, and its context goes on all the same', () => {
    const quiet = JSON.stringify({ traceparent: `00-${TRACE}-b7ad6b7169203331-00` })
    const span = startSpan('publish', { parent: quiet })
    span.end()
    expect(exporter.getFinishedSpans()).toEqual([])
    expect(lineOf(span.carrier)).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
  })

  it.each(['not json', '{}', '{"traceparent": 7}', '{"traceparent": "00-zz"}', 'null', null, undefined])(
    'an unusable parent (%s) begins a trace',
    (parent) => {
      startSpan('a', { parent }).end()
      expect(exporter.getFinishedSpans()[0]!.parentSpanContext).toBeUndefined()
    },
  )

  it('work inside a request prefers its active span; work for others does not', async () => {
    await traced('request', { parent: PARENT }, async () => {
      startSpan('inside', { inherit: true }).end()
      startSpan('for another', { parent: PARENT }).end()
    })
    const spans = new Map(exporter.getFinishedSpans().map((span) => [span.name, span]))
    expect(spans.get('inside')!.parentSpanContext!.spanId).toBe(spans.get('request')!.spanContext().spanId)
    expect(spans.get('for another')!.parentSpanContext!.spanId).toBe('b7ad6b7169203331')
  })

  it('failures are told, times of others are kept', async () => {
    await expect(traced('a', {}, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk')
    startSpan('b', { since: 1_700_000_000_000 }).end(undefined, 1_700_000_000_250)
    const [failed, timed] = exporter.getFinishedSpans()
    expect(failed!.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no disk' })
    expect(timed!.duration).toEqual([0, 250_000_000])
  })
})

describe('headers', () => {
  const read = (headers: Record<string, unknown>) => traceContextText((name) => headers[name])
  it('become one text, or none', () => {
    const traceparent = `00-${TRACE}-b7ad6b7169203331-01`
    expect(read({ traceparent, tracestate: 'vendor=1' })).toBe(
      `{"traceparent":"${traceparent}","tracestate":"vendor=1"}`,
    )
    expect(read({ traceparent, tracestate: 'a\r\nb' })).toBe(`{"traceparent":"${traceparent}"}`)
    expect(read({ traceparent: 'x' })).toBeUndefined()
    expect(read({ traceparent: ['a'] })).toBeUndefined()
    expect(read({})).toBeUndefined()
  })
})
