// Feeds the projector from the stream: a durable consumer, batches, acknowledged only after commit. Our own
// messages are skipped by their origin header: they are in the log already.
import type { Bus } from '../../bus/connect.js'
import { openPuller, type PulledMessage, type Puller, type PullerSettings } from '../../bus/puller.js'
import { traceContextText } from '../../domain/events/traceContext.js'
import { type CpError, isOwnTrouble, toCpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { isTracing, type Span, startSpan } from '../../runtime/tracing.js'
import { CLAIM_CHECK_HEADER, ORIGIN_HEADER } from '../outbox/relay/message.js'
import {
  type Arrival,
  forOneBatch,
  type Projected,
  type ProjectorDeps,
  projectWhatCanBe,
  wholeOf,
} from './projector.js'

export interface ProjectorLoopDeps extends ProjectorDeps {
  bus: Bus
  random: () => number
  puller: PullerSettings
  /** Our own name in the origin header. */
  clusterId: string
  onPass(result: Projected, skipped: number): void
  onError(error: CpError): void
}

const BATCH = 200
const WAIT_MS = 1_000
const RETRY_MS = 2_000
// Each may be large and slow; the others of a batch come with the next ones.
const FETCHES_PER_PASS = 4
const FULL_MS = 100
const FETCH_RETRY_MS_MAX = 300_000

/** Longer after every delivery: a server may be away for days. */
function retryMs(deliveries: number): number {
  return Math.min(FETCH_RETRY_MS_MAX, RETRY_MS * 2 ** Math.min(deliveries, 10))
}

export function createProjectorLoop(deps: ProjectorLoopDeps): PollLoop {
  let puller: Puller | undefined

  async function pass(): Promise<'busy' | 'idle'> {
    if (!deps.bus.isConnected()) return 'idle'
    puller ??= await openPuller(deps.bus.connection(), deps.puller)
    let messages: PulledMessage[]
    try {
      messages = await puller.pull(BATCH, WAIT_MS)
    } catch (error) {
      // The consumer may be gone with its stream; look again next time.
      puller = undefined
      throw error
    }
    if (messages.length === 0) return 'idle'
    const foreign = messages.filter((message) => message.header(ORIGIN_HEADER) !== deps.clusterId)
    const batch = forOneBatch(deps)
    const { arrivals, postponed } = await resolve(batch, foreign)
    const spans = isTracing() ? openSpans(arrivals.keys()) : new Map<PulledMessage, Span>()
    const { result, untried } = await projectWhatCanBe(batch, [...arrivals.values()], 'stream').catch(
      (error: unknown) => {
        for (const span of spans.values()) span.end(error)
        throw error
      },
    )
    for (const [message, span] of spans)
      span.end(untried?.arrivals.has(arrivals.get(message)!) ? untried.error : undefined)
    deps.onPass(result, messages.length - foreign.length)
    for (const message of messages) {
      const arrival = arrivals.get(message)
      if (postponed.has(message)) continue
      // What waits for a dead shard waits alone; everything else is in the log or set aside.
      if (arrival !== undefined && untried?.arrivals.has(arrival)) message.retryLater(RETRY_MS)
      else message.ack()
    }
    if (untried !== undefined) throw untried.error
    return 'busy'
  }

  /** Each message continues the trace of its publisher, although they are stored together. */
  function openSpans(messages: Iterable<PulledMessage>): Map<PulledMessage, Span> {
    const spans = new Map<PulledMessage, Span>()
    for (const message of messages) {
      const attributes = {
        'messaging.system': 'nats',
        'messaging.destination.name': message.subject,
        'noetl.stream_sequence': message.streamSequence,
      }
      const parent = traceContextText(message.header)
      spans.set(message, startSpan('noetl.project', { kind: 'consumer', parent, attributes }))
    }
    return spans
  }

  /** Payloads that cannot be had now hold up their own message and no others. */
  async function resolve(batch: ProjectorDeps, messages: readonly PulledMessage[]) {
    const arrivals = new Map<PulledMessage, Arrival>()
    const postponed = new Set<PulledMessage>()
    let fetches = 0
    for (const message of messages) {
      if (message.header(CLAIM_CHECK_HEADER) === undefined) {
        arrivals.set(message, { bytes: message.data })
        continue
      }
      fetches += 1
      const arrival = fetches > FETCHES_PER_PASS ? undefined : await fetchOne(batch, message)
      if (arrival !== undefined) arrivals.set(message, arrival)
      else {
        postponed.add(message)
        message.retryLater(fetches > FETCHES_PER_PASS ? FULL_MS : retryMs(message.deliveries))
      }
    }
    return { arrivals, postponed }
  }

  async function fetchOne(batch: ProjectorDeps, message: PulledMessage): Promise<Arrival | undefined> {
    try {
      return { value: await wholeOf(batch, { bytes: message.data }) }
    } catch (error) {
      const reason = toCpError(error)
      if (!isOwnTrouble(reason)) return { bytes: message.data, refusal: reason.message }
      deps.onError(reason)
      return undefined
    }
  }

  return createPollLoop({
    name: 'projector',
    clock: deps.clock,
    random: deps.random,
    idleMs: 200,
    errorMs: 500,
    errorMsMax: 10_000,
    onError: deps.onError,
    runOnce: pass,
  })
}
