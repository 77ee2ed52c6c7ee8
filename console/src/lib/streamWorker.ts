// One stream for all tabs of a browser: a browser opens six connections to a host, and a stream for each tab would leave the
// seventh without any.
import { createStreamReader, type StreamMessage } from './streamReader'

/** From a tab: the topics it wants now, that the daemon answers again, or that it goes. */
export type FromTab = { topics: readonly string[] } | 'wake' | 'bye'
/** To a tab: whether everything it wants is told by the stream, or a message. */
export type ToTab = { isTelling: boolean } | { message: StreamMessage }

interface Scope {
  location: { pathname: string }
  onconnect: ((event: MessageEvent) => void) | null
}

const scope = globalThis as unknown as Scope
const tabs = new Map<MessagePort, readonly string[]>()
const reader = createStreamReader({
  prefix: scope.location.pathname.replace(/\/console\/assets\/.*$/, ''),
  onTelling: tellAll,
  onMessage: (message) => {
    for (const port of tabs.keys()) send(port, { message })
  },
})

function send(port: MessagePort, said: ToTab): void {
  port.postMessage(said)
}

function tellAll(): void {
  const told = reader.told()
  for (const [port, topics] of tabs)
    send(port, { isTelling: topics.length > 0 && topics.every((one) => told.has(one)) })
}

function wantTogether(): void {
  reader.want([...new Set([...tabs.values()].flat())].sort())
  tellAll()
}

scope.onconnect = ({ ports: [port] }) => {
  port!.onmessage = ({ data }: MessageEvent<FromTab>) => {
    if (data === 'wake') {
      reader.wake()
      return
    }
    if (data === 'bye') tabs.delete(port!)
    else tabs.set(port!, data.topics)
    wantTogether()
  }
}
