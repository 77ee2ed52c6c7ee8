// A real HTTP server of a test's own. Every request is kept; what is answered is up to the test.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface TestHttpServer {
  url(path?: string): string
  port(): number
  readonly seen: SeenRequest[]
  /** Connections open now. */
  open(): number
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void

export function useHttpServer(answer: Answer, host = '127.0.0.1'): TestHttpServer {
  const seen: SeenRequest[] = []
  const sockets = new Set<Socket>()
  let server: Server
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      const { method = '', url = '', headers } = request
      const entry = { method, url, headers, body: Buffer.concat(pieces).toString('utf8') }
      seen.push(entry)
      answer(entry, response)
    })
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
  })
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const port = (): number => (server.address() as AddressInfo).port
  return { url: (path = '/') => `http://${host}:${port()}${path}`, port, seen, open: () => sockets.size }
}

export function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
}
