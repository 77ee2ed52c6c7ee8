// Promise: every flow goes with the keyboard alone: log in, find a run, scrub it, bring a dead row back, pause a subscription, run a
// playbook. What has the focus is seen, and it is given back when a dialog closes. Whoever reads is not disturbed by what happens.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon
let id: string

const SUBSCRIPTION = `apiVersion: noetl.io/v2
kind: Subscription
metadata: { name: orders, path: shop/orders }
spec: { source: nats, subject: orders.created, mode: pull, dispatch: { playbook: shop/run } }
`

const post = async (path: string, body: object): Promise<any> => {
  const answer = await fetch(new URL(path, daemon.url), { method: 'POST', body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
  return answer.json()
}

/** What has the focus, as it is called. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`(({ labels, textContent }, label) => label ?? labels?.[0]?.textContent ?? textContent ?? '')(
    document.activeElement, document.activeElement.getAttribute('aria-label'))`)

const RING = `(({ outlineStyle, outlineWidth }) => outlineStyle + ' ' + outlineWidth)(getComputedStyle(document.activeElement))`

/** By Tab alone; and it must be seen that it is there. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let tabs = 0; tabs < 120; tabs++) {
    await page.keyboard.press('Tab')
    if (!name.test((await focused(page)).trim())) continue
    expect(await page.evaluate(RING)).toBe('solid 2px')
    return
  }
  throw new Error(`Tab never comes to ${name}`)
}

async function keys(page: Page, ...pressed: string[]): Promise<void> {
  for (const key of pressed) await page.keyboard.press(key)
}

/** One behind the other without a pause: two keys belong together for a second. */
async function chord(page: Page, ...pressed: string[]): Promise<void> {
  await Promise.all(pressed.map((key) => page.keyboard.press(key)))
}

describe.skipIf(!hasBrowser)('with the keyboard', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], {
      env: {
        NOETL_DATABASE_URL: database.get().url,
        NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
        NOETL_CP_OUTBOX_MAX_AGE: '86400',
      },
    })
    await post('/api/catalog/register', { content: playbook('shop/run') })
    await post('/api/catalog/register', { content: SUBSCRIPTION })
    const { subscription_id: subscription } = await post('/api/subscriptions', { path: 'shop/orders' })
    await post(`/api/subscriptions/${subscription}/activate`, {})
    id = (await post('/api/execute', { path: 'shop/run', driven: false })).execution_id
    await database.get().sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload, status, attempts, last_error)
       values ($1::bigint, 7, 's', '{}', 'DEAD', 9, 'too large')`,
      [id],
    )
  })
  afterAll(() => daemon?.stop())

  it('goes every flow', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/')
    await page.getByText('Ready.').waitFor()
    // What is out of reach is reached, to be told why.
    await chord(page, 'g', 'n')
    await page.getByRole('button', { name: 'Verify many…' }).waitFor()
    await tabTo(page, /^Verify many…$/)
    const tip = page.locator('.tip')
    await tip.getByText('Operators only: log in with noetl-cp console').waitFor()
    await keys(page, 'Enter')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await keys(page, 'Escape')
    await tip.waitFor({ state: 'hidden' })
    expect(await focused(page)).toBe('Verify many…')
    await tabTo(page, /^log in$/)
    await keys(page, 'Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await tabTo(page, /^Token$/)
    await page.keyboard.type(INTERNAL_TOKEN)
    await keys(page, 'Enter')
    await page.getByRole('button', { name: 'operator' }).waitFor()

    await keys(page, '/')
    expect(await focused(page)).toBe('Search')
    await page.keyboard.type('shop/run')
    await keys(page, 'Enter')
    await page.locator('tbody tr').first().waitFor()
    await keys(page, 'Escape')
    // What the focus is on is pressed, whatever else the key does on this screen.
    await tabTo(page, /^Why \d+ has not ended$/)
    await keys(page, 'Enter')
    await dialog.getByRole('link', { name: id }).waitFor()
    await keys(page, 'Escape')
    await dialog.waitFor({ state: 'detached' })
    await keys(page, 'j', 'f')
    expect(await focused(page)).toMatch(/^Text, id/)
    await page.evaluate('document.activeElement.blur()')
    await keys(page, 'Enter')
    await page.waitForURL(new RegExp(`/executions/${id}`))
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    await handle.waitFor()
    await keys(page, 'Home')
    await until('before the first event', async () => (await handle.getAttribute('aria-valuenow')) === '0')
    await keys(page, 'ArrowRight')
    await until('the first event', async () => (await handle.getAttribute('aria-valuenow')) === '1')

    await keys(page, '7')
    const finding = page.locator('.findings li').filter({ hasText: 'dead' })
    await finding.waitFor()
    await chord(page, 'g', 'x')
    await page
      .getByText('Everything is published.')
      .or(page.getByText(/waits?, the oldest/))
      .first()
      .waitFor()
    await keys(page, '3')
    await page.getByRole('button', { name: 'Requeue all…' }).waitFor()
    await keys(page, 'r')
    await dialog.getByText('Dry run: 1 row would come back').waitFor()
    expect(await focused(page)).toBe('Keep as it is')
    await keys(page, 'Escape')
    await dialog.waitFor({ state: 'detached' })
    await tabTo(page, /^Requeue…$/)
    await keys(page, 'Enter')
    await dialog.getByText('Dry run: 1 row would come back').waitFor()
    await tabTo(page, /^Reason$/)
    await page.keyboard.type('by hand')
    await tabTo(page, /^Requeue 1 row$/)
    await keys(page, 'Enter')
    await page.getByText('1 of 1: 1 came back').waitFor()

    await chord(page, 'g', 's')
    await page.getByRole('link', { name: 'shop/orders' }).waitFor()
    await tabTo(page, /^shop\/orders$/)
    await keys(page, 'Enter')
    await page.getByRole('img', { name: 'Lifecycle: active;' }).waitFor()
    await tabTo(page, /^Pause…$/)
    await keys(page, 'Enter')
    await dialog.waitFor()
    await keys(page, 'Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Pause…')
    await keys(page, 'Enter')
    await dialog.waitFor()
    expect(await focused(page)).toBe('Keep as it is')
    await keys(page, 'Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Pause…')
    await keys(page, 'p')
    await dialog.waitFor()
    await tabTo(page, /^Reason/)
    await page.keyboard.type('tea')
    await tabTo(page, /^Pause$/)
    await keys(page, 'Enter')
    await page.getByRole('img', { name: 'Lifecycle: paused;' }).waitFor()
    // The page may hear of it before the dialog has its answer.
    await dialog.waitFor({ state: 'detached' })

    await chord(page, 'g', 'c')
    await page.getByRole('link', { name: 'shop/run' }).waitFor()
    await tabTo(page, /^shop\/run$/)
    await keys(page, 'Enter')
    await page.getByRole('tab', { name: 'Run' }).waitFor()
    const before = page.url()
    await tabTo(page, /^Document$/)
    for (let moved = 0; moved < 6 && (await focused(page)) !== 'Run'; moved++) await keys(page, 'ArrowRight')
    await tabTo(page, /^Run shop\/run/)
    await keys(page, 'Enter')
    await page.waitForURL((address) => address.href !== before && /\/executions\/\d+/.test(address.pathname))
    expect(faults()).toEqual([])
    await close()
  })

  it('reads the help from its top, and is told that a link was copied', async () => {
    const { page, faults, close } = await browser.open(daemon.url, {
      viewport: { width: 1280, height: 420 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.goto('/console/nowhere')
    const panel = (await page.locator('.refusal').boundingBox())!
    const places = (await page.getByRole('navigation', { name: 'Places' }).boundingBox())!
    expect(panel.x - places.x - places.width).toBeGreaterThanOrEqual(12)
    await keys(page, '?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    expect(await page.evaluate(`document.querySelector('dialog').scrollTop`)).toBe(0)
    await keys(page, 'Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keys(page, 'y')
    await page.getByRole('status').getByText('Link copied').waitFor()
    const copied = () => page.evaluate('navigator.clipboard.readText()')
    expect(await copied()).toBe(page.url())

    await page.goto('/console/executions')
    await page.locator('tbody tr').first().waitFor()
    await tabTo(page, /^Copy link$/)
    await keys(page, 'Enter')
    await until('the link is copied', async () => (await copied()) === page.url())
    // A moment is told to the microsecond, and copied so.
    const [row] = (await daemon.get('/api/executions?ids=string')).body
    await tabTo(page, /( ago|just now)$/)
    await page.locator('.tip').getByText(row.start_time).waitFor()
    await keys(page, 'Enter')
    await until('the moment is copied', async () => (await copied()) === row.start_time)
    expect(row.start_time).toMatch(/\.\d{6}/)

    const bars = page.getByRole('slider', { name: 'Time of start' })
    await bars.waitFor()
    await page.evaluate('document.activeElement.blur()')
    await tabTo(page, /^Time of start$/)
    await keys(page, 'Home')
    expect(await bars.getAttribute('aria-valuetext')).toMatch(/^[\d-]+ [\d:]+ to [\d:]+: 1 running$/)
    await keys(page, 'Shift+ArrowRight', 'Shift+ArrowRight', 'Enter')
    await page.waitForURL(/since=.*until=/)
    await until('the keys go on where they were', () => bars.evaluate((element) => element.matches(':focus')))
    await keys(page, 'Escape')
    await page.waitForURL((address) => address.search === '')
    expect(faults()).toEqual([])
    await close()
  })

  it('keeps focus, selection and scrolling while a hundred runs begin', async () => {
    const { page, close } = await browser.open(daemon.url, { viewport: { width: 1280, height: 420 } })
    const { results } = await post('/api/execute/batch', {
      executions: Array.from({ length: 40 }, () => ({ path: 'shop/run', driven: false })),
    })
    const watched = String(results[20].execution_id)
    await page.goto('/console/executions')
    await page.getByRole('button', { name: 'live', exact: true }).waitFor()
    const row = page.locator(`#row-${watched}`)
    await row.waitFor()
    await row.getByRole('link').first().focus()
    const reading = () =>
      page.evaluate(`((row) => ({
        top: Math.round(row.getBoundingClientRect().top),
        selected: String(getSelection()),
        hasFocus: row.contains(document.activeElement),
      }))(document.getElementById('row-${watched}'))`)
    await page.evaluate(`((code) => {
      code.scrollIntoView({ block: 'center' })
      getSelection().selectAllChildren(code)
    })(document.querySelector('#row-${watched} code'))`)
    const before = await reading()
    expect(before).toMatchObject({ selected: watched, hasFocus: true })
    for (let round = 0; round < 5; round++) {
      await post('/api/execute/batch', {
        executions: Array.from({ length: 20 }, () => ({ path: 'shop/run', driven: false })),
      })
      await page.getByRole('button', { name: /^Show .* new$/ }).waitFor()
    }
    // By now none of those that are shown is among the newest any more.
    await page.getByRole('button', { name: 'Show 50 or more new' }).waitFor()
    expect(await reading()).toEqual(before)

    // Page by page, while others begin: each that was there is met, and none twice.
    const rows = await database
      .get()
      .sql<{ id: string }>("select execution_id::text as id from noetl.execution where path = 'shop/run'")
    await page.reload()
    const shown = () => page.locator('tbody code').allTextContents()
    const met: string[] = []
    for (;;) {
      await until('another page is shown', async () => {
        const ids = await shown()
        return ids.length > 0 && !ids.some((id) => met.includes(id))
      })
      met.push(...(await shown()))
      const older = page.getByRole('button', { name: 'Load older' })
      if ((await older.count()) === 0) break
      await post('/api/execute', { path: 'shop/run', driven: false })
      await older.click()
    }
    expect(new Set(met).size).toBe(met.length)
    expect(rows.map((row) => row.id).filter((id) => !met.includes(id))).toEqual([])
    await close()
  })

  it('keeps focus, selection, scrolling and moment while a thousand events are added to the run', async () => {
    const { page, close } = await browser.open(daemon.url)
    const { execution_id: watched } = await post('/api/execute', { path: 'shop/run', driven: false })
    const add = (count: number) =>
      post('/api/events/batch', {
        execution_id: watched,
        events: Array.from({ length: count }, () => ({ event_type: 'step.note', step: 'start' })),
      })
    await add(250)
    await page.goto(`/console/executions/${watched}?tab=events`)
    const place = page.getByRole('slider', { name: 'Position in the log' })
    await until('the log is drawn', async () => Number(await place.getAttribute('aria-valuenow')) > 250)
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('button', { name: 'Jump to now' }).waitFor()
    const position = await place.getAttribute('aria-valuenow')
    await page.locator('.virtual-row').first().waitFor()
    await page.evaluate("document.querySelector('.virtual').scrollTop = 28 * 100")
    const line = page.getByRole('table', { name: 'Events' }).getByRole('button', { name: /^111 / })
    await line.focus()
    await page.evaluate("getSelection().selectAllChildren(document.activeElement.closest('tr'))")
    const reading = () =>
      page.evaluate(`({
        top: document.querySelector('.virtual').scrollTop,
        selected: String(getSelection()),
        focused: document.activeElement.textContent,
      })`)
    const before = await reading()
    expect(before).toMatchObject({ top: 28 * 100, selected: expect.stringContaining('step.note') })
    for (let round = 0; round < 5; round++) await add(200)
    await page.getByRole('button', { name: '+1,000 events, jump to now' }).waitFor()
    await page.getByText(/^1,2\d\d events$/).waitFor()
    expect(await reading()).toEqual(before)
    expect(await place.getAttribute('aria-valuenow')).toBe(position)

    await page.evaluate("document.activeElement.blur(); document.querySelector('.virtual').scrollTop = 0")
    await page.getByRole('button', { name: /^1 playbook/ }).waitFor()
    await keys(page, 'j', 'j', 'j', 'k')
    expect(await focused(page)).toMatch(/^2 /)
    await keys(page, 'Enter')
    await page.waitForURL(/[?&]event=\d+/)
    await keys(page, 'Escape')
    await page.waitForURL((address) => !address.searchParams.has('event'))
    await close()
  })
})
