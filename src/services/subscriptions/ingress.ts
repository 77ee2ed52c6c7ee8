// Messages that are pushed over HTTP. The listener is found by an index, the signature is verified, then the message is
// dispatched like a pulled one. A request that arrives during a pause is either committed before it or refused.
import { randomUUID } from 'node:crypto'
import { wireTimeFromPostgres, wireTimeToMicros } from '../../domain/events/wireTime.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { routeOf } from '../../domain/subscriptions/headerRoutes.js'
import { deliveryRules, type Received } from '../../domain/subscriptions/ingressMessage.js'
import { type IngressRules, ingressRules, verifyHead, verifyIngress } from '../../domain/subscriptions/ingressVerify.js'
import { CpError, toCpError } from '../../errors.js'
import { findByListener, type SubscriptionRow } from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import type { ExecutionsDeps, Started } from '../executions/executions.js'
import { dispatch } from './dispatch.js'
import { entryOf, type ReadEntry } from './entry.js'
import { followSubscription } from './following.js'
import { changeSubscription, type LifecycleDeps, registerSubscription } from './lifecycle.js'
import { readContent } from './messageContent.js'
import { unregisteredListeners } from './unregisteredListeners.js'

export type IngressOutcome = 'accepted' | 'duplicate' | 'unknown' | 'inactive' | 'unverified' | 'unusable' | 'failed'

export interface IngressDeps extends ExecutionsDeps {
  documents: CatalogDocuments
  lifecycle: LifecycleDeps
  /** The secret behind an alias. */
  secretOf(alias: string): string
  /** `listener` is undefined for names that are not ours: strangers must not fill the metrics. */
  onRequest(listener: string | undefined, outcome: IngressOutcome): void
}

/** What is known of a message before its body is read. */
export interface PushedHead {
  listener: string
  header(name: string): string | undefined
}

export interface PushedMessage extends PushedHead {
  body: Uint8Array
  /** What `admit` answered; saves the second look. */
  admitted?: Admitted | undefined
  headers(): Record<string, string>
  traceContext?: string | undefined
}

const RETRY_AFTER_SECONDS = 30
const TRIES = 3
/** By these the usual senders repeat themselves. */
const PUSHED_KEYS = { headers: ['idempotency-key', 'x-message-id', 'webhook-id', 'x-github-delivery'], bodyId: true }

/** A listener that is ours. */
export type Admitted = SubscriptionRow

export interface Ingress {
  /** Refuses what needs no body to be refused: strangers must not make us hold theirs. */
  admit(head: PushedHead): Promise<Admitted>
  receive(message: PushedMessage): Promise<Started>
  describe(listener: string): Promise<JsonObject>
}

export function createIngress(deps: IngressDeps): Ingress {
  const unregistered = unregisteredListeners(deps)

  async function find(listener: string): Promise<SubscriptionRow | undefined> {
    // Anything else cannot be one of ours, and some of it cannot even be asked for.
    if (!/^[A-Za-z0-9._-]{1,128}$/.test(listener)) return undefined
    return findByListener(deps.databases.cluster.db, listener)
  }

  /** As the original does it: a push subscription that is in the catalog alone is registered when somebody asks for it. */
  async function registerFromCatalog(listener: string): Promise<SubscriptionRow | undefined> {
    const path = await unregistered(listener)
    if (path === undefined) return undefined
    const { row } = await registerSubscription(deps.lifecycle, path, { reason: 'asked for' })
    // One that somebody has changed since stays as it is, and one of another runtime is activated by that.
    if (row.state !== 'REGISTERED' || row.external) return row
    return (await changeSubscription(deps.lifecycle, { id: row.subscription_id, action: 'activate' })).row
  }

  async function rulesOf(row: SubscriptionRow): Promise<ReadEntry & { rules: IngressRules }> {
    const entry = await entryOf(deps, row.catalog_id)
    const { spec, written } = entry
    if (spec.ingress === undefined) throw new CpError('corrupt', `subscription ${row.subscription_id} has no ingress`)
    const rules = ingressRules(spec.ingress.verify, isJsonObject(written['ingress']) ? written['ingress'] : {})
    return { ...entry, rules }
  }

  async function findKnown(listener: string): Promise<SubscriptionRow> {
    const row = (await find(listener)) ?? (await registerFromCatalog(listener))
    // What a gateway of its own receives does not come here.
    if (row !== undefined && !row.external) return row
    deps.onRequest(undefined, 'unknown')
    throw new CpError('not_found', 'there is no such listener')
  }

  async function accept(message: PushedMessage, row: SubscriptionRow): Promise<Started> {
    const { spec, written, rules } = await rulesOf(row)
    const about = { source: spec.source.type, listener: message.listener }
    const received: Received = { header: message.header, headers: message.headers, body: message.body, about }
    verifyIngress(rules, secretOf(rules.verify), { ...received, nowMs: deps.clock.now() })
    assertReceiving(row)
    const delivery = deliveryRules(spec, written)
    const { key, payload, payloadText } = await readContent(deps.large, delivery, received, PUSHED_KEYS)
    const [started] = await dispatch(
      deps,
      {
        subscriptionId: row.subscription_id,
        epoch: row.epoch,
        lastEventId: row.last_event_id,
        ...routeOf(spec, message.header),
      },
      [
        {
          identity: `push:${randomUUID()}`,
          key,
          windowSeconds: delivery.windowSeconds,
          payload,
          payloadText,
          trace: key === undefined ? about : { ...about, key },
          traceContext: message.traceContext,
        },
      ],
    )
    return started!
  }

  function secretOf(verify: { type: string; secret?: string }): string {
    if (verify.secret === undefined) return ''
    try {
      return deps.secretOf(verify.secret)
    } catch (error) {
      // Which secret is missing is for the operator; the caller only learns that it is not its fault.
      throw new CpError('unavailable', 'this listener cannot verify anything at the moment', {
        cause: error,
        details: { retryAfterSeconds: RETRY_AFTER_SECONDS, internal: toCpError(error).message },
      })
    }
  }

  function assertReceiving(row: SubscriptionRow): void {
    if (row.state === 'ACTIVE') return
    const untilMs =
      row.paused_until === null
        ? undefined
        : Number(wireTimeToMicros(wireTimeFromPostgres(row.paused_until, 'paused_until')) / 1000n)
    const seconds = untilMs === undefined ? RETRY_AFTER_SECONDS : Math.ceil((untilMs - deps.clock.now()) / 1000)
    throw new CpError('unavailable', `the listener ${row.listener} is ${row.state}; send it again later`, {
      details: { retryAfterSeconds: Math.min(3_600, Math.max(1, seconds)), state: row.state },
    })
  }

  return {
    admit: async ({ listener, header }) => {
      const row = await findKnown(listener)
      try {
        const { rules } = await rulesOf(row)
        // Who is known may hear how things stand.
        if (verifyHead(rules, secretOf(rules.verify), { header, nowMs: deps.clock.now() })) assertReceiving(row)
        return row
      } catch (error) {
        const failure = toCpError(error)
        deps.onRequest(listener, outcomeOf(failure))
        throw failure
      }
    },
    receive: async (message) => {
      for (let tries = 1; ; tries++) {
        const known = tries === 1 ? message.admitted : undefined
        const row = known ?? (await findKnown(message.listener))
        try {
          const started = await accept(message, row)
          deps.onRequest(message.listener, started.status === 'started' ? 'accepted' : 'duplicate')
          return started
        } catch (error) {
          const failure = toCpError(error)
          // Stopped or changed between our look and the commit: the next look tells what holds now.
          if (failure.code === 'lost_claim' && tries < TRIES) {
            await followSubscription(deps, row.subscription_id)
            continue
          }
          deps.onRequest(message.listener, outcomeOf(failure))
          // What is missing here is for the operator; see listenerWatch.ts.
          if (failure.code === 'config') {
            throw new CpError('unavailable', 'this listener cannot start anything at the moment; send it again later', {
              cause: failure,
              details: { retryAfterSeconds: RETRY_AFTER_SECONDS, internal: failure.message },
            })
          }
          if (failure.code !== 'lost_claim') throw failure
          throw new CpError('unavailable', 'the listener is being changed; send it again', {
            details: { retryAfterSeconds: 1 },
          })
        }
      }
    },
    describe: async (listener) => {
      const row = (await find(listener)) ?? (await registerFromCatalog(listener))
      if (row === undefined) throw new CpError('not_found', `no live subscription has the listener ${listener}`)
      const { spec } = await entryOf(deps, row.catalog_id)
      const verify = spec.ingress?.verify
      return {
        listener,
        catalog_path: row.path,
        source: spec.source.type,
        subscription_id: row.subscription_id,
        state: row.state,
        verify: verifyDocument(verify),
        dispatch: {
          playbook: spec.dispatch.playbook,
          payload_from: spec.dispatch.payloadFrom,
          execution_pool: spec.dispatch.executionPool ?? null,
        },
        dedup: { enabled: spec.dedup.enabled, window_secs: spec.dedup.windowSeconds },
        directives: spec.headers ?? null,
      }
    },
  }

  function verifyDocument(verify: NonNullable<ReadEntry['spec']['ingress']>['verify'] | undefined): JsonObject {
    switch (verify?.type) {
      case 'hmac_sha256':
        return { type: verify.type, header: verify.header, secret: secretOf(verify) }
      case 'bearer':
        return { type: verify.type, secret: secretOf(verify) }
      case 'pubsub_oidc':
        return { type: verify.type, audience: verify.audience, service_account: verify.serviceAccount }
      default:
        return {}
    }
  }
}

function outcomeOf(error: CpError): IngressOutcome {
  if (error.code === 'unverified') return 'unverified'
  if (typeof error.details['state'] === 'string') return 'inactive'
  return error.code === 'invalid_input' || error.code === 'refused' ? 'unusable' : 'failed'
}
