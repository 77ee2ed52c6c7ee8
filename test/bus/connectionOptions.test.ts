// Promise: credentials reach the client as options, never as part of an address that may be printed.
import { describe, expect, it } from 'vitest'
import { connectionOptions } from '../../src/bus/connect.js'

const options = (settings: Partial<Parameters<typeof connectionOptions>[0]>) =>
  connectionOptions({ url: 'nats://host', name: 'test', ...settings })

describe('the address', () => {
  it.each([
    ['nats://host', ['host:4222']],
    ['host:4333', ['host:4333']],
    ['nats://a,nats://b:1, tls://c', ['a:4222', 'b:1', 'c:4222']],
    ['nats://[::1]:4222', ['[::1]:4222']],
  ])('%s', (url, servers) => {
    expect(options({ url }).servers).toEqual(servers)
  })
  it.each([
    ['nats://us%40er:p%2Fw@host', { user: 'us@er', pass: 'p/w' }],
    ['nats://t0ken@host', { token: 't0ken' }],
    ['t0ken@host:1', { token: 't0ken' }],
  ])('%s is stripped of its credentials', (url, expected) => {
    const found = options({ url })
    expect(found).toMatchObject(expected)
    expect(JSON.stringify(found.servers)).not.toMatch(/t0ken|p\/w|p%2Fw|@/)
  })
  it('yields to credentials given as settings', () => {
    expect(options({ url: 'nats://a:b@host', user: 'u', password: 'p' })).toMatchObject({ user: 'u', pass: 'p' })
  })
})

it('TLS is asked for by the scheme or by a certificate, and not otherwise', () => {
  expect(options({}).tls).toBeUndefined()
  expect(options({ url: 'tls://host' }).tls).toEqual({})
  expect(options({ tlsCaPath: '/ca' }).tls).toEqual({ caFile: '/ca' })
})

it('a credentials file that cannot be read is a problem of the configuration', () => {
  expect(() => options({ credentialsPath: '/no/such.creds' })).toThrow(/cannot read \/no\/such\.creds/)
})
