// A message of a stream of others and the answers it can get. Its identity includes the incarnation of the stream,
// because a stream that was made again, or restored from an older disk, counts its sequences anew.
import { type Msg, nanos } from 'nats'

export interface SourceMessage {
  stream: string
  /** Nanoseconds since 1970 when the stream was made. */
  streamMadeAt: string
  sequence: number
  /** Nanoseconds since 1970 when the stream stored it. */
  storedAt: string
  subject: string
  data: Uint8Array
  /** How often it was delivered, this time included. */
  deliveries: number
  header(name: string): string | undefined
  headers(): Record<string, string>
  ack(): void
  retryLater(ms: number): void
  drop(): void
  /** It is being held: the server waits another `ack_wait` for the answer. */
  working(): void
}

const ACK = Buffer.from('+ACK')
const TERM = Buffer.from('+TERM')
const WORKING = Buffer.from('+WPI')

/** A class and not an object of functions: one of these is made per message. */
export class DeliveredMessage implements SourceMessage {
  readonly stream: string
  readonly sequence: number
  readonly deliveries: number
  readonly storedAt: string
  readonly subject: string
  readonly data: Uint8Array
  private isAnswered = false

  constructor(
    private readonly message: Msg,
    readonly streamMadeAt: string,
  ) {
    const { stream, deliveries, sequence, storedAt } = readReply(message.reply!)
    this.stream = stream
    this.sequence = sequence
    this.deliveries = deliveries
    this.storedAt = storedAt
    this.subject = message.subject
    this.data = message.data
  }

  header(name: string): string | undefined {
    const { headers } = this.message
    return headers?.has(name) ? headers.get(name) : undefined
  }

  headers(): Record<string, string> {
    const found: Record<string, string> = {}
    const { headers } = this.message
    for (const key of headers?.keys() ?? []) found[key] = headers!.get(key)
    return found
  }

  ack(): void {
    this.answer(ACK)
  }

  retryLater(ms: number): void {
    this.answer(Buffer.from(`-NAK ${JSON.stringify({ delay: nanos(ms) })}`))
  }

  drop(): void {
    this.answer(TERM)
  }

  working(): void {
    if (!this.isAnswered) respond(this.message, WORKING)
  }

  private answer(text: Uint8Array): void {
    this.isAnswered = true
    respond(this.message, text)
  }
}

/** An answer that is lost is a redelivery, which is counted on anyway. */
function respond(message: Msg, answer: Uint8Array): void {
  try {
    message.respond(answer)
  } catch {
    // The link is closed.
  }
}

interface Reply {
  stream: string
  deliveries: number
  sequence: number
  storedAt: string
}

/**
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<time>.<pending>`; newer servers put
 * domain and account in front.
 */
function readReply(reply: string): Reply {
  const tokens = reply.split('.')
  const at = tokens.length === 9 ? 2 : 4
  return {
    stream: tokens[at]!,
    deliveries: Number(tokens[at + 2]),
    sequence: Number(tokens[at + 3]),
    storedAt: tokens[at + 5]!,
  }
}
