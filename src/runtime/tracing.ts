// Spans by the OpenTelemetry API alone, without an SDK: to get traces, start the daemon with one (docs/tracing.md).
// Without an SDK a span is a constant object, and the incoming trace context is passed on unchanged.
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  type Span as OtelSpan,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'

export interface Span {
  /** For the next hop: W3C trace context as JSON text. Undefined when there is nothing to hand on. */
  readonly carrier: string | undefined
  set(attributes: Attributes): void
  /** Once; with what went wrong, if something did, and when, if not now. */
  end(failure?: unknown, at?: number): void
}

export interface SpanOptions {
  /** Trace context as JSON text, of the thing itself: work is often done for one caller on the way of another. */
  parent?: string | null | undefined
  /** Prefer the active span of this process, such as that of an HTTP instrumentation: for work inside a request. */
  inherit?: boolean
  kind?: 'internal' | 'producer' | 'consumer'
  attributes?: Attributes
  /** When it began: by performance.now(), or in milliseconds of the epoch; default now. */
  since?: number
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const KINDS = { internal: SpanKind.INTERNAL, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER }
// What a provider without an SDK behind it answers; the API has no other way to ask.
const NO_SDK = new ProxyTracerProvider().getDelegate()

let tracing = false

/** Whether anybody registered an SDK. From then on it stays true. */
export function isTracing(): boolean {
  if (tracing) return true
  const provider = trace.getTracerProvider()
  tracing = !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== NO_SDK
  return tracing
}

export function startSpan(name: string, options: SpanOptions = {}): Span {
  return isTracing() ? openSpan(name, options).span : passing(options.parent)
}

/** Runs the work inside a span that ends with it and is active meanwhile. */
export function traced<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  if (!isTracing()) return work(passing(options.parent))
  const { span, active } = openSpan(name, options)
  return context.with(active, async () => {
    try {
      const result = await work(span)
      span.end()
      return result
    } catch (error) {
      span.end(error)
      throw error
    }
  })
}

const NOTHING: Span = { carrier: undefined, set: () => undefined, end: () => undefined }

function passing(parent: string | null | undefined): Span {
  return parent === undefined || parent === null ? NOTHING : { ...NOTHING, carrier: parent }
}

function openSpan(name: string, options: SpanOptions): { span: Span; active: Context } {
  const base = parentContext(options)
  const started = trace.getTracer('noetl-cp').startSpan(
    name,
    {
      kind: KINDS[options.kind ?? 'internal'],
      ...(options.attributes === undefined ? {} : { attributes: options.attributes }),
      ...(options.since === undefined ? {} : { startTime: options.since }),
    },
    base,
  )
  return { span: wrap(started), active: trace.setSpan(base, started) }
}

function wrap(started: OtelSpan): Span {
  return {
    carrier: carrierOf(started.spanContext()),
    set: (attributes) => {
      started.setAttributes(attributes)
    },
    end: (failure, at) => {
      if (failure !== undefined) {
        const message = failure instanceof Error ? failure.message : String(failure)
        started.setStatus({ code: SpanStatusCode.ERROR, message })
      }
      started.end(at)
    },
  }
}

function parentContext({ parent, inherit }: SpanOptions): Context {
  const active = context.active()
  if (inherit === true && trace.getSpan(active) !== undefined) return active
  const remote = parent === undefined || parent === null ? undefined : readCarrier(parent)
  return remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote)
}

function readCarrier(text: string): SpanContext | undefined {
  let carrier: { traceparent?: unknown; tracestate?: unknown } | null
  try {
    carrier = JSON.parse(text)
  } catch {
    // A row of somebody else; the trace begins anew here.
    return undefined
  }
  const parts = TRACEPARENT.exec(String(carrier?.traceparent))
  if (parts === null) return undefined
  const [, traceId, spanId, flags] = parts
  return {
    traceId: traceId!,
    spanId: spanId!,
    traceFlags: Number.parseInt(flags!, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(typeof carrier?.tracestate === 'string' ? { traceState: createTraceState(carrier.tracestate) } : {}),
  }
}

function carrierOf({ traceId, spanId, traceFlags, traceState }: SpanContext): string | undefined {
  if (/^0+$/.test(traceId)) return undefined
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  const tracestate = traceState?.serialize() ?? ''
  return JSON.stringify(tracestate === '' ? { traceparent } : { traceparent, tracestate })
}
