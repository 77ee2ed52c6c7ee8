// A durable consumer on a stream of others, read by our own pull requests: messages are handed over one by one as
// they arrive, never more than asked for. stop() sends no further request and waits for the messages already asked
// for, so that each gets its answer at once and not after a redelivery.
import { type Msg, type NatsConnection, nanos, nuid } from 'nats'
import { CpError } from '../errors.js'
import { withDeadline } from '../runtime/deadline.js'
import { toBusError } from './busErrors.js'
import { DeliveredMessage, type SourceMessage } from './sourceMessage.js'
import { API_DEADLINE_MS, ensureConsumer, type ReadySource, type SourceSetup } from './sourceSetup.js'

export interface SourceConsumer {
  readonly stream: string
  readonly durable: string
  /** How long the server waits for an answer before it delivers a message again. */
  readonly ackWaitMs: number
  /** Asks for up to `count` more messages. */
  request(count: number): void
  /** Asked for and not yet come; a request that was not filled in time no longer counts. */
  outstanding(): number
  /** Nothing more is asked for; resolves when nothing more can come. */
  stop(): Promise<void>
}

export interface SourceOptions extends SourceSetup {
  onMessage(message: SourceMessage): void
  /** A request ended without being filled, or for good; the time to ask again. */
  onIdle(): void
  onLost(error: CpError): void
}

const EXPIRES_MS = 1_000
// Beyond the server's own expiry: the answer was lost with the link.
const GRACE_MS = 1_500

export async function openSource(connection: NatsConnection, options: SourceOptions): Promise<SourceConsumer> {
  const { durable } = options
  try {
    const ready = await withDeadline(ensureConsumer(connection, options), API_DEADLINE_MS * 2, {
      what: `setting up consumer ${durable}`,
    })
    return attach(connection, ready, options)
  } catch (error) {
    throw toBusError(error, `consumer ${durable}`)
  }
}

function attach(connection: NatsConnection, ready: ReadySource, options: SourceOptions): SourceConsumer {
  const { durable } = options
  const { stream, ackWaitMs } = ready
  const requests = new Map<string, { left: number; timer: NodeJS.Timeout }>()
  const base = `_INBOX.${nuid.next()}`
  const next = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`
  let serial = 0
  let stopping: (() => void) | undefined

  const subscription = connection.subscribe(`${base}.*`, {
    callback: (error, message) => {
      if (error) options.onLost(toBusError(error, `consumer ${durable}`))
      else take(message)
    },
  })

  function take(message: Msg): void {
    if (message.reply !== undefined && message.reply !== '') {
      // A delivered message keeps its own subject. The server fills requests in their order.
      const token = firstOpen()
      const request = requests.get(token)
      options.onMessage(new DeliveredMessage(message, ready.streamMadeAt))
      if (request === undefined) return
      request.left -= 1
      if (request.left === 0) finish(token)
      return
    }
    const code = message.headers?.code
    if (code === 409 && /deleted/i.test(message.headers?.description ?? '')) {
      options.onLost(new CpError('unavailable', `consumer ${durable} of stream ${stream} was deleted`))
    } else if (code === 503) {
      options.onLost(new CpError('unavailable', `stream ${stream} or its consumer ${durable} is gone`))
    }
    // 408 expired, 404 nothing there, 409 over a limit: either way this request is over. A heartbeat (100) is not.
    if (code !== 100) finish(message.subject.slice(base.length + 1))
  }

  function firstOpen(): string {
    for (const token of requests.keys()) return token
    return ''
  }

  function finish(token: string): void {
    const request = requests.get(token)
    if (request === undefined) return
    clearTimeout(request.timer)
    requests.delete(token)
    if (requests.size === 0) stopping?.()
    if (stopping === undefined) options.onIdle()
  }

  return {
    stream,
    durable,
    ackWaitMs,
    request: (count) => {
      if (stopping !== undefined || count <= 0) return
      const token = (serial++).toString(36)
      const timer = setTimeout(() => finish(token), EXPIRES_MS + GRACE_MS)
      requests.set(token, { left: count, timer })
      try {
        connection.publish(next, JSON.stringify({ batch: count, expires: nanos(EXPIRES_MS) }), {
          reply: `${base}.${token}`,
        })
      } catch (error) {
        finish(token)
        throw toBusError(error, `consumer ${durable}`)
      }
    },
    outstanding: () => {
      let total = 0
      for (const { left } of requests.values()) total += left
      return total
    },
    stop: async () => {
      if (requests.size > 0) {
        await new Promise<void>((resolve) => {
          stopping = resolve
        })
      }
      stopping ??= () => undefined
      subscription.unsubscribe()
    },
  }
}
