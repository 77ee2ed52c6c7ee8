// The source of a subscription, opened as its entry says: the durable consumer, how messages become deliveries, and how
// many may be held and started.
import type { Bus } from '../../bus/connect.js'
import { openSource, type SourceConsumer, type SourceOptions } from '../../bus/sourceConsumer.js'
import type { Databases } from '../../db/databases.js'
import { type DeliveryRules, deliveryRules } from '../../domain/subscriptions/ingressMessage.js'
import type { OwnSources } from '../../domain/subscriptions/ownSources.js'
import type { Clock } from '../../runtime/clock.js'
import type { HeldSubscription } from '../../stores/subscriptions/subscriptionRuntimeStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import { assertForeign, assertSourceAllowed, entryOf, natsSourceOf } from './entry.js'
import { durableOf } from './naming.js'
import { findPlaybook } from './playbook.js'
import { createRate, type Rate } from './rate.js'

export interface OpenDelivery {
  consumer: SourceConsumer
  rules: DeliveryRules
  rate: Rate
  /** How many messages may be here at a time. */
  heldMax: number
}

const IN_FLIGHT_DEFAULT = 1_000
// Longer than a start ever takes; after a crash it is also how long the messages under way stay away.
const ACK_WAIT_MS = 10_000

export async function openDelivery(
  deps: { bus: Bus; databases: Databases; documents: CatalogDocuments; own: OwnSources; clock: Clock },
  held: HeldSubscription,
  on: Pick<SourceOptions, 'onMessage' | 'onIdle' | 'onLost'>,
): Promise<OpenDelivery> {
  const { spec, written } = await entryOf(deps, held.catalog_id)
  assertSourceAllowed(held.path, spec, deps.own)
  const source = natsSourceOf(held.path, spec)
  // Before the first message is taken: it would only be given back.
  await findPlaybook(deps, spec.dispatch.playbook)
  const rate = createRate(spec.limits.maxDispatchPerSecond, deps.clock)
  const maxInFlight = spec.limits.maxInFlight ?? IN_FLIGHT_DEFAULT
  const consumer = await openSource(deps.bus.connection(), {
    ...on,
    address: source,
    durable: durableOf(held.path, source),
    isForeign: source.durable !== undefined,
    ackWaitMs: ACK_WAIT_MS,
    maxAckPending: maxInFlight,
    assertAllowed: (stream) => assertForeign(held.path, stream, deps.own),
  })
  // What waits here longer than the server waits for its answer comes a second time and eats the rate.
  const heldMax = Math.min(maxInFlight, rate.within(consumer.ackWaitMs / 2))
  return { consumer, rules: deliveryRules(spec, written), rate, heldMax }
}
