// Promise: sslmode means what libpq means by it. The certificate is checked when asked for, the name only by
// verify-full, and nothing is ever sent in the clear to a server that was to be spoken to with TLS.
import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import { statement } from '../../src/db/queries.js'
import { tlsOptions } from '../../src/db/tls.js'
import type { SslMode } from '../../src/domain/shards/databaseTarget.js'

const at = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))

/** Answers like Postgres up to the startup message; tells how the client got there. */
async function meet(
  host: string,
  sslMode: SslMode,
  serverCertificate: string,
  ca: string | undefined,
): Promise<'encrypted' | 'plain' | 'nothing'> {
  let reached: 'encrypted' | 'plain' | 'nothing' = 'nothing'
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (first) => {
      if (first.readInt32BE(4) !== 80877103) {
        reached = 'plain'
        return socket.destroy()
      }
      socket.write('S')
      const secure = new tls.TLSSocket(socket, {
        isServer: true,
        key: readFileSync(at(`${serverCertificate}.key`)),
        cert: readFileSync(at(`${serverCertificate}.pem`)),
      })
      secure.on('error', () => undefined)
      secure.once('data', () => {
        reached = 'encrypted'
        secure.destroy()
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  const target = { host, port, user: 'u', password: 'p', database: 'd', sslMode }
  const connection = createConnection({
    target,
    tls: tlsOptions(target, { caPath: ca === undefined ? undefined : at(`${ca}.pem`), sslMode: 'disable' }),
    applicationName: 'test',
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 5_000,
    prepare: true,
  })
  await expect(connection.run(statement('select 1'), [], 5_000)).rejects.toThrow()
  connection.discard()
  server.close()
  return reached
}

describe('sslmode', () => {
  it.each<[SslMode, string, string, string | undefined, 'encrypted' | 'plain' | 'nothing']>([
    ['disable', '127.0.0.1', 'right', undefined, 'plain'],
    ['require', '127.0.0.1', 'other', undefined, 'encrypted'],
    ['verify-ca', '127.0.0.1', 'other', 'other', 'encrypted'],
    ['verify-ca', '127.0.0.1', 'other', 'right', 'nothing'],
    ['verify-ca', '127.0.0.1', 'right', undefined, 'nothing'],
    ['verify-full', '127.0.0.1', 'right', 'right', 'encrypted'],
    ['verify-full', 'localhost', 'right', 'right', 'encrypted'],
    ['verify-full', '127.0.0.1', 'other', 'other', 'nothing'],
    ['verify-full', 'localhost', 'other', 'other', 'nothing'],
    ['verify-full', '127.0.0.1', 'right', 'other', 'nothing'],
  ])('%s to %s, certificate %s, CA %s: %s', async (mode, host, serverCertificate, ca, expected) => {
    expect(await meet(host, mode, serverCertificate, ca)).toBe(expected)
  })
  it('comes from the settings when the target names none', () => {
    const target = { host: 'h', port: 1, user: 'u', password: 'p', database: 'd' }
    const options = (own: SslMode | undefined, sslMode: SslMode) =>
      tlsOptions({ ...target, ...(own === undefined ? {} : { sslMode: own }) }, { caPath: undefined, sslMode })
    expect(options(undefined, 'disable')).toBe(false)
    expect(options(undefined, 'verify-full')).toMatchObject({ rejectUnauthorized: true, servername: 'h' })
    expect(options('disable', 'verify-full')).toBe(false)
    expect(options('require', 'disable')).toMatchObject({ rejectUnauthorized: false })
  })
  it('with a CA file that cannot be read is a problem of the configuration', () => {
    const target = { host: 'h', port: 1, user: 'u', password: 'p', database: 'd', sslMode: 'verify-full' as const }
    expect(() => tlsOptions(target, { caPath: '/no/such.pem', sslMode: 'disable' })).toThrow(
      /NOETL_CP_PG_TLS_CA: cannot read/,
    )
  })
})
