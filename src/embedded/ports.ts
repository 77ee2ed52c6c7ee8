// Loopback ports for the children. A port chosen once is remembered in the data folder and used again
// when it is free, so addresses that people noted down stay good. A configured port is never exchanged.

import { createServer } from 'node:net'
import { CpError } from '../errors.js'
import { readIfPresent, replaceFile } from './atomicFile.js'

export const LOOPBACK = '127.0.0.1'

export type PortName = 'postgres' | 'nats'
export type PortBook = Partial<Record<PortName, number>>

export async function choosePort(
  name: PortName,
  configured: number | undefined,
  remembered: number | undefined,
): Promise<number> {
  if (configured !== undefined) {
    if (await isFree(configured)) return configured
    throw new CpError(
      'unavailable',
      `port ${configured} on ${LOOPBACK}, configured for the embedded ${name}, is in use by another program; ` +
        'stop that program, configure another port, or leave the port out and a free one is chosen',
    )
  }
  if (remembered !== undefined && (await isFree(remembered))) return remembered
  const port = await listenOnce(0)
  if (port !== undefined) return port
  throw new CpError('unavailable', `no free port was found on ${LOOPBACK}; is networking up on this machine?`)
}

export async function readPorts(path: string): Promise<PortBook> {
  try {
    const value: unknown = JSON.parse((await readIfPresent(path)) ?? '{}')
    const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
    const book: PortBook = {}
    for (const name of ['postgres', 'nats'] as const) {
      const port = fields[name]
      if (typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536) book[name] = port
    }
    return book
  } catch {
    // Only a convenience: without it new ports are chosen.
    return {}
  }
}

export async function writePorts(path: string, book: PortBook): Promise<void> {
  await replaceFile(path, `${JSON.stringify(book, null, 2)}\n`)
}

/** Nobody listens there at this moment. */
export async function isFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== undefined
}

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined))
    })
  })
}
