// Promise: the console comes whole from the daemon, small and cacheable; nothing leaves its origin, the content policy is
// never broken, links into it work, and whatever a stranger wrote into the log is shown as text.
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

const BUILT = new URL('../../dist/console/', import.meta.url)
const KB = 1_024

describe('the files', () => {
  const names = readdirSync(new URL('assets/', BUILT))
  const pressed = (path: string) => gzipSync(readFileSync(new URL(path, BUILT)), { level: 9 }).length
  const page = readFileSync(new URL('index.html', BUILT), 'utf8')

  it('are at most 150 KB in all and 60 KB for the first page, pressed', () => {
    const first = names.filter((name) => page.includes(`assets/${name}`)).map((name) => pressed(`assets/${name}`))
    const all = names.map((name) => pressed(`assets/${name}`))
    const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, pressed('index.html'))
    expect(first.length).toBeGreaterThan(1)
    expect(sum(first)).toBeLessThanOrEqual(60 * KB)
    expect(sum(all)).toBeLessThanOrEqual(150 * KB)
  })

  it('have a hash in their names, and the page has no inline code or style', () => {
    for (const name of names) expect(name).toMatch(/-[\w-]{8}\.(js|css|svg)$/)
    expect(page).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=/)
  })
})

const database = useDatabase()
const browser = useBrowser()
const HOSTILE = '<img src=x onerror="document.title=`hacked`"> {{ "</script><script>hacked()</script>" }}'
let daemon: Daemon

beforeAll(async () => {
  daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
})
afterAll(() => daemon?.stop())

describe('the daemon', () => {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, daemon.url), { headers, redirect: 'manual' })

  it('lets assets be kept for ever and the page never, each with the headers that protect it', async () => {
    const page = await ask('/console/')
    const asset = /assets\/[^"]+\.js/.exec(await page.text())![0]
    const script = await ask(`/console/${asset}`, { 'accept-encoding': 'gzip' })
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(script.headers.get('content-encoding')).toBe('gzip')
    expect(await script.text()).toContain('noetl')
    for (const name of readdirSync(new URL('assets/', BUILT))) {
      const { headers } = await ask(`/console/assets/${name}`, { 'accept-encoding': 'gzip' })
      expect([name, headers.get('cache-control')]).toEqual([name, 'public, max-age=31536000, immutable'])
    }
    for (const { status, headers } of [page, script]) {
      expect(status).toBe(200)
      expect(headers.get('content-security-policy')).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'",
      )
      expect(headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    }
  })

  it('leads browsers from / to the console, and says to others what there is', async () => {
    const browserAnswer = await ask('/', { accept: 'text/html,*/*' })
    expect([browserAnswer.status, browserAnswer.headers.get('location')]).toEqual([302, '/console/'])
    expect((await ask('/')).status).toBe(404)
  })

  it('serves every place by the one page, and no file that is not there', async () => {
    const page = await (await ask('/console/')).text()
    expect(await (await ask('/console/executions/123?tab=why')).text()).toBe(page)
    for (const path of ['assets/none.js', 'assets/..%2findex.html', 'assets/%2e%2e/%2e%2e/cli/main.js', 'assets/.js']) {
      expect((await ask(`/console/${path}`)).status, path).not.toBe(200)
    }
    // Nothing that can be decoded: people are told by the page, programs in JSON.
    expect(await (await ask('/console/executions/%E0%A4%A?tab=why')).text()).toBe(page)
    expect((await ask('/api/executions/%E0%A4%A')).status).toBe(400)
  })

  it('shows it to no foreign name, and may be linked from any page', async () => {
    expect((await ask('/console/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).status).toBe(200)
    const { request } = await import('node:http')
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request(new URL('/console/', daemon.url), { headers: { host: 'evil.example' } }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      asked.on('error', reject).end()
    })
    expect(status).toBe(403)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('opens from /, shows hostile text as text, and asks nobody else', async () => {
    await database.get().sql(
      `insert into noetl.execution (execution_id, catalog_id, path, status, event_count, last_node_name)
       values (77, 1, $1::text, 'RUNNING', 1, $1::text)`,
      [HOSTILE],
    )
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/')
    await page.getByText('Ready.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/')
    await page.getByRole('link', { name: 'Executions' }).click()
    await page.getByText(HOSTILE).first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    // Without a pause: they belong together for a second.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('o')])
    await page.getByText('Ready.').waitFor()
    expect(await page.title()).toBe('Overview · noetl-cp')
    expect(await page.locator('img').count()).toBe(0)
    for (const place of ['executions', 'catalog', 'subscriptions']) {
      await page.goto(`/console/${place}/%E0%A4%A`)
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      await page.getByText('it was cut off, or copied in part').waitFor()
    }
    // A browser that keeps nothing for pages shows them all the same.
    await page.addInitScript(
      "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError') } })",
    )
    await page.goto('/console/executions')
    await page.getByText(HOSTILE).first().waitFor()
    await page.keyboard.press('t')
    await page.locator('html[data-theme]').waitFor()
    expect(faults()).toEqual([])
    await close()
  })
})
