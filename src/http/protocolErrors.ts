// Requests that never reach a route: broken HTTP, clients that are too slow, headers that are too long.
// They get the same {error, status, detail} as everything else.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { writeJson } from '../domain/json/write.js'

const BY_CODE: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive (NOETL_CP_REQUEST_TIMEOUT)'],
  HPE_HEADER_OVERFLOW: [431, 'the headers are too long'],
}

export function answerProtocolError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) {
    const [status, message] = BY_CODE[error.code ?? ''] ?? [400, 'this is not a readable HTTP request']
    const body = writeJson({ error: message, status, detail: message })
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroy()
}
