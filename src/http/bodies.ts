// Reads request bodies into memory, or passes them on as they come. Each body is bounded by the limit of its route,
// all of them together by one budget. What counts is what has arrived, not what was announced. Small pieces are
// copied into one buffer, because a buffer for each would take many times the memory.
import type { IncomingMessage } from 'node:http'
import { CpError } from '../errors.js'
import type { ByteBudget } from './byteBudget.js'

const RETRY_AFTER_SECONDS = 1
const PIECES_ALLOWED = 1_024
const PIECE_BYTES_MIN = 64

export interface Body {
  bytes: Buffer
  /** The bytes count until this is called. */
  release(): void
}

export function readBody(request: IncomingMessage, limitBytes: number, budget: ByteBudget): Promise<Body> {
  const announced = announcedBytes(request)
  if (announced !== undefined && announced > limitBytes) return Promise.reject(tooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const holding = budget.hold(() => fail(noRoom()))
    let buffer: Buffer | undefined
    let length = 0
    let pieces = 0

    const onData = (chunk: Buffer): void => {
      const needed = length + chunk.length
      const room = buffer?.length ?? 0
      pieces += 1
      if (needed > limitBytes) fail(tooLarge(limitBytes))
      else if (pieces > PIECES_ALLOWED && needed / pieces < PIECE_BYTES_MIN) {
        // Every piece costs time of its own.
        fail(new CpError('invalid_input', 'the body comes in pieces of a few bytes; send it in larger ones'))
      } else if (needed <= room || holding.grow(roomFor(needed, room) - room)) {
        if (needed > room) buffer = enlarged(buffer, length, chunk, roomFor(needed, room))
        else chunk.copy(buffer!, length)
        length = needed
      } else fail(noRoom())
    }
    const roomFor = (needed: number, room: number): number =>
      Math.max(needed, Math.min(announced ?? limitBytes, 2 * room))
    const onEnd = (): void => {
      forget()
      holding.settle()
      resolve({ bytes: (buffer ?? Buffer.alloc(0)).subarray(0, length), release: holding.release })
    }
    const onError = (cause: Error): void =>
      fail(new CpError('cancelled', 'the caller went away before its body was complete', { cause }))

    function fail(error: CpError): void {
      forget()
      holding.release()
      buffer = undefined
      reject(error)
    }
    function forget(): void {
      request.off('data', onData).off('end', onEnd).off('error', onError)
      // A late error of a connection that is given up concerns nobody.
      request.on('error', () => undefined)
    }
    request.on('data', onData).on('end', onEnd).on('error', onError)
  })
}

/** Most bodies come in one piece, which needs no copy. */
function enlarged(buffer: Buffer | undefined, length: number, chunk: Buffer, bytes: number): Buffer {
  if (buffer === undefined) return chunk
  const larger = Buffer.allocUnsafe(bytes)
  buffer.copy(larger, 0, 0, length)
  chunk.copy(larger, length)
  return larger
}

/**
 * The body piece by piece, for routes that take more than should be in memory. The next piece is read when the one
 * before has been dealt with, and only that one counts.
 */
export async function* streamBody(
  request: IncomingMessage,
  limitBytes: number,
  budget: ByteBudget,
): AsyncGenerator<Uint8Array> {
  const announced = announcedBytes(request)
  if (announced !== undefined && announced > limitBytes) throw tooLarge(limitBytes)
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limitBytes) throw tooLarge(limitBytes)
    const holding = budget.hold(() => undefined)
    holding.settle()
    try {
      if (!holding.grow(chunk.length)) throw noRoom()
      yield chunk
    } finally {
      holding.release()
    }
  }
}

function announcedBytes(request: IncomingMessage): number | undefined {
  const header = request.headers['content-length']
  return header === undefined ? undefined : Number(header)
}

function tooLarge(limitBytes: number): CpError {
  return new CpError(
    'too_large',
    `the body is larger than the ${sizeText(limitBytes)} that this route takes; see the limits in docs/settings.md`,
  )
}

export function sizeText(bytes: number): string {
  return bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MB` : `${Math.ceil(bytes / 1024)} KB`
}

function noRoom(): CpError {
  return new CpError('overloaded', 'too many bodies are arriving at once (NOETL_CP_BODIES_MB); send it again', {
    details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
  })
}
