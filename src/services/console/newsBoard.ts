// Doorbells for whoever looks on: a message says that something has changed, and whoever must know exactly asks for it. Each
// client names its topics and gets them in order, with ids by which it goes on after a break. Bounded everywhere: so many
// clients, so many bytes that wait for one of them, so many messages that are remembered.
import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { Service } from '../../runtime/service.js'

export interface Rung {
  /** `<epoch>.<n>`; what ends a stream has none. */
  id?: string
  name: string
  data: JsonObject
}

/** Nothing came for a while: a sign of life. */
export type Heard = Rung | 'quiet'

export interface ListenOptions {
  topics: ReadonlySet<string>
  /** The id of the last message that this client has seen. */
  lastId: string | undefined
  /** What the client is told of itself in `hello`. */
  greeting: JsonObject
  /** Asked again and again: a session ends, a right is taken away. */
  isAllowed(): boolean
  signal: AbortSignal
}

export interface NewsBoard extends Service {
  /** Throws `overloaded` when too many listen. */
  listen(options: ListenOptions): AsyncIterable<Heard>
  post(topic: string, name: string, data: JsonObject): void
  /** Topics that somebody listens to. */
  topics(): ReadonlySet<string>
  clients(): number
}

export interface NewsBoardDeps {
  clock: Clock
  onCut?(): void
  /** Somebody listens to something new. */
  onListener?(): void
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  clients: 200,
  queueBytes: 256 * 1024,
  ring: 2_000,
  /** What names and paths make of a message is up to others: so many bytes are remembered, however few messages that is. */
  ringBytes: 4 * 1024 * 1024,
  quietMs: 15_000,
  /** So often the rights of a client are looked at again. */
  rightsMs: 5_000,
}
const RETRY_MS = 2_000

interface Client {
  topics: ReadonlySet<string>
  queue: Rung[]
  bytes: number
  isOver: boolean
  wake(): void
}

export function createNewsBoard({ clock, onCut, onListener, limits: given }: NewsBoardDeps): NewsBoard {
  const limits = { ...LIMITS, ...given }
  const epoch = randomBytes(6).toString('hex')
  const ring: (Rung & { n: number; topic: string; bytes: number })[] = []
  let ringBytes = 0
  const clients = new Set<Client>()
  let count = 0
  let isStopped = false

  /** What the client has missed; undefined when that is not known any more. */
  function missed(lastId: string | undefined, topics: ReadonlySet<string>): Rung[] | undefined {
    const [, of, place] = /^(\w+)\.(\d{1,15})$/.exec(lastId ?? '') ?? []
    const after = Number(place)
    if (of !== epoch || after > count || after < count - ring.length) return undefined
    return ring.filter(({ n, topic }) => n > after && topics.has(topic))
  }

  function end(client: Client, reason: string, lost: Rung[] = []): void {
    client.queue = [...lost, { name: 'bye', data: { retry_ms: RETRY_MS, reason } }]
    client.isOver = true
    client.wake()
  }

  function give(client: Client, message: Rung, bytes: number): void {
    if (client.isOver) return
    client.bytes += bytes
    client.queue.push(message)
    if (client.bytes > limits.queueBytes) {
      onCut?.()
      const dropped = client.queue.length
      const lag = { name: 'lag', data: { dropped } }
      end(client, `${dropped} messages waited for this client, which reads too slowly; ask again for what is shown`, [
        lag,
      ])
    } else client.wake()
  }

  async function* listening({ topics, lastId, greeting, isAllowed, signal }: ListenOptions): AsyncIterable<Heard> {
    const back = missed(lastId, topics)
    let woken = new AbortController()
    const client: Client = { topics, queue: back ?? [], bytes: 0, isOver: false, wake: () => woken.abort() }
    clients.add(client)
    onListener?.()
    try {
      // Whoever breaks off before the rest of it comes back for it.
      const id = back === undefined ? `${epoch}.${count}` : lastId!
      yield { id, name: 'hello', data: { epoch, reset: back === undefined, ...greeting } }
      let saidAt = clock.monotonic()
      while (!signal.aborted) {
        woken = new AbortController()
        const sent = client.queue.splice(0)
        client.bytes = 0
        for (const message of sent) yield message
        if (sent.length > 0) saidAt = clock.monotonic()
        // More may have come while the client took its time.
        if (client.queue.length > 0) continue
        if (client.isOver) return
        if (!isAllowed()) end(client, 'this session has ended, or may not do this any more; log in again')
        else if (isStopped) end(client, 'the daemon is stopping')
        else await clock.sleep(Math.min(limits.quietMs, limits.rightsMs), signal, woken.signal)
        if (clock.monotonic() - saidAt < limits.quietMs) continue
        saidAt = clock.monotonic()
        yield 'quiet'
      }
    } finally {
      clients.delete(client)
    }
  }

  return {
    name: 'news board',
    start: async () => undefined,
    stop: async () => {
      isStopped = true
      for (const client of clients) client.wake()
    },
    listen: (options) => {
      if (clients.size >= limits.clients) {
        throw new CpError(
          'overloaded',
          `${limits.clients} streams are open at this daemon; close a page, or ask again`,
          {
            details: { retryAfterSeconds: 10 },
          },
        )
      }
      return listening(options)
    },
    post: (topic, name, data) => {
      count += 1
      const bytes = writeJson(data).length
      const message = { n: count, topic, id: `${epoch}.${count}`, name, data, bytes }
      ring.push(message)
      ringBytes += bytes
      while (ring.length > limits.ring || ringBytes > limits.ringBytes) ringBytes -= ring.shift()!.bytes
      for (const client of clients) if (client.topics.has(topic)) give(client, message, bytes)
    },
    topics: () => new Set([...clients].flatMap((client) => [...client.topics])),
    clients: () => clients.size,
  }
}
