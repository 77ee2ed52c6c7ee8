// Promise: a reference in a message is resolved within a time and a size, its address cannot collect our token, and
// what answers must be the event that was announced.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import { systemClock } from '../../src/runtime/clock.js'
import { resolveClaimCheck, withinBudget } from '../../src/services/outbox/claimCheck.js'
import { createPayloadFetch, type FetchSettings } from '../../src/services/outbox/inThread/payloadFetch.js'

let server: http.Server
let base: string
let seenAuthorization: string | undefined
let asked = 0
const settings: FetchSettings = {
  hosts: ['127.0.0.1'],
  publicUrl: undefined,
  token: 'secret',
  deadlineMs: 20_000,
  bytesMax: 1_000,
}

beforeAll(async () => {
  server = http.createServer((request, response) => {
    asked += 1
    seenAuthorization = request.headers.authorization
    const path = request.url ?? ''
    if (path === '/good') response.end('{"event_id":9007199254740993,"execution_id":7,"result":{"n":1.0}}')
    else if (path === '/large') response.end('x'.repeat(5_000))
    else if (path === '/moved') response.writeHead(302, { location: '/good' }).end()
    else if (path === '/text') response.end('not json')
    else if (path.startsWith('/status/')) response.writeHead(Number(path.slice(8))).end()
    else if (path === '/drips') {
      const drip = setInterval(() => response.write(' '), 20)
      response.once('close', () => clearInterval(drip))
    }
    // Anything else is never answered.
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('fetching', () => {
  it.each([404, 403, 410])('takes %i as final', async (status) => {
    expect(await createPayloadFetch(settings)(`${base}/status/${status}`)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(String(status)),
    })
  })

  it.each([500, 503, 429, 408])('tries again after %i', async (status) => {
    expect(await createPayloadFetch(settings)(`${base}/status/${status}`)).toMatchObject({ kind: 'later' })
  })

  it('tries again when nobody answers', async () => {
    expect(await createPayloadFetch({ ...settings, deadlineMs: 200 })(`${base}/hangs`)).toMatchObject({ kind: 'later' })
    expect(await createPayloadFetch(settings)('http://127.0.0.1:1/x')).toMatchObject({ kind: 'later' })
  })

  it('does not read more than the bound, follow a redirect, or open anything but http', async () => {
    expect(await createPayloadFetch(settings)(`${base}/large`)).toMatchObject({ kind: 'refused' })
    expect((await createPayloadFetch(settings)(`${base}/moved`)).kind).not.toBe('found')
    for (const url of ['file:///etc/passwd', 'no address', 'ftp://127.0.0.1/x'])
      expect(await createPayloadFetch(settings)(url)).toMatchObject({ kind: 'refused' })
  })

  it('ends with its time although every read brings something', async () => {
    const fetchPayload = createPayloadFetch({ ...settings, deadlineMs: 300, bytesMax: 1_000_000 })
    expect(await fetchPayload(`${base}/drips`)).toMatchObject({ kind: 'later' })
  })

  it('asks only hosts that are listed, and our own address', async () => {
    const before = asked
    for (const hosts of [[], ['other.example'], ['127.0.0.1:1']]) {
      expect(await createPayloadFetch({ ...settings, hosts })(`${base}/good`)).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('NOETL_CP_CLAIM_CHECK_HOSTS'),
      })
    }
    expect(
      await createPayloadFetch({ ...settings, hosts: [], publicUrl: 'http://127.0.0.1:1/' })(`${base}/good`),
    ).toMatchObject({ kind: 'refused' })
    expect(asked).toBe(before)
    for (const own of [{ hosts: [new URL(base).host] }, { hosts: [], publicUrl: `${base}/` }]) {
      seenAuthorization = undefined
      expect(await createPayloadFetch({ ...settings, ...own })(`${base}/good`)).toMatchObject({ kind: 'found' })
      expect(seenAuthorization).toBe('Bearer secret')
    }
  })

  it('refuses an address with a user in it, and does not repeat it', async () => {
    const before = asked
    for (const userinfo of ['name:password@', 'name@', ':password@']) {
      const fetched = await createPayloadFetch(settings)(`${base.replace('//', `//${userinfo}`)}/good`)
      expect(fetched).toMatchObject({ kind: 'refused', reason: expect.not.stringContaining('password') })
    }
    expect(asked).toBe(before)
  })

  it('has one time for all payloads of a batch', async () => {
    const fetchPayload = withinBudget(createPayloadFetch(settings), 300, systemClock)!
    const begun = performance.now()
    for (let count = 0; count < 5; count += 1)
      expect(await fetchPayload(`${base}/drips`)).toMatchObject({ kind: 'later' })
    // Without it: 20 s each.
    expect(performance.now() - begun).toBeLessThan(15_000)
    expect(await fetchPayload(`${base}/good`)).toMatchObject({ reason: expect.stringContaining('are over') })
  })
})

describe('resolving', () => {
  const reference = (path: string, id = '9007199254740993') =>
    parseJson(`{"event_id":${id},"execution_id":7,"claim_check":{"url":"${base}${path}","bytes":1}}`)
  const fetchPayload = () => createPayloadFetch(settings)

  it('leaves ordinary envelopes alone', async () => {
    const value = parseJson('{"event_id":1}')
    expect(await resolveClaimCheck(value, undefined)).toBe(value)
  })

  it('answers the whole envelope, numbers exact', async () => {
    expect(await resolveClaimCheck(reference('/good'), fetchPayload())).toMatchObject({ event_id: 9007199254740993n })
  })

  it('refuses another event, no JSON, and a reference that nobody may fetch', async () => {
    const code = 'invalid_input'
    await expect(resolveClaimCheck(reference('/good', '5'), fetchPayload())).rejects.toMatchObject({ code })
    await expect(resolveClaimCheck(reference('/text'), fetchPayload())).rejects.toMatchObject({ code })
    await expect(resolveClaimCheck(reference('/status/404'), fetchPayload())).rejects.toMatchObject({ code })
    await expect(resolveClaimCheck(reference('/good'), undefined)).rejects.toMatchObject({ code })
  })

  it('is worth another try when the server is away', async () => {
    await expect(resolveClaimCheck(reference('/status/503'), fetchPayload())).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})
