// For faults planted into a daemon: every message the relay publishes passes through `take`, which answers the bytes
// to send instead. The relay writes whole messages in chunks, so a chunk is taken apart here.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { ProtocolHandler } = require('../../../../node_modules/nats/lib/nats-base-client/protocol.js')
const LINE_END = Buffer.from('\r\n')

export function interceptPublishes(take) {
  const { sendCommand } = ProtocolHandler.prototype
  ProtocolHandler.prototype.sendCommand = function (command, ...payloads) {
    if (typeof command === 'string' || payloads.length > 0) return sendCommand.call(this, command, ...payloads)
    const chunk = Buffer.from(command.buffer, command.byteOffset, command.length)
    if (chunk.subarray(0, 5).toString() !== 'HPUB ') return sendCommand.call(this, command)
    /** Sends what came before, so that a fault happens in the middle and not in front of everything. */
    const flush = () => this.flushPending()
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(LINE_END, at)
      const [, subject, reply, , size] = chunk.subarray(at, end).toString().split(' ')
      const next = end + 2 + Number(size) + 2
      sendCommand.call(this, take({ subject, reply, bytes: chunk.subarray(at, next), flush }))
      at = next
    }
  }
}
