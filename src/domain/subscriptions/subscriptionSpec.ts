// The `spec` of a subscription document: where messages come from, what they start, and how they are held
// back. Everything that is wrong is listed with its place; keys that are not known are left alone, because
// the NoETL server's tools write more of them than the control plane reads.

import type { Reader, Violation } from '../catalog/violation.js'
import type { JsonObject } from '../json/value.js'
import { checkRouting } from './headerRoutes.js'
import { readSpool, type SubscriptionSpool } from './subscriptionSpool.js'

const SOURCES = ['pubsub', 'nats', 'kafka', 'webhook'] as const
const MODES = ['pull', 'push'] as const
const DRIVERS = ['control_plane', 'external'] as const
const ACTIVATIONS = ['continuous', 'scheduled'] as const
const VERIFY_TYPES = ['hmac_sha256', 'bearer', 'pubsub_oidc'] as const

export const BATCH_MAX_LIMIT = 1000
export const DEDUP_WINDOW_SECONDS = 300
const WHOLE_MAX = 2_147_483_647

export interface SubscriptionSource {
  type: (typeof SOURCES)[number]
  /** What else the source says about itself: stream, subject, consumer, credential alias. */
  settings: JsonObject
}

export type IngressVerify =
  | { type: 'hmac_sha256'; header: string; secret: string }
  | { type: 'bearer'; secret: string }
  | { type: 'pubsub_oidc'; audience: string; serviceAccount: string }

export interface SubscriptionIngress {
  gatewayPath: string
  /** The last segment of the path; listeners are known by it. */
  listener: string
  verify: IngressVerify
}

export interface SubscriptionSpec {
  source: SubscriptionSource
  mode: (typeof MODES)[number]
  activation: (typeof ACTIVATIONS)[number]
  /** Whose runtime delivers; without a word of the document: ours where it can. */
  driver: (typeof DRIVERS)[number]
  dispatch: {
    playbook: string
    payloadFrom: string
    executionPool?: string
    batchDispatch: boolean
    batchMax: number
  }
  dedup: { enabled: boolean; windowSeconds: number }
  limits: { maxInFlight?: number; maxDispatchPerSecond?: number }
  ingress?: SubscriptionIngress
  /** As written; directives are applied by whoever receives the messages. */
  headers?: JsonObject
  spool?: SubscriptionSpool
}

/** Undefined when anything was wrong; the caller already holds the list. */
export function parseSubscriptionSpec(document: Reader, violations: Violation[]): SubscriptionSpec | undefined {
  const before = violations.length
  const spec = document.mapping('spec', 'required')
  if (spec === undefined) return undefined
  const source = readSource(spec)
  const mode = spec.oneOf('mode', MODES, 'required')
  const activation = spec.oneOf('activation', ACTIVATIONS)
  if (activation !== undefined && mode === 'push') spec.wrong('activation', 'belongs to mode pull only')
  const dispatch = readDispatch(spec)
  const dedup = readDedup(spec)
  const limits = readLimits(spec)
  const spool = readSpool(spec)
  const ingress = mode === 'push' || spec.has('ingress') ? readIngress(spec) : undefined
  const driver = readDriver(spec, { source, mode, activation, ingress })
  const headers = readHeaders(spec, mode === 'pull' && driver === 'control_plane')
  if (violations.length > before || source === undefined || mode === undefined || dispatch === undefined)
    return undefined
  return {
    source,
    mode,
    activation: activation ?? 'continuous',
    driver,
    dispatch,
    dedup,
    limits,
    ...(ingress === undefined ? {} : { ingress }),
    ...(headers === undefined ? {} : { headers }),
    ...(spool === undefined ? {} : { spool }),
  }
}

/** Either `source: nats` with its settings beside it, or `source: {type: nats, …}`. */
function readSource(spec: Reader): SubscriptionSource | undefined {
  const written = spec.value('source')
  if (typeof written === 'object' && written !== null) {
    const source = spec.mapping('source')
    if (source === undefined) return undefined
    const key = source.has('type') || !source.has('kind') ? 'type' : 'kind'
    const type = source.oneOf(key, SOURCES, 'required')
    const { [key]: _, ...settings } = source.raw()
    return type === undefined ? undefined : { type, settings }
  }
  const type = spec.oneOf('source', SOURCES, 'required')
  if (type === undefined) return undefined
  const settings: JsonObject = {}
  for (const key of ['stream', 'subject', 'subjects', 'consumer', 'durable', 'topic', 'subscription', 'auth']) {
    const value = spec.value(key)
    if (value !== undefined) settings[key] = value
  }
  const own = spec.mapping(type)?.raw()
  return { type, settings: { ...settings, ...own } }
}

interface DriverFacts {
  source: SubscriptionSource | undefined
  mode: SubscriptionSpec['mode'] | undefined
  activation: SubscriptionSpec['activation'] | undefined
  ingress: SubscriptionIngress | undefined
}

function readDriver(spec: Reader, facts: DriverFacts): SubscriptionSpec['driver'] {
  const driver = spec.oneOf('driver', DRIVERS)
  const reason = undrivable(facts)
  if (driver === 'control_plane' && reason !== undefined) {
    spec.wrong('driver', `must be external: the control plane does not deliver what ${reason}`)
  }
  return driver ?? (reason === undefined ? 'control_plane' : 'external')
}

/** What keeps our own runtime from delivering; undefined when nothing does. */
function undrivable({ source, mode, activation, ingress }: DriverFacts): string | undefined {
  if (mode === 'push') return ingress?.verify.type === 'pubsub_oidc' ? 'is verified by pubsub_oidc' : undefined
  if (source !== undefined && source.type !== 'nats') return `is pulled from ${source.type}`
  return activation === 'scheduled' ? 'has activation scheduled' : undefined
}

function readDispatch(spec: Reader): SubscriptionSpec['dispatch'] | undefined {
  const dispatch = spec.mapping('dispatch', 'required')
  if (dispatch === undefined) return undefined
  const playbook = dispatch.text('playbook', 'required')
  const payloadFrom = dispatch.text('payload_from')
  const executionPool = dispatch.text('execution_pool')
  const batchDispatch = dispatch.boolean('batch_dispatch')
  const batchMax = dispatch.integer('batch_max', 1, BATCH_MAX_LIMIT)
  if (playbook === undefined) return undefined
  return {
    playbook,
    payloadFrom: payloadFrom ?? 'message.json',
    ...(executionPool === undefined ? {} : { executionPool }),
    batchDispatch: batchDispatch ?? false,
    batchMax: batchMax ?? 1,
  }
}

function readDedup(spec: Reader): SubscriptionSpec['dedup'] {
  const dedup = spec.mapping('dedup')
  const enabled = dedup?.boolean('enabled')
  const windowSeconds = dedup?.positive('window_secs')
  return { enabled: enabled ?? dedup !== undefined, windowSeconds: windowSeconds ?? DEDUP_WINDOW_SECONDS }
}

function readLimits(spec: Reader): SubscriptionSpec['limits'] {
  const limits = spec.mapping('limits')
  const maxInFlight = limits?.integer('max_in_flight', 1, WHOLE_MAX)
  const maxDispatchPerSecond = limits?.positive('max_dispatch_per_sec')
  return {
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(maxDispatchPerSecond === undefined ? {} : { maxDispatchPerSecond }),
  }
}

function readHeaders(spec: Reader, isPulledHere: boolean): JsonObject | undefined {
  const headers = spec.mapping('headers')
  for (const directive of headers?.mappings('directives') ?? []) {
    directive.text('header', 'required')
    if (!directive.has('controls')) directive.wrong('controls', 'is missing')
    else checkRouting(directive, isPulledHere)
  }
  return headers?.raw()
}

function readIngress(spec: Reader): SubscriptionIngress | undefined {
  const ingress = spec.mapping('ingress', 'required')
  if (ingress === undefined) return undefined
  const gatewayPath = ingress.text('gateway_path', 'required')
  const listener = gatewayPath === undefined ? undefined : listenerOf(gatewayPath)
  if (gatewayPath !== undefined && !gatewayPath.startsWith('/')) ingress.wrong('gateway_path', 'must start with /')
  else if (gatewayPath !== undefined && listener === undefined) {
    ingress.wrong('gateway_path', 'must end in a name of letters, digits, dots, dashes or underscores')
  }
  const verify = readVerify(ingress)
  if (gatewayPath === undefined || listener === undefined || verify === undefined) return undefined
  return { gatewayPath, listener, verify }
}

/** The name under which messages are pushed: the last segment of the path. */
export function listenerOf(gatewayPath: string): string | undefined {
  return /(?:^|\/)([A-Za-z0-9._-]{1,128})$/.exec(gatewayPath.replace(/(?<!\/)\/+$/, ''))?.[1]
}

function readVerify(ingress: Reader): IngressVerify | undefined {
  const verify = ingress.mapping('verify', 'required')
  if (verify === undefined) return undefined
  if (verify.value('type') === 'none') return verify.wrong('type', 'must not be none: anybody could start executions')
  const type = verify.oneOf('type', VERIFY_TYPES, 'required')
  if (type === 'hmac_sha256') {
    const header = verify.text('header', 'required')
    const secret = verify.text('secret', 'required')
    return header === undefined || secret === undefined ? undefined : { type, header: header.toLowerCase(), secret }
  }
  if (type === 'bearer') {
    const secret = verify.text('secret', 'required')
    return secret === undefined ? undefined : { type, secret }
  }
  if (type === undefined) return undefined
  const audience = verify.text('audience', 'required')
  const serviceAccount = verify.text('service_account', 'required')
  return audience === undefined || serviceAccount === undefined ? undefined : { type, audience, serviceAccount }
}
