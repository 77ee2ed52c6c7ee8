// Traces for noetl-cp. Copy this file to a folder of its own and install beside it:
//
//   npm install @opentelemetry/api@1.9 @opentelemetry/sdk-trace-base@2.12 @opentelemetry/resources@2.12 \
//     @opentelemetry/exporter-trace-otlp-http@0.223
//   OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 node --import /etc/noetl-cp/otel.mjs "$(command -v noetl-cp)" serve
//
// Spans are made on the main thread alone; the worker threads load this file, too, and need no SDK.
import { isMainThread } from 'node:worker_threads'
import { trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'

if (isMainThread) {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': process.env.OTEL_SERVICE_NAME ?? 'noetl-cp' }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  trace.setGlobalTracerProvider(provider)
  // The daemon drains for a while after a signal; what it has told so far is sent meanwhile.
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void provider.forceFlush())
}
