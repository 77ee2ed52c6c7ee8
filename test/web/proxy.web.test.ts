// Promise: the console works behind a proxy that puts a prefix before our paths, whether the proxy takes it away again or hands
// it on; one that holds the stream back costs liveness, nothing else. Past the proxy it works, too.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

const PREFIX = '/tools/noetl'
const database = useDatabase()
const browser = useBrowser()
const proxies: http.Server[] = []
let daemon: Daemon

const DOCUMENT = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: behind, path: shop/behind }
workflow: [{ step: end, tool: { kind: noop, result: 1 } }]
`

/** Answers what is below the prefix alone. */
async function openProxy({ strips, holds }: { strips: boolean; holds: boolean }): Promise<string> {
  const server = http.createServer((request, response) => {
    const path = request.url ?? ''
    if (!path.startsWith(`${PREFIX}/`)) {
      response.writeHead(418).end()
      return
    }
    const target = new URL(strips ? path.slice(PREFIX.length) : path, daemon.url)
    const { method, headers } = request
    const forwarded = http.request(target, { method: method!, headers }, (answer) => {
      if (!holds) {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
        return
      }
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => response.writeHead(answer.statusCode!, answer.headers).end(Buffer.concat(parts)))
    })
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    request.pipe(forwarded)
  })
  proxies.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function post(path: string, body: object): Promise<void> {
  const answer = await fetch(new URL(path, daemon.url), { method: 'POST', body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
}

describe.skipIf(!hasBrowser)('behind a proxy', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], {
      env: {
        NOETL_DATABASE_URL: database.get().url,
        NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
        NOETL_CP_CONSOLE_BASE: `${PREFIX}/console/`,
      },
    })
    await post('/api/catalog/register', { content: DOCUMENT })
    await post('/api/execute', { path: 'shop/behind' })
  })
  afterAll(async () => {
    for (const proxy of proxies) {
      proxy.closeAllConnections()
      proxy.close()
    }
    await daemon?.stop()
  })

  it.each([
    { what: 'that hands the prefix on', strips: false, holds: false, word: 'live' },
    { what: 'that takes the prefix away and holds answers back', strips: true, holds: true, word: 'polling' },
  ])('$what, every part of it is found', async ({ strips, holds, word }) => {
    const origin = await openProxy({ strips, holds })
    const { page, faults, close } = await browser.open(origin)
    const refused: string[] = []
    page.on('response', (answer) => {
      if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()}`)
    })
    await page.goto(`${PREFIX}/`)
    expect(new URL(page.url()).pathname).toBe(`${PREFIX}/console/`)
    await page.getByRole('button', { name: 'log in' }).click()
    await page.getByLabel('Token').fill(INTERNAL_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'operator' }).waitFor()
    await page.getByRole('button', { name: word, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Executions', exact: true }).click()
    await page.getByRole('link', { name: 'shop/behind' }).first().waitFor()
    // What happens is told here, too.
    await post('/api/execute', { path: 'shop/behind' })
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
    await page.getByRole('link', { name: 'shop/behind' }).first().click()
    await page.waitForURL((address) => address.pathname.startsWith(`${PREFIX}/console/executions/`))
    await page.getByRole('tab', { name: 'Graph' }).click()
    await page.locator('.graph-step').first().waitFor()
    await page.reload()
    await page.locator('.graph-step').first().waitFor()
    expect([faults(), refused]).toEqual([[], []])
    await close()
  })

  it('is left out by whoever opens the daemon itself', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions')
    await page.getByRole('link', { name: 'shop/behind' }).first().click()
    await page.waitForURL((address) => address.pathname.startsWith('/console/executions/'))
    await page.getByRole('slider', { name: 'Position in the log' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })
})
