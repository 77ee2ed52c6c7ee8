// Drives one active pull subscription: asks its durable consumer for as many messages as the limits allow, starts
// executions in batches, acknowledges after commit. A message that fails comes back later and is given up after a
// few attempts; trouble of our own servers makes everything wait and counts for no message.
//
//   asked ──▶ queued ──▶ starting ──▶ acknowledged | returned with a delay | given up
import type { Bus } from '../../bus/connect.js'
import { openSource, type SourceConsumer, type SourceMessage } from '../../bus/sourceConsumer.js'
import { delayMs } from '../../domain/backoff.js'
import { type DeliveryRules, deliveryRules } from '../../domain/ingressMessage.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import { keepDead } from '../../stores/subscriptionDeliveryStore.js'
import type { HeldSubscription } from '../../stores/subscriptionRuntimeStore.js'
import type { ExecutionsDeps } from '../executions.js'
import { type Delivery, dispatch } from './dispatch.js'
import { entryOf, natsSourceOf } from './entry.js'
import { durableOf } from './naming.js'
import { deliveryOf, identityOf } from './natsDelivery.js'
import { createRate, type Rate } from './rate.js'

export type MessageOutcome = 'started' | 'duplicate' | 'retried' | 'returned' | 'dead'

export interface DriverDeps extends ExecutionsDeps {
  bus: Bus
  random: () => number
  attemptsMax: number
  onMessages(outcome: MessageOutcome, count: number): void
  /** What keeps it from delivering; null when nothing does any more. */
  onTrouble(subscriptionId: string, trouble: string | null): void
}

export interface Driver {
  readonly catalogId: string
  /** The right to start executions was renewed under another epoch. */
  setEpoch(epoch: string): void
  /** `finish` starts what is queued, `return` gives it back; resolves when nothing is held any more. */
  stop(how: 'finish' | 'return'): Promise<void>
  inFlight(): number
}

const IN_FLIGHT_DEFAULT = 1_000
const BATCH_MAX = 250
const BATCHES_MAX = 2
// Longer than a start ever takes; after a crash it is also how long the messages under way stay away.
const ACK_WAIT_MS = 10_000
const RETRY_MS_MAX = 15_000
const FAILURES_REMEMBERED_MAX = 10_000
const RETURN_MS = 0
const SETTLE_MS = 5

export function createDriver(held: HeldSubscription, deps: DriverDeps): Driver {
  const id = held.subscription_id
  const queue: SourceMessage[] = []
  const failures = new Map<number, number>()
  const stopped = new AbortController()
  let epoch = held.epoch
  let mode: 'run' | 'finish' | 'return' = 'run'
  let rules: DeliveryRules | undefined
  let consumer: SourceConsumer | undefined
  let rate: Rate = createRate(undefined, deps.clock)
  let maxInFlight = IN_FLIGHT_DEFAULT
  let starting = 0
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
    const { spec, written } = await entryOf(deps, held.catalog_id)
    const source = natsSourceOf(held.path, spec)
    rules = deliveryRules(spec, written)
    rate = createRate(spec.limits.maxDispatchPerSecond, deps.clock)
    maxInFlight = spec.limits.maxInFlight ?? IN_FLIGHT_DEFAULT
    lost = undefined
    consumer = await openSource(deps.bus.connection(), {
      address: source,
      durable: durableOf(held.path, source),
      isForeign: source.durable !== undefined,
      ackWaitMs: ACK_WAIT_MS,
      maxAckPending: maxInFlight,
      onMessage: (message) => {
        queue.push(message)
        pumpSoon()
      },
      onIdle: pumpSoon,
      onLost: (error) => {
        lost = error
      },
    })
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
    while (queue.length > 0 && batches < BATCHES_MAX) {
      const count = rate.take(Math.min(BATCH_MAX, queue.length))
      if (count === 0) {
        pumpAt(now + rate.waitMs())
        break
      }
      void work(queue.splice(0, count))
    }
    if (mode === 'run') ask()
  }

  function ask(): void {
    if (consumer === undefined || lost !== undefined) return
    const room = maxInFlight - queue.length - starting - consumer.outstanding()
    const wanted = Math.min(room, BATCH_MAX, Math.max(1, rate.burst()))
    // Many small requests cost more than one that waits a moment.
    if (wanted <= 0 || (consumer.outstanding() > 0 && wanted < Math.min(BATCH_MAX, maxInFlight) / 2)) return
    try {
      consumer.request(wanted)
    } catch (error) {
      lost = toCpError(error)
    }
  }

  function returnQueue(): void {
    if (queue.length > 0) deps.onMessages('returned', queue.length)
    for (const message of queue.splice(0)) message.retryLater(RETURN_MS)
  }

  async function work(messages: SourceMessage[]): Promise<void> {
    batches += 1
    starting += messages.length
    try {
      await startAll(messages)
    } catch (error) {
      // Whatever it was, the messages are redelivered; the loop must go on.
      tell(toCpError(error).message)
    } finally {
      batches -= 1
      starting -= messages.length
      pumpSoon()
    }
  }

  async function startAll(messages: readonly SourceMessage[]): Promise<void> {
    const usable: { message: SourceMessage; delivery: Delivery }[] = []
    for (const message of messages) {
      try {
        usable.push({ message, delivery: deliveryOf(rules!, message) })
      } catch (error) {
        await giveUp(message, toCpError(error), 1)
      }
    }
    if (usable.length === 0) return
    try {
      await startThese(usable)
    } catch (error) {
      if (isOwnTrouble(error)) return setBack(usable, toCpError(error))
      // One of them cannot be started; find out which.
      for (const one of usable) await startOne(one)
    }
  }

  async function startThese(usable: readonly { message: SourceMessage; delivery: Delivery }[]): Promise<void> {
    const target = { subscriptionId: id, epoch, playbook: rules!.playbook, executionPool: rules!.executionPool }
    const results = await dispatch(
      deps,
      target,
      usable.map(({ delivery }) => delivery),
    )
    let duplicates = 0
    for (const [index, { message }] of usable.entries()) {
      message.ack()
      failures.delete(message.sequence)
      if (results[index]!.status === 'duplicate') duplicates += 1
    }
    setbacks = 0
    if (lost === undefined) tell(null)
    deps.onMessages('started', usable.length - duplicates)
    deps.onMessages('duplicate', duplicates)
  }

  async function startOne(one: { message: SourceMessage; delivery: Delivery }): Promise<void> {
    try {
      await startThese([one])
    } catch (error) {
      const failure = toCpError(error)
      if (isOwnTrouble(failure)) return setBack([one], failure)
      const attempts = (failures.get(one.message.sequence) ?? 0) + 1
      if (attempts >= deps.attemptsMax) return giveUp(one.message, failure, attempts)
      if (failures.size >= FAILURES_REMEMBERED_MAX) failures.clear()
      failures.set(one.message.sequence, attempts)
      one.message.retryLater(delayMs(attempts, deps.random()))
      deps.onMessages('retried', 1)
      tell(failure.message)
    }
  }

  /** Our own servers, or the right to start: not the fault of any message. */
  function setBack(usable: readonly { message: SourceMessage }[], error: CpError): void {
    setbacks += 1
    const pauseMs = error.code === 'lost_claim' ? 200 : delayMs(setbacks, deps.random(), RETRY_MS_MAX)
    blockedUntil = deps.clock.monotonic() + pauseMs
    if (error.code !== 'lost_claim') tell(error.message)
    for (const { message } of usable) message.retryLater(error.code === 'lost_claim' ? RETURN_MS : pauseMs)
    deps.onMessages('returned', usable.length)
  }

  async function giveUp(message: SourceMessage, error: CpError, attempts: number): Promise<void> {
    try {
      await keepDead(deps.databases.cluster.db, {
        subscriptionId: id,
        identity: identityOf(message),
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
    failures.delete(message.sequence)
    deps.onMessages('dead', 1)
  }

  const running = run()

  return {
    catalogId: held.catalog_id,
    setEpoch: (next) => {
      if (next === epoch) return
      epoch = next
      blockedUntil = 0
      pumpSoon()
    },
    stop: async (how) => {
      mode = how
      stopped.abort()
      await running
      clearTimeout(wakeUp)
      // What is queued is worked off by the pump, or given back by it.
      while (queue.length > 0 || batches > 0) {
        pump()
        await deps.clock.sleep(SETTLE_MS)
      }
      clearTimeout(wakeUp)
      // The acknowledgements are on their way before the lease is given up.
      if (deps.bus.isConnected()) await deps.bus.ping(1_000).catch(() => undefined)
      tell(null)
    },
    inFlight: () => queue.length + starting,
  }
}
