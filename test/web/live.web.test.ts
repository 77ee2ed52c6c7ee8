// Promise: what happens is on the screen without a reload, by the stream of the daemon, or by asking where the stream does not
// come through; a daemon that went away and came back is followed again.
import type { Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { freePort } from '../support/freePort.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon

const DOCUMENT = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: live, path: shop/live }
workflow: [{ step: end, tool: { kind: noop, result: 1 } }]
`

const post = async (path: string, body: unknown) => {
  const answer = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { execution_id: string }
}
/** Open streams, as the daemon counts them. */
const streams = async (): Promise<number> => {
  const text = await (await fetch(new URL('/metrics', daemon.url))).text()
  return Number(/^noetl_cp_streams (\d+)$/m.exec(text)?.[1])
}
/** Their requests and their time are not in the hands of a test. */
const withoutSharedWorkers = () => Reflect.deleteProperty(globalThis, 'SharedWorker')
const start = () => post('/api/execute', { path: 'shop/live' })
/** It comes back there. */
let port: string
const serve = () => startDaemon(['--port', port], { env: { NOETL_DATABASE_URL: database.get().url } })

describe.skipIf(!hasBrowser)('what happens', () => {
  beforeAll(async () => {
    port = String(await freePort())
    daemon = await serve()
    await post('/api/catalog/register', { content: DOCUMENT })
    await start()
  })
  afterAll(() => daemon?.stop())

  it('rings by one stream; screens ask when it rings, and hardly otherwise', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions')
    await page.getByRole('button', { name: 'live', exact: true }).waitFor()
    await page.locator('tbody tr').first().waitFor()
    await start()
    await page.getByRole('button', { name: 'Show 1 new' }).click()
    await until('both are shown', async () => (await page.locator('tbody tr').count()) === 2)
    expect(await streams()).toBe(1)
    await page.keyboard.press('.')
    await page.getByRole('button', { name: 'paused' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('rings by one stream in more tabs than a browser opens connections', async () => {
    const { page, context, faults, close } = await browser.open(daemon.url)
    const tabs = [page, ...(await Promise.all(Array.from({ length: 9 }, () => context.newPage())))]
    for (const tab of tabs) {
      await tab.goto('/console/executions')
      await tab.getByRole('button', { name: 'live', exact: true }).waitFor()
      await tab.locator('tbody tr').first().waitFor()
    }
    // That of a page that was closed before is let go when the daemon hears of it.
    await until('one stream for all of them', async () => (await streams()) === 1)
    await start()
    for (const tab of tabs) await tab.getByRole('button', { name: 'Show 1 new' }).waitFor()
    for (const tab of tabs.slice(0, 9)) await tab.close()
    await start()
    await tabs[9]!.getByRole('button', { name: 'Show 2 new' }).waitFor()
    expect(faults()).toEqual([])
    await close()
    await until('the last one ends it', async () => (await streams()) === 0)
  })

  it('rings in every tab whatever address another one is at', async () => {
    const { page, context, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions')
    const isLive = page.getByRole('button', { name: 'live', exact: true })
    await isLive.waitFor()
    await page.locator('tbody tr').first().waitFor()
    const other = await context.newPage()
    for (const place of ['executions/abc', 'executions/12%2F3', 'executions/9999999999999999999', 'compare?a=abc']) {
      await other.goto(`/console/${place}`)
      const refusal = other.getByRole('alert')
      await refusal.waitFor()
      expect(await refusal.textContent()).toContain(place === 'executions/12%2F3' ? '12%2F3' : 'GET /api/executions/')
    }
    await start()
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
    expect([await isLive.isVisible(), await streams()]).toEqual([true, 1])
    expect(faults()).toEqual([])
    await close()
  })

  it('rings for what another daemon has written, whose lanes and leases the overview tells', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions')
    await page.getByRole('button', { name: 'live', exact: true }).waitFor()
    await page.locator('tbody tr').first().waitFor()
    const second = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
    const begun = await fetch(new URL('/api/execute', second.url), {
      method: 'POST',
      body: JSON.stringify({ path: 'shop/live' }),
    })
    expect(begun.status).toBe(200)
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()

    const { execution_id: id } = await post('/api/execute', { path: 'shop/live', driven: false })
    await page.goto(`/console/executions/${id}`)
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    await handle.waitFor()
    /** From its commit, or what is known of it, to the screen. */
    const shownAfterMs = async ({ url }: Daemon): Promise<number> => {
      const before = Number(await handle.getAttribute('aria-valuemax'))
      const shown = page.evaluate(`new Promise((seen) => {
        const handle = document.querySelector('[aria-label="Position in the log"]')
        const look = () => Number(handle.getAttribute('aria-valuemax')) > ${before} && seen(Date.now())
        new MutationObserver(look).observe(handle, { attributeFilter: ['aria-valuemax'] })
      })`)
      const event = JSON.stringify({ execution_id: id, event_type: 'step.note', step: 'end' })
      const answer = await fetch(new URL('/api/events', url), { method: 'POST', body: event })
      expect(answer.status).toBe(200)
      const committedAt = Date.now()
      return Number(await shown) - committedAt
    }
    // On a busy machine one of them may be late, not all.
    for (const writer of [daemon, second]) {
      await until('an event is on the screen within a second', async () => (await shownAfterMs(writer)) < 1_000)
    }

    await page.goto('/console/')
    const driven = page.getByRole('slider', { name: 'Lanes of shard 0, driven by' })
    await driven.focus()
    await page.keyboard.press('End')
    await until('both drive', async () => {
      const { drivers } = (await daemon.get('/api/overview')).body
      return drivers.length === 2
    })
    const text = /^\S+: lane 63, for \d+ s unless it is renewed; holds [\d–, ]+$/
    await until('the lane is told', async () => text.test((await driven.getAttribute('aria-valuetext'))!))
    await until('a line for each', async () => {
      const rows = page.locator('table').filter({ hasText: 'Relays and drivers' }).locator('tbody tr')
      return (await rows.count()) === 2
    })
    // Nobody publishes here: there is no NATS.
    const published = page.getByRole('slider', { name: 'Lanes of shard 0, published by' })
    expect(await published.locator('.lane.free').count()).toBe(64)
    expect(await driven.locator('.lane').count()).toBe(64)
    expect((await second.stop()).code).toBe(0)
    expect(faults()).toEqual([])
    await close()
  })

  it('is asked for where the stream does not come through', async () => {
    const { page, close } = await browser.open(daemon.url)
    await page.addInitScript(withoutSharedWorkers)
    await page.route('**/api/stream**', (route) => route.abort())
    await page.goto('/console/executions')
    await page.getByRole('button', { name: 'polling' }).waitFor()
    await page.locator('tbody tr').first().waitFor()
    await start()
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
    await close()
  })

  it('is charted on the overview: what the daemon measured, over the time that was chosen', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/')
    const charts = page.locator('figure.chart')
    await charts.locator('canvas').first().waitFor()
    expect(await charts.count()).toBe(6)
    const dead = charts.filter({ hasText: 'Outbox' }).getByText('dead', { exact: false })
    await until('numbers of the daemon', async () => (await dead.textContent()) === 'dead 0')
    const asked = page.waitForRequest((request) => request.url().includes('step=60'))
    await page.getByRole('button', { name: '24h' }).click()
    const since = Date.parse(new URL((await asked).url()).searchParams.get('since')!)
    expect(Date.now() - since).toBeGreaterThan(23 * 3_600_000)
    await page.waitForURL(/range=24h/)
    await page.keyboard.press('1')
    await page.waitForURL((address) => !address.searchParams.has('range'))
    expect(faults()).toEqual([])
    await close()
  })

  it('is looked at on the overview at any moment: by keys, by dragging, by a link', async () => {
    const { page, context, faults, close } = await browser.open(daemon.url, { timezoneId: 'UTC' })
    const series = async () => (await daemon.get('/api/overview/series?names=events_appended_per_second')).body
    await until('a few moments are known', async () => (await series()).at.length > 4)
    const rate = page.locator('figure.chart').filter({ hasText: 'Events' }).locator('figcaption span').first()
    const moment = page.getByRole('slider', { name: 'Moment on the charts' })
    const asked = (name: string) => Date.parse(new URL(page.url()).searchParams.get(name) ?? '')
    // As the chart of events writes it.
    const shows = async (at: number) => {
      const { at: times, columns } = await series()
      const value = columns.events_appended_per_second[times.indexOf(at)]
      const clock = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
      await until('the numbers of that moment', async () => {
        const told = await moment.getAttribute('aria-valuetext')
        return told?.startsWith(`${clock}; `) === true && told.includes(`Events, appended ${await wordOf(value)}`)
      })
      expect(await moment.textContent()).toBe(clock)
      expect(await rate.textContent()).toBe(`appended ${await wordOf(value)}`)
    }
    const wordOf = async (value: number | null) => {
      if (value === null) return (await rate.textContent())!.includes('–') ? '–' : 'unknown'
      return `${value >= 100 ? Math.round(value).toLocaleString('en-US') : Math.round(value * 10) / 10}/s`
    }
    await page.goto('/console/')
    await page.locator('figure.chart canvas').first().waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(/at=/)
    const first = asked('at')
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(() => asked('at') < first)
    const second = asked('at')
    const { at: times } = await series()
    expect(times.indexOf(first) - times.indexOf(second)).toBe(1)
    await shows(second)
    await page.keyboard.press('+')
    await page.waitForURL(/since=/)
    expect([asked('until') - asked('since') >= 60_000, asked('since') <= second]).toEqual([true, true])

    const other = await context.newPage()
    await other.goto(page.url())
    await other.getByText(new Date(second).toISOString().slice(11, 19)).first().waitFor()
    await other.keyboard.press('Enter')
    await other.waitForURL(/executions\?since=/)
    await other.close()

    await page.keyboard.press('Escape')
    await page.waitForURL((address) => address.search === '')
    const box = (await page.locator('figure.chart .u-over').nth(1).boundingBox())!
    const x = (share: number) => box.x + box.width * share
    await page.mouse.move(x(0.5), box.y + 20)
    await page.mouse.down()
    await page.mouse.move(x(0.6), box.y + 20, { steps: 3 })
    await page.mouse.move(x(0.9), box.y + 20, { steps: 3 })
    await page.mouse.up()
    await page.waitForURL(/since=.*until=/)
    expect([new URL(page.url()).pathname, asked('until') - asked('since') >= 60_000]).toEqual(['/console/', true])
    await page.goBack()
    await page.waitForURL((address) => address.search === '')
    await page.mouse.click(x(0.9), box.y + 20)
    await page.waitForURL(/executions\?since=/)

    await page.goto('/console/?at=2001-01-01T00:00:00Z')
    await page.getByText('Nothing is kept of that time').waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.locator('figure.chart canvas').first().waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('is not shown as if it was: a question without an answer is given up, told, and asked again', async () => {
    const { page, close } = await browser.open(daemon.url)
    await page.addInitScript(withoutSharedWorkers)
    await page.clock.install()
    await page.goto('/console/executions')
    await page.locator('tbody tr').first().waitFor()
    // Whatever is asked from here on is neither answered nor refused.
    await page.route('**/api/executions**', () => undefined)
    const silence = page.getByText(/no answer for/).first()
    await until('it is told', async () => {
      await page.clock.runFor(5_000)
      return silence.isVisible()
    })
    // It is seen to count every second, and told at most once in five.
    const everything = /\/(api|readyz)/
    await page.route(everything, (route) => route.abort())
    await until('nothing is answered', async () => {
      await page.clock.runFor(5_000)
      return silence.isVisible()
    })
    await page.evaluate(`(() => {
      const clock = document.querySelector('.stale-clock')
      const told = () => clock.querySelector('[role=status]').textContent
      window.seen = new Set()
      window.tellings = [{ text: told(), at: -Infinity }]
      new MutationObserver(() => {
        window.seen.add([...clock.children].find((part) => !part.matches('.visually-hidden')).textContent)
        if (told() !== tellings.at(-1).text) tellings.push({ text: told(), at: Date.now() })
      }).observe(clock, { childList: true, characterData: true, attributes: true, subtree: true })
    })()`)
    for (let second = 0; second < 20; second++) await page.clock.runFor(1_000)
    // Said once, in the place of the word that it was ready.
    expect(await page.locator('.topbar .health').textContent()).toMatch(/^(no answer for (\d+ m )?\d+ s)+$/)
    expect(await page.locator('.topbar .stale-clock').count()).toBe(1)
    // By the clock of the page, however long the test took meanwhile.
    const [seen, times] = (await page.evaluate('[window.seen.size, window.tellings.map(({ at }) => at).slice(1)]')) as [
      number,
      number[],
    ]
    expect(seen).toBeGreaterThan(times.length)
    expect(times.length).toBeGreaterThanOrEqual(2)
    expect(Math.min(...times.slice(1).map((at, index) => at - times[index]!))).toBeGreaterThan(4_500)
    await page.unroute(everything)
    await page.unroute('**/api/executions**')
    await until('it is asked again', async () => {
      await page.clock.runFor(1_000)
      return !(await silence.isVisible())
    })
    await close()
  })

  it('comes back to panels that ask only once, too, and to parts of the page that were not there yet', async () => {
    const { page, context, close } = await browser.open(daemon.url)
    const early = await context.newPage()
    await early.goto('/console/subscriptions')
    await early.getByText('No subscriptions yet').waitFor()
    const [row] = (await daemon.get('/api/executions?limit=1')).body
    await page.goto(`/console/executions/${row.execution_id}?tab=event`)
    await page.locator('.timeline, canvas').first().waitFor()
    // Without a word of farewell, as by a power cut.
    await daemon.stop('SIGKILL')
    await page
      .getByText(/no answer for/)
      .first()
      .waitFor()
    await page
      .getByText(/^Shown as it was at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: /)
      .first()
      .waitFor()
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    for (const key of ['Home', 'ArrowRight']) await page.keyboard.press(key)
    await until('the first event', async () => (await handle.getAttribute('aria-valuenow')) === '1')
    // The event may be there already; the live state was not asked for yet.
    await page.getByRole('tab', { name: 'Live state' }).click()
    const refusal = page.getByRole('alert').filter({ hasText: 'It is asked again by itself.' })
    await refusal.waitFor()
    await early.getByRole('link', { name: 'Catalog' }).click()
    await early.getByRole('button', { name: 'Try again' }).waitFor()
    daemon = await serve()
    await refusal.waitFor({ state: 'detached' })
    await early.getByRole('heading', { name: 'Catalog' }).waitFor()
    await page.getByText('execution_id: ').first().waitFor()
    // The handle is where it was moved meanwhile, and the address says so now.
    await page.waitForURL(/at=event/)
    expect(await handle.getAttribute('aria-valuenow')).toBe('1')
    // What is asked once is not asked for again because somebody has looked elsewhere, as everything else is.
    await early.goto('/console/help')
    await early.getByText('The same as OpenAPI').waitFor()
    const asked: string[] = []
    early.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const health = early.waitForResponse('**/readyz')
    await early.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await health
    expect(asked).not.toContain('/openapi.json')
    // And it is followed again.
    await page.goto('/console/executions')
    await page.locator('tbody tr').first().waitFor()
    await page.getByRole('button', { name: 'live', exact: true }).waitFor()
    await start()
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
    await close()
  })

  it('has no good word on the overview while the daemon is away, and no old number as a new one', async () => {
    const { page, close } = await browser.open(daemon.url)
    // Published once, and not lately.
    await page.route('**/api/overview/series**', async (route) => {
      const series = await (await route.fetch()).json()
      const once = series.at.map((_: number, place: number) => (place === 0 && series.at.length > 1 ? 0.005 : null))
      Object.assign(series.columns, { publish_p50_seconds: once, publish_p99_seconds: once })
      await route.fulfill({ json: series })
    })
    await page.route('**/api/overview', async (route) => {
      const overview = await (await route.fetch()).json()
      overview.shards[0].published_last_minute = 3_900
      await route.fulfill({ json: overview })
    })
    await page.goto('/console/')
    const verdict = page.locator('.verdict')
    await verdict.getByText('Ready. Published 3,900 (65/s) in the last minute, ').waitFor()
    const times = page.locator('figure.chart').filter({ hasText: 'Time to publish' }).locator('figcaption')
    await until('no time of what nobody published', async () => /p50 –.*p99 –/.test((await times.textContent())!))
    await page.unrouteAll({ behavior: 'wait' })
    expect((await daemon.stop()).code).toBe(0)
    await verdict.getByText(/^No answer since \d{4}-/).waitFor()
    expect(await page.locator('main').textContent()).not.toMatch(/Ready|Nothing needs attention/)
    daemon = await serve()
    await verdict.getByText(/^Ready\. /).waitFor()
    await close()
  })

  it('goes on within seconds of its return after the daemon was gone for long', async () => {
    const { page, close } = await browser.open(daemon.url)
    const isLive = page.getByRole('button', { name: 'live', exact: true })
    const open = new Set<Request>()
    page.on('request', (request) => open.add(request))
    page.on('requestfinished', (request) => open.delete(request))
    page.on('requestfailed', (request) => open.delete(request))
    await page.addInitScript(withoutSharedWorkers)
    await page.clock.install()
    await page.goto('/console/executions')
    await isLive.waitFor()
    await page.locator('tbody tr').first().waitFor()
    expect((await daemon.stop()).code).toBe(0)
    await page
      .getByText(/no answer for/)
      .first()
      .waitFor()
    // From here the page has the time that it is given.
    await page.clock.pauseAt(Date.now() + 60_000)
    const pass = async (seconds: number, isOver: () => Promise<boolean>): Promise<number> => {
      for (let passed = 0; passed < seconds; passed++) {
        if (await isOver()) return passed
        await page.clock.runFor(1_000)
        await until('every question has its answer', async () => open.size === 0 || (await isLive.isVisible()))
      }
      return seconds
    }
    await pass(200, async () => false)
    daemon = await serve()
    expect(await pass(40, () => isLive.isVisible())).toBeLessThan(10)
    await page.clock.resume()
    await start()
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
    await close()
  })
})
