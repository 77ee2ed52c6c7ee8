// Promise: a port is kept when it can be, exchanged when it must be, and never when it was configured.

import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { choosePort, isFree } from '../../src/embedded/ports.js'

let blocker: Server | undefined

async function blockedPort(): Promise<number> {
  const server = createServer()
  blocker = server
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

afterEach(() => new Promise<void>((resolve) => (blocker ? blocker.close(() => resolve()) : resolve())))

describe('choosePort', () => {
  it('refuses a configured port that is taken and says so', async () => {
    const port = await blockedPort()
    await expect(choosePort('nats', port, undefined)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`port ${port}`),
    })
  })

  it('keeps a remembered port that is free and leaves one that is taken', async () => {
    const taken = await blockedPort()
    const chosen = await choosePort('postgres', undefined, taken)
    expect(chosen).not.toBe(taken)
    expect(await isFree(chosen)).toBe(true)
    expect(await choosePort('postgres', undefined, chosen)).toBe(chosen)
  })
})
