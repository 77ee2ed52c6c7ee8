// For faults planted into a daemon: every message the relay publishes passes through `take`, which answers the bytes
// to send instead. The client writes whole commands, many at once, so what goes to the socket is taken apart here.
import net from 'node:net'

const LINE_END = Buffer.from('\r\n')
const COMMAND = /^(?:CONNECT|PING|PONG|SUB|UNSUB|PUB|HPUB)[ \r]/

export function interceptPublishes(take) {
  const { write } = net.Socket.prototype
  net.Socket.prototype.write = function (bytes, ...rest) {
    if (!(bytes instanceof Uint8Array) || !COMMAND.test(Buffer.from(bytes.subarray(0, 8)).toString('latin1')))
      return write.call(this, bytes, ...rest)
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let waiting = []
    /** Sends what came before, so that a fault happens in the middle and not in front of everything. */
    const flush = () => {
      write.call(this, Buffer.concat(waiting))
      waiting = []
    }
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(LINE_END, at)
      const [command, subject, ...words] = chunk.subarray(at, end).toString().split(' ')
      const hasBody = command === 'PUB' || command === 'HPUB'
      const next = end + 2 + (hasBody ? Number(words.at(-1)) + 2 : 0)
      const whole = chunk.subarray(at, next)
      waiting.push(command === 'HPUB' ? take({ subject, reply: words[0], bytes: whole, flush }) : whole)
      at = next
    }
    return write.call(this, Buffer.concat(waiting), ...rest)
  }
}
