// A TCP proxy that can pass, black-hole, refuse, reset and stall: the network's faults, from outside the program.
import net from 'node:net'

/** `mute`: what clients say arrives, the answers do not. */
export type ProxyMode = 'pass' | 'blackhole' | 'mute' | 'refuse' | 'acceptThenClose'

export interface TcpProxy {
  readonly port: number
  setMode(mode: ProxyMode): void
  /** The next time a client says this, it arrives, and from then on no answer does. */
  muteAt(words: string): void
  /** The next time a client says this, nothing passes for so long, on any link; then everything that waited does. */
  stallAt(words: string, ms: number): void
  /** The next link on which a client says the words is cut when the server answers this; the client never hears it. */
  cutAtAnswer(words: string, answer: string): void
  /** Cuts every open link with a reset. */
  reset(): void
  connections(): number
  /** How often somebody connected so far. */
  accepted(): number
  close(): Promise<void>
}

export async function startTcpProxy(targetHost: string, targetPort: number): Promise<TcpProxy> {
  let mode: ProxyMode = 'pass'
  let accepted = 0
  let muting: string | undefined
  let trigger: { words: string; ms: number } | undefined
  let stalled: Promise<void> = Promise.resolve()
  let cut: { words: string; answer: string } | undefined
  const links = new Set<{ client: net.Socket; server: net.Socket | undefined }>()

  const listener = net.createServer({ allowHalfOpen: false }, (client) => {
    accepted += 1
    client.on('error', () => undefined)
    if (mode === 'refuse') return client.resetAndDestroy()
    // Read, too: a socket with unread bytes would never notice that the other side closed.
    if (mode === 'acceptThenClose') return client.resume().end()
    const link: { client: net.Socket; server: net.Socket | undefined } = { client, server: undefined }
    links.add(link)
    const server = net.connect(targetPort, targetHost)
    link.server = server
    server.on('error', () => client.destroy())
    const passOn = (chunk: Buffer, to: net.Socket) => {
      // A black hole swallows bytes and answers nothing, on old links and new ones.
      const isSwallowed = mode === 'blackhole' || (mode === 'mute' && to === client)
      if (!isSwallowed) void stalled.then(() => to.write(chunk))
    }
    let lastWord: string | undefined
    client.on('data', (chunk: Buffer) => {
      if (muting !== undefined && chunk.includes(muting)) {
        muting = undefined
        mode = 'mute'
      }
      if (cut !== undefined && chunk.includes(cut.words)) {
        lastWord = cut.answer
        cut = undefined
      }
      if (trigger !== undefined && chunk.includes(trigger.words)) {
        const { ms } = trigger
        trigger = undefined
        stalled = new Promise((resolve) => setTimeout(resolve, ms))
      }
      passOn(chunk, server)
    })
    server.on('data', (chunk: Buffer) => {
      if (lastWord === undefined || !chunk.includes(lastWord)) return passOn(chunk, client)
      client.resetAndDestroy()
      server.destroy()
    })
    client.on('close', () => {
      links.delete(link)
      // What the client said before it left is in the server's socket: a server that stood still reads it later.
      void stalled.then(() => server.end())
    })
    server.on('close', () => {
      if (mode === 'pass') client.destroy()
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))

  const reset = (): void => {
    for (const { client, server } of links) {
      client.resetAndDestroy()
      server?.destroy()
    }
    links.clear()
  }
  return {
    port: (listener.address() as net.AddressInfo).port,
    setMode: (next) => {
      // What was swallowed is lost, so a link that saw the black hole cannot be used again.
      if ((mode === 'blackhole' || mode === 'mute') && next !== mode) reset()
      mode = next
      if (next === 'refuse') reset()
    },
    muteAt: (words) => {
      muting = words
    },
    stallAt: (words, ms) => {
      trigger = { words, ms }
    },
    cutAtAnswer: (words, answer) => {
      cut = { words, answer }
    },
    reset,
    connections: () => links.size,
    accepted: () => accepted,
    close: async () => {
      reset()
      await new Promise<void>((resolve) => listener.close(() => resolve()))
    },
  }
}
