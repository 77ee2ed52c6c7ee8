// Limits what one connection may ask for. Requests that were sent without waiting for earlier answers (pipelining)
// are handled one by one: the next begins when the answer before it has been written to the network. A client that
// reads nothing costs one answer. A client that sends more requests than may wait is disconnected.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Connections {
  /** Gives each request to the handler when it is its turn. */
  listener(handler: RequestListener): RequestListener
  /** Requests that were let in and whose answers have not left yet. */
  unanswered(): number
}

interface Line {
  busy: boolean
  waiting: (() => void)[]
}

/** `waitingMax`: requests of one connection that may wait for the answer before them. */
export function createConnections(waitingMax: number, onCut: () => void): Connections {
  const lines = new WeakMap<Socket, Line>()
  let unanswered = 0

  function lineOf(socket: Socket): Line {
    const known = lines.get(socket)
    if (known !== undefined) return known
    const line = { busy: false, waiting: [] }
    lines.set(socket, line)
    return line
  }

  return {
    unanswered: () => unanswered,
    listener: (handler) => (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request
      // What is left of the bytes that came before the cut.
      if (socket.destroyed) return
      const line = lineOf(socket)
      const begin = () => {
        // Nobody is left to answer, and an answer to nobody never ends.
        if (socket.destroyed) return
        unanswered += 1
        response.once('close', () => {
          unanswered -= 1
          const next = line.waiting.shift()
          line.busy = next !== undefined
          // Others first: a connection whose answers are taken at once would hold the turn until it has nothing to ask.
          if (next !== undefined) setImmediate(next)
        })
        handler(request, response)
      }
      if (!line.busy) {
        line.busy = true
        begin()
      } else if (line.waiting.length < waitingMax) line.waiting.push(begin)
      else {
        onCut()
        socket.destroy()
      }
    },
  }
}
