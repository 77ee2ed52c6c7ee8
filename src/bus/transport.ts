// The TCP transport of the NATS client with a deadline for every attempt. The client alone leaves a socket open for
// ever when a server accepts and never answers, one per attempt; and it ends a connection to a silent server with a
// write that waits behind everything unsent, so it never comes to the next server.
import { createConnection, type Socket } from 'node:net'
import type { ConnectionOptions, NatsConnection } from 'nats'
import { NatsConnectionImpl, setTransportFactory } from 'nats/lib/nats-base-client/internal_mod.js'
import { NodeTransport, nodeResolveHost } from 'nats/lib/src/node_transport.js'

interface Target {
  hostname: string
  port: number
}

class EndingTransport extends NodeTransport {
  private dialled: Socket | undefined

  override dial({ hostname, port }: Target): Promise<Socket> {
    const socket = createConnection(port, hostname)
    this.dialled = socket
    socket.setNoDelay(true)
    return new Promise((resolve, reject) => {
      let cause: Error | undefined
      socket.once('error', (error) => {
        cause = error
      })
      socket.once('close', () => reject(cause ?? new Error(`the connection to ${hostname}:${port} was closed`)))
      socket.once('connect', () => {
        socket.removeAllListeners()
        resolve(socket)
      })
    })
  }

  override async close(error?: Error): Promise<void> {
    // Whatever was not up by now will not be waited for. With TLS this one carries the other.
    if (!this.connected) this.dialled?.destroy()
    await super.close(error)
  }

  override disconnect(): void {
    // Only called for a server that no longer answers: nothing that is unsent would reach it.
    void this.close()
  }
}

/** As the client's own `connect`. */
export function connectEnding(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost })
  return NatsConnectionImpl.connect(options)
}
