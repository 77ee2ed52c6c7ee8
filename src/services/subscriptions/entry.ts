// A subscription's catalog entry, read: what the row keeps of it, and whether it can be activated here.
import type { SourceStream } from '../../bus/sourceSetup.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { type OwnSources, ownSourceProblem } from '../../domain/subscriptions/ownSources.js'
import { ownSourceViolations } from '../../domain/subscriptions/subscriptionSource.js'
import type { SubscriptionSpec } from '../../domain/subscriptions/subscriptionSpec.js'
import { CpError } from '../../errors.js'
import type { SubscriptionEntry } from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments, CatalogedDocument } from '../catalog/catalogDocuments.js'

export interface ReadEntry {
  entry: SubscriptionEntry
  spec: SubscriptionSpec
  /** `spec` as written, for the few keys that only the delivery reads. */
  written: JsonObject
}

export function readEntry(found: CatalogedDocument): ReadEntry {
  if (found.kind !== 'subscription') {
    throw new CpError('refused', `${found.path} is a ${found.kind} in the catalog, not a subscription`)
  }
  const { subscription: spec } = found
  if (spec === undefined) throw new CpError('corrupt', `catalog entry ${found.catalogId} holds no subscription`)
  const { spec: value } = found.value()
  const written = isJsonObject(value) ? value : {}
  return {
    spec,
    written,
    entry: {
      catalogId: found.catalogId,
      catalogVersion: found.version,
      mode: spec.mode,
      source: spec.source.type,
      external: spec.driver === 'external',
      listener: spec.mode === 'push' ? (spec.ingress?.listener ?? null) : null,
      spec: summaryOf(spec),
    },
  }
}

export async function entryOf(deps: { documents: CatalogDocuments }, catalogId: string): Promise<ReadEntry> {
  return readEntry(await deps.documents.of(catalogId))
}

/** Short and without secrets: shown in lists. */
function summaryOf(spec: SubscriptionSpec): JsonObject {
  const summary: JsonObject = { source: spec.source.type, mode: spec.mode, playbook: spec.dispatch.playbook }
  const put = (key: string, value: JsonValue | undefined): void => {
    if (value !== undefined) summary[key] = value
  }
  if (spec.mode === 'pull') put('activation', spec.activation)
  if (spec.driver === 'external') put('driver', spec.driver)
  for (const key of ['stream', 'subject']) put(key, spec.source.settings[key])
  put('gateway_path', spec.ingress?.gatewayPath)
  put('verify', spec.ingress?.verify.type)
  put('max_in_flight', spec.limits.maxInFlight)
  put('max_dispatch_per_sec', spec.limits.maxDispatchPerSecond)
  return summary
}

export interface NatsSource {
  /** Either may be missing, not both: the stream is then found by the subject. */
  stream: string | undefined
  subject: string | undefined
  /** Named by the operator; undefined is one of our own. */
  durable: string | undefined
  deliver: 'all' | 'new'
}

/** Refuses what this daemon could not deliver, before it is declared active. What others deliver is for them to judge. */
export function assertActivatable(path: string, { spec }: ReadEntry, own: OwnSources): void {
  assertSourceAllowed(path, spec, own)
  if (spec.mode === 'pull' && spec.driver === 'control_plane') natsSourceOf(path, spec)
}

const NAME = /^[A-Za-z0-9_-]{1,128}$/
const FILTER = /^[\x21-\x7e]{1,256}$/

export function natsSourceOf(path: string, spec: SubscriptionSpec): NatsSource {
  const { settings } = spec.source
  const refuse = (what: string): CpError => new CpError('refused', `${path}: ${what}; correct the catalog entry`)
  const text = (key: string): string | undefined => {
    const value = settings[key]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') throw refuse(`spec.source.${key} must be text`)
    return value
  }
  for (const key of ['url', 'servers', 'server', 'nats_url']) {
    if (settings[key] !== undefined) {
      throw refuse(
        `spec.source.${key} names another server; the control plane reads streams of its own NATS only. Leave it out, or say driver: external and run a runtime of your own`,
      )
    }
  }
  const stream = text('stream')
  const subject = text('subject')
  const durable = text('durable') ?? text('consumer')
  if (stream === undefined && subject === undefined) throw refuse('spec.source needs a stream or a subject')
  if (stream !== undefined && !NAME.test(stream)) throw refuse('spec.source.stream is not a valid stream name')
  if (durable !== undefined && !NAME.test(durable)) throw refuse('spec.source.durable is not a valid consumer name')
  if (subject !== undefined && (!FILTER.test(subject) || subject.split('.').includes(''))) {
    throw refuse('spec.source.subject is not a NATS subject')
  }
  const deliver = text('deliver') ?? text('deliver_policy') ?? 'all'
  if (deliver !== 'all' && deliver !== 'new') throw refuse('spec.source.deliver must be all or new')
  return { stream, subject, durable, deliver }
}

/** Refuses what is ours: its executions would start themselves. */
export function assertSourceAllowed(path: string, spec: SubscriptionSpec, own: OwnSources): void {
  const [violation] = ownSourceViolations(spec, own)
  if (violation === undefined) return
  throw new CpError('refused', `${path}: ${violation.path} ${violation.message}; correct the catalog entry`)
}

/** The same for the stream that was found: by its subject, or as a copy of ours under another name. */
export function assertForeign(path: string, stream: SourceStream, own: OwnSources): void {
  const copied = stream.copiesOf.some((name) => own.streams.includes(name))
  const problem = copied
    ? 'copies a stream of our own'
    : [undefined, ...stream.subjects].flatMap((subject) => {
        const found = ownSourceProblem(own, { stream: stream.name, subject })
        return found === undefined ? [] : [found.message]
      })[0]
  if (problem === undefined) return
  throw new CpError(
    'refused',
    `${path} would read stream ${stream.name}: ${problem}. Its executions would start themselves; correct the catalog entry`,
  )
}
