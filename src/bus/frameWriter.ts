// Writes publishes straight into chunks for the connection. The client's own publish allocates four buffers per
// message and copies them together again, which costs as much as the rest of the relay; here a message is two
// writes into a chunk that already exists. The chunk goes out through the client like any command of its own, so
// order, reconnecting and TLS stay the client's business.
import type { NatsConnection } from 'nats'
import { CpError } from '../errors.js'

export interface FrameWriter {
  /** False when it is larger than the server takes; nothing is written then. Subject and header lines must be ASCII. */
  write(subject: string, reply: string, headerLines: string, body: string): boolean
  flush(): void
}

/** The part of the client that its types do not show. */
interface Protocol {
  sendCommand(frames: Uint8Array): void
}

const CHUNK_BYTES = 64 * 1024
const MAX_PAYLOAD_DEFAULT = 1_048_576

export function createFrameWriter(connection: NatsConnection): FrameWriter {
  const { protocol } = connection as unknown as { protocol?: Partial<Protocol> }
  if (typeof protocol?.sendCommand !== 'function') {
    throw new CpError(
      'internal',
      'this version of the NATS client cannot be written to; install the one in package.json',
    )
  }
  const client = protocol as Protocol
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let used = 0

  function flush(): void {
    if (used === 0) return
    const full = chunk.subarray(0, used)
    // What was handed over is the client's until it is on the wire.
    chunk = used * 2 > CHUNK_BYTES ? Buffer.allocUnsafeSlow(CHUNK_BYTES) : chunk.subarray(used)
    used = 0
    client.sendCommand(full)
  }

  return {
    write: (subject, reply, headerLines, body) => {
      if (connection.isClosed() || connection.isDraining())
        throw new CpError('unavailable', 'the connection to NATS is closed')
      const headerBytes = 12 + headerLines.length
      const size = headerBytes + Buffer.byteLength(body)
      if (size > (connection.info?.max_payload ?? MAX_PAYLOAD_DEFAULT)) return false
      const head = `HPUB ${subject} ${reply} ${headerBytes} ${size}\r\nNATS/1.0\r\n${headerLines}\r\n`
      const room = head.length + size - headerBytes + 2
      if (used + room > chunk.length) flush()
      if (room > chunk.length) chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, room))
      used += chunk.write(head, used, 'latin1')
      used += chunk.write(body, used, 'utf8')
      chunk[used++] = 13
      chunk[used++] = 10
      return true
    },
    flush,
  }
}
