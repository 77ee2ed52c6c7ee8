// A client as others wrote them: plain HTTP against a running daemon, answers with every digit of their numbers.
import { request } from 'node:http'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonValue } from '../../src/domain/json/value.js'

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** Numbers beyond 2^53 are bigint. */
  body: any
}

export interface Call {
  headers?: Record<string, string>
  body?: unknown
}

const TIMEOUT_MS = 20_000

/** Not fetch: that one says of itself that it is a browser. */
export function call(base: string, line: string, { headers = {}, body }: Call = {}): Promise<Answer> {
  const [method, path] = line.split(' ', 2) as [string, string]
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, base), {
      method,
      headers: {
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
        ...headers,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const pieces: Buffer[] = []
      response.on('error', reject)
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => {
        const received = Buffer.concat(pieces).toString()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: received,
          body: read(received),
        })
      })
    })
    sent.end(text)
  })
}

function read(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
