// Drives one active pull subscription: asks its durable consumer for as many messages as the limits allow, starts
// executions in batches of up to 250, and acknowledges after the commit.
//
//   asked ──▶ held ──▶ starting ──started or duplicate──▶ acknowledged
//               ▲          ├── the start failed ──▶ returned with a delay of up to 15 s ──▶ delivered again
//               │          ├── it failed for the last time ──▶ kept as a dead message, acknowledged
//               └──────────┴── our own servers are in trouble: it waits, no attempt is counted
//
//   stop('finish') starts what is held; stop('return') gives it back at once.

import type { Bus } from '../../bus/connect.js'
import type { SourceConsumer } from '../../bus/sourceConsumer.js'
import type { SourceMessage } from '../../bus/sourceMessage.js'
import { delayMs } from '../../domain/backoff.js'
import type { DeliveryRules } from '../../domain/subscriptions/ingressMessage.js'
import type { OwnSources } from '../../domain/subscriptions/ownSources.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import { isolateRefused } from '../../runtime/isolateRefused.js'
import { LruMap } from '../../runtime/lruMap.js'
import { keepDead } from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import type { HeldSubscription } from '../../stores/subscriptions/subscriptionRuntimeStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import type { ExecutionsDeps, Started } from '../executions/executions.js'
import { type Delivery, dispatch } from './dispatch.js'
import { createHeldMessages } from './heldMessages.js'
import { deliveryOf, identityOf } from './natsDelivery.js'
import { openDelivery } from './openDelivery.js'
import { createRate, type Rate } from './rate.js'
import type { Right } from './right.js'

export type MessageOutcome = 'started' | 'duplicate' | 'retried' | 'returned' | 'dead'

export interface DriverDeps extends ExecutionsDeps {
  bus: Bus
  documents: CatalogDocuments
  own: OwnSources
  random: () => number
  attemptsMax: number
  onMessages(outcome: MessageOutcome, count: number): void
  /** A start was refused: the right to it has ended or changed hands. */
  onRefused(subscriptionId: string): void
  /** What keeps it from delivering; null when nothing does any more. */
  onTrouble(subscriptionId: string, trouble: string | null): void
}

export interface Driver {
  readonly catalogId: string
  epoch(): string
  /** The right to start executions as it stands now. */
  setRight(held: HeldSubscription): void
  /** `finish` starts what is queued, `return` gives it back; resolves when nothing is held any more. */
  stop(how: 'finish' | 'return'): Promise<void>
  inFlight(): number
}

type Usable = { message: SourceMessage; delivery: Delivery }

const BATCH_MAX = 250
const BATCHES_MAX = 2
const RETRY_MS_MAX = 15_000
const FAILURES_REMEMBERED_MAX = 10_000
const RETURN_MS = 0
const REFUSED_MS = 200
const SETTLE_MS = 5

export function createDriver(held: HeldSubscription, deps: DriverDeps): Driver {
  const id = held.subscription_id
  const messages = createHeldMessages()
  /** Attempts by identity. */
  const failures = new LruMap<string, number>({ entriesMax: FAILURES_REMEMBERED_MAX })
  const stopped = new AbortController()
  let right = rightOf(held)
  let mode: 'run' | 'finish' | 'return' = 'run'
  let rules: DeliveryRules | undefined
  let consumer: SourceConsumer | undefined
  let rate: Rate = createRate(undefined, deps.clock)
  let heldMax = 0
  let batches = 0
  let isPumpDue = false
  let blockedUntil = 0
  let setbacks = 0
  let lost: CpError | undefined
  let wakeUp: NodeJS.Timeout | undefined
  let trouble: string | null | undefined

  function tell(text: string | null): void {
    if (text === trouble) return
    trouble = text
    deps.onTrouble(id, text)
  }

  async function open(): Promise<void> {
    lost = undefined
    const opened = await openDelivery(deps, held, {
      onMessage: (message) => {
        messages.push(message)
        pumpSoon()
      },
      onIdle: pumpSoon,
      onLost: (error) => {
        lost = error
      },
    })
    ;({ consumer, rules, rate, heldMax } = opened)
    messages.setAckWait(opened.consumer.ackWaitMs)
  }

  /** Opens the source, and opens it again when it is lost, until told to stop. */
  async function run(): Promise<void> {
    let tries = 0
    while (!stopped.signal.aborted) {
      try {
        if (!deps.bus.isConnected()) throw new CpError('unavailable', 'NATS is not connected')
        await open()
        tries = 0
        if (setbacks === 0) tell(null)
        pumpSoon()
        while (lost === undefined && deps.bus.isConnected() && !stopped.signal.aborted) {
          await deps.clock.sleep(200, stopped.signal)
        }
        if (!stopped.signal.aborted) tell(lost?.message ?? 'the link to NATS was lost')
      } catch (error) {
        tell(toCpError(error).message)
      }
      await consumer?.stop()
      consumer = undefined
      if (stopped.signal.aborted) return
      tries += 1
      await deps.clock.sleep(Math.min(RETRY_MS_MAX, 200 * 2 ** Math.min(tries, 7)), stopped.signal)
    }
  }

  function pumpSoon(): void {
    if (isPumpDue) return
    isPumpDue = true
    setImmediate(() => {
      isPumpDue = false
      pump()
    })
  }

  function pumpAt(monotonicMs: number): void {
    clearTimeout(wakeUp)
    wakeUp = setTimeout(pumpSoon, Math.max(1, monotonicMs - deps.clock.monotonic()))
  }

  function pump(): void {
    if (mode === 'return') returnQueue()
    const now = deps.clock.monotonic()
    if (now < blockedUntil) {
      pumpAt(blockedUntil)
      return
    }
    while (messages.waiting() > 0 && batches < BATCHES_MAX) {
      const count = rate.take(Math.min(BATCH_MAX, messages.waiting()))
      if (count === 0) {
        pumpAt(now + rate.waitMs())
        break
      }
      void work(messages.take(count))
    }
    if (mode === 'run') ask()
  }

  function ask(): void {
    if (consumer === undefined || lost !== undefined) return
    const room = heldMax - messages.size() - consumer.outstanding()
    const wanted = Math.min(room, BATCH_MAX, Math.max(1, rate.burst()))
    // Many small requests cost more than one that waits a moment.
    if (wanted <= 0 || (consumer.outstanding() > 0 && wanted < Math.min(BATCH_MAX, heldMax) / 2)) return
    try {
      consumer.request(wanted)
    } catch (error) {
      lost = toCpError(error)
    }
  }

  function returnQueue(): void {
    const waiting = messages.take(messages.waiting())
    if (waiting.length === 0) return
    for (const message of waiting) message.retryLater(RETURN_MS)
    messages.done(waiting)
    deps.onMessages('returned', waiting.length)
  }

  async function work(taken: SourceMessage[]): Promise<void> {
    batches += 1
    let started = 0
    try {
      started = await startAll(taken)
    } catch (error) {
      // Whatever it was, the messages are redelivered; the loop must go on.
      tell(toCpError(error).message)
    } finally {
      batches -= 1
      messages.done(taken)
      // Only what started something costs the rate.
      rate.giveBack(taken.length - started)
      pumpSoon()
    }
  }

  /** How many executions began. */
  async function startAll(taken: readonly SourceMessage[]): Promise<number> {
    const usable: Usable[] = []
    for (const message of taken) {
      try {
        usable.push({ message, delivery: await deliveryOf(deps.large, rules!, identityOf(message), message) })
      } catch (error) {
        // A thread that is busy may manage it later, but not for ever.
        const isForLater = isOwnTrouble(error) && message.deliveries < deps.attemptsMax
        await (isForLater ? setBack([{ message }], toCpError(error)) : giveUp(message, toCpError(error), 1))
      }
    }
    const target = { ...right, playbook: rules!.playbook, executionPool: rules!.executionPool }
    const results = await isolateRefused(usable, (some) =>
      dispatch(
        deps,
        target,
        some.map(({ delivery }) => delivery),
      ),
    )
    const started = acknowledge(usable, results)
    const setBackOnes: Usable[] = []
    for (const [index, one] of usable.entries()) {
      const failure = results[index]
      if (!(failure instanceof CpError)) continue
      if (isOwnTrouble(failure)) setBackOnes.push(one)
      else await retryOrGiveUp(one, failure)
    }
    const trouble = results.find((result) => isOwnTrouble(result))
    if (trouble instanceof CpError) setBack(setBackOnes, trouble)
    return started
  }

  function acknowledge(usable: readonly Usable[], results: readonly (Started | CpError)[]): number {
    let started = 0
    let duplicates = 0
    for (const [index, { message, delivery }] of usable.entries()) {
      const result = results[index]!
      if (result instanceof CpError) continue
      message.ack()
      failures.delete(delivery.identity)
      if (result.status === 'duplicate') duplicates += 1
      else started += 1
    }
    if (started + duplicates === 0) return 0
    setbacks = 0
    if (lost === undefined) tell(null)
    deps.onMessages('started', started)
    deps.onMessages('duplicate', duplicates)
    return started
  }

  async function retryOrGiveUp(one: Usable, failure: CpError): Promise<void> {
    const { identity } = one.delivery
    const attempts = (failures.get(identity) ?? 0) + 1
    if (attempts >= deps.attemptsMax) {
      await giveUp(one.message, failure, attempts)
      return
    }
    failures.set(identity, attempts)
    one.message.retryLater(delayMs(attempts, deps.random()))
    deps.onMessages('retried', 1)
    tell(failure.message)
  }

  /** Our own servers, or the right to start: not the fault of any message. */
  function setBack(usable: readonly Pick<Usable, 'message'>[], error: CpError): 0 {
    setbacks += 1
    if (error.code === 'lost_claim') return refuse(usable)
    const pauseMs = delayMs(setbacks, deps.random(), RETRY_MS_MAX)
    blockedUntil = deps.clock.monotonic() + pauseMs
    tell(error.message)
    for (const { message } of usable) message.retryLater(pauseMs)
    deps.onMessages('returned', usable.length)
    return 0
  }

  /** Held until we are told what has become of the right: a drain or another epoch lets them be started after all. */
  function refuse(usable: readonly Pick<Usable, 'message'>[]): 0 {
    const refused = usable.map(({ message }) => message)
    if (mode === 'run') {
      blockedUntil = deps.clock.monotonic() + REFUSED_MS
      messages.putBack(refused)
    } else {
      for (const message of refused) message.retryLater(RETURN_MS)
      deps.onMessages('returned', refused.length)
    }
    deps.onRefused(id)
    return 0
  }

  async function giveUp(message: SourceMessage, error: CpError, attempts: number): Promise<0> {
    const identity = identityOf(message)
    try {
      await keepDead(deps.databases.cluster.db, {
        subscriptionId: id,
        identity,
        subject: message.subject,
        headers: message.headers(),
        body: message.data,
        reason: error.message.slice(0, 2_000),
        attempts,
      })
    } catch (failure) {
      return setBack([{ message }], toCpError(failure))
    }
    message.drop()
    failures.delete(identity)
    deps.onMessages('dead', 1)
    return 0
  }

  const running = run()

  return {
    catalogId: held.catalog_id,
    epoch: () => right.epoch,
    setRight: (next) => {
      if (next.epoch === right.epoch && next.last_event_id === right.lastEventId) return
      right = rightOf(next)
      blockedUntil = 0
      pumpSoon()
    },
    stop: async (how) => {
      mode = how
      stopped.abort()
      await running
      clearTimeout(wakeUp)
      // What is queued is worked off by the pump, or given back by it.
      while (messages.waiting() > 0 || batches > 0) {
        pump()
        await deps.clock.sleep(SETTLE_MS)
      }
      clearTimeout(wakeUp)
      messages.close()
      // The acknowledgements are on their way before the lease is given up.
      if (deps.bus.isConnected()) await deps.bus.ping(1_000).catch(() => undefined)
      tell(null)
    },
    inFlight: () => messages.size(),
  }
}

function rightOf({ subscription_id, epoch, last_event_id }: HeldSubscription): Right {
  return { subscriptionId: subscription_id, epoch, lastEventId: last_event_id }
}
