// Promise: everybody can use the console. axe finds nothing on any screen nor in the dialogs that act, light and dark; at 360 pixels
// and at double size nothing is cut; nothing moves for who wants no motion, and forced colours hide nothing. A login by one-time code
// works in a browser, once, and leaves nothing there. What the timeline paints is told to who cannot see it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser, visit } from '../support/webPage.js'

const database = useDatabase()
const browser = useBrowser()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const NARROW = { width: 360, height: 740 }
const TOKEN = 'token-of-the-operators-here'
/** What a reader of any window sees at once: words that are broken into single letters, that reach into what is beside them, and a
    chosen tab out of sight. */
const UNREADABLE = `(() => {
  const found = []
  for (const cell of document.querySelectorAll('main :is(td, th, dd, h1, h2, button)')) {
    const { width } = cell.getBoundingClientRect()
    const words = cell.textContent.trim()
    if (cell.closest('.visually-hidden, :not(html)[hidden]') || width < 2) continue
    if (cell.matches('td') && width < 48 && cell.clientHeight > 60 && words.length > 8) found.push('broken: ' + words.slice(0, 40))
    const { overflowX, display } = getComputedStyle(cell)
    if (overflowX === 'visible' && display !== 'inline' && cell.scrollWidth > cell.clientWidth + 2) found.push('spilt: ' + words.slice(0, 40))
  }
  for (const tab of document.querySelectorAll('[role=tab][aria-selected=true]')) {
    const { left, right } = tab.getBoundingClientRect()
    if (left < 0 || right > innerWidth) found.push('out of sight: ' + tab.textContent)
  }
  return found.slice(0, 5)
})()`
let daemon: Daemon
let env: Record<string, string>
let id: string
/** Of another playbook. */
let other: string
let event: string
let subscription: string

/** What can be pressed or written into, and something else takes the pointer there. Some is for the keyboard alone, or for readers. */
const COVERED = `(() => {
  const reaches = (control) => {
    control.scrollIntoView({ block: 'center', inline: 'center' })
    const { left, top, width, height } = control.getBoundingClientRect()
    const met = document.elementFromPoint(left + width / 2, top + height / 2)
    return met !== null && (control.contains(met) || met.contains(control) || met.closest('label')?.control === control)
  }
  const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=slider]')]
    .filter((control) => control.checkVisibility({ visibilityProperty: true }) && !control.closest('.visually-hidden, .skip, thead'))
  const covered = controls.filter((control) => !reaches(control))
  for (const part of document.querySelectorAll('main, main *')) part.scrollTo?.(0, 0)
  return covered.map((control) => control.outerHTML.slice(0, 120))
})()`

const command = async (...args: string[]) => {
  const { code, stdout, stderr } = await builtCli([...args, '--port', new URL(daemon.url).port], { env })
  expect([code, stderr]).toEqual([0, expect.anything()])
  return stdout
}

const loginAddress = async () => /http\S+/.exec(await command('console', '--print'))![0]

const places = () => [
  { path: '/console/', shows: 'Ready.' },
  { path: '/console/executions', shows: 'Load older|demo/' },
  { path: `/console/executions/${id}`, shows: 'checksum [0-9a-f]{8}' },
  { path: `/console/executions/${id}?tab=changes`, shows: 'playbook' },
  { path: `/console/executions/${id}?tab=event`, shows: 'event_type: ' },
  { path: `/console/executions/${id}?tab=state`, shows: 'execution_id: ' },
  { path: `/console/executions/${id}?tab=outbox`, shows: '.' },
  { path: `/console/executions/${id}?tab=raw`, shows: 'event_type' },
  { path: `/console/executions/${id}?tab=graph`, shows: 'As a table' },
  { path: `/console/executions/${id}?tab=events&event=${event}&within=id`, shows: '\\d found' },
  { path: `/console/executions/${id}?tab=why`, shows: '.' },
  { path: '/console/outbox', shows: 'Outbox' },
  { path: '/console/outbox?tab=rows', shows: '.' },
  { path: '/console/outbox?tab=dead', shows: '.' },
  { path: '/console/outbox?tab=audit', shows: 'Publish again' },
  { path: '/console/subscriptions', shows: 'demo/orders' },
  { path: `/console/subscriptions/${subscription}`, shows: 'Driven by' },
  { path: '/console/catalog', shows: 'daily-report' },
  { path: '/console/catalog/demo/weekly-report', shows: 'apiVersion' },
  { path: '/console/catalog/demo/weekly-report?tab=run', shows: 'Workload' },
  { path: '/console/catalog/demo/weekly-report?tab=graph', shows: 'As a table' },
  { path: '/console/catalog/demo/weekly-report?tab=versions', shows: '@1' },
  { path: '/console/catalog/demo/weekly-report?tab=edit', shows: 'Register' },
  { path: `/console/compare?a=${id}&b=${other}`, shows: 'They part at the step' },
  { path: '/console/snapshots', shows: id },
  { path: '/console/jobs', shows: 'Two run at a time' },
  { path: '/console/doctor', shows: 'Doctor' },
  { path: '/console/activity', shows: 'Activity' },
  { path: '/console/settings', shows: 'NOETL_' },
  { path: '/console/help', shows: '/api/catalog/used_by' },
  { path: '/console/catalog/demo/weekly-report?tab=used-by', shows: 'Nothing starts this by itself|step ' },
]

const open = async (page: Page, { path, shows }: { path: string; shows: string }) => {
  if (page.url().includes('/console')) await visit(page, path)
  else await page.goto(path)
  await page.locator('main').getByText(new RegExp(shows)).first().waitFor()
  await until('everything is loaded', async () => (await page.locator('main [aria-busy=true]').count()) === 0)
}

describe.skipIf(!hasBrowser)('everybody', () => {
  beforeAll(async () => {
    env = { NOETL_DATABASE_URL: database.get().url, NOETL_INTERNAL_API_TOKEN: TOKEN }
    daemon = await startDaemon([], { env })
    await command('demo')
    // Where it is slow, the demo does not wait for all of them.
    const newest = (status: string): Promise<string> =>
      until(
        `one is ${status}`,
        async () => (await daemon.get(`/api/executions?ids=string&status=${status}`)).body[0]?.execution_id,
      )
    id = await newest('FAILED')
    other = await newest('COMPLETED')
    event = (await daemon.get(`/api/executions/${id}/events?limit=1`)).body.events[0].event_id
    subscription = (await daemon.get('/api/subscriptions?ids=string')).body.subscriptions[0].subscription_id
    const taken = await fetch(new URL(`/api/internal/snapshots/${id}/take`, daemon.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect(taken.status).toBe(200)
  })
  afterAll(() => daemon?.stop())

  it('logs in by a code that works once', async () => {
    const address = await loginAddress()
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/outbox')
    await page.getByText('Log in with').first().waitFor()
    await page.goto(address)
    await page.getByText('Ready.').waitFor()
    expect(page.url()).not.toContain('code')
    await page.goto('/console/settings')
    await page.getByText('NOETL_DATABASE_URL').first().waitFor()
    expect(await page.content()).not.toContain(TOKEN)
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
    expect(JSON.parse(String(kept))).toEqual([expect.not.objectContaining({ token: expect.anything() }), {}, ''])
    expect(kept).not.toMatch(/code|session|token/i)
    expect(faults()).toEqual([])
    await close()

    const second = await browser.open(daemon.url)
    await second.page.goto(address)
    await second.page.getByText('Ready.').waitFor()
    await second.page.goto('/console/outbox')
    await second.page.getByText('Log in with').first().waitFor()
    await second.close()
  })

  it('has every screen whole at 360 pixels and at 1280 in double size, and axe finds nothing on it, light and dark', {
    timeout: 600_000,
  }, async () => {
    const { page, faults, close } = await browser.open(daemon.url, { viewport: NARROW, reducedMotion: 'reduce' })
    await page.goto(await loginAddress())
    await page.getByText('Ready.').waitFor()
    const found: string[] = []
    const axe = async (where: string, options: string) => {
      const violations = (await page.evaluate(
        `axe.run(document, ${options}).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' ')))`,
      )) as string[]
      found.push(...violations.map((violation) => `${where}: ${violation}`))
    }
    const look = async (where: string) => {
      await page.setViewportSize({ width: 1280, height: 800 })
      // Evaluated, not added as a tag: the content policy stays in force.
      await page.evaluate(AXE)
      await axe(`${where}, light`, `{ resultTypes: ['violations'] }`)
      // Of the dark screens only the colours are different.
      await page.emulateMedia({ colorScheme: 'dark' })
      await axe(`${where}, dark`, `{ runOnly: ['color-contrast', 'link-in-text-block'] }`)
      await page.emulateMedia({ colorScheme: 'light' })
    }
    for (const place of places()) {
      await page.setViewportSize(NARROW)
      await open(page, place)
      for (const width of [360, 640]) {
        await page.setViewportSize({ width, height: 740 })
        const [needed, has] = (await page.evaluate(
          `[document.documentElement.scrollWidth, document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth ? document.querySelector('main').scrollWidth : 0]`,
        )) as [number, number]
        if (needed > width || has > 0) found.push(`${place.path} at ${width}: ${needed} ${has}`)
        for (const what of (await page.evaluate(UNREADABLE)) as string[])
          found.push(`${place.path} at ${width}: ${what}`)
        // Last, for it scrolls what is to be seen.
        for (const control of (await page.evaluate(COVERED)) as string[])
          found.push(`${place.path} at ${width}: something lies over ${control}`)
      }
      // What a chosen line offers is looked at as well.
      for (const line of (await page.locator('.json .leaf').all()).slice(0, 1)) await line.click()
      await look(place.path)
    }
    await page.goto('/console/executions?status=FAILED')
    await page.getByLabel(`Choose ${id}`).check()
    await page.getByRole('button', { name: 'Rerun…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Dry run: 1 of 1 execution').waitFor()
    await look('the dialog of a bulk act')
    await dialog.getByLabel('Reason').fill('to look at it')
    await dialog.getByRole('button', { name: 'Rerun 1 execution' }).click()
    await page.getByRole('region', { name: 'Job' }).getByText('1 of 1: 1 done').waitFor()
    await look('a job')
    const [waits] = (await daemon.get('/api/executions?ids=string&status=RUNNING')).body
    await visit(page, `/console/executions?why=${waits.execution_id}`)
    await dialog.locator('.findings li').first().waitFor()
    await look('the drawer that says why')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'operator' }).click()
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H2')
    await dialog.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'log in' }).click()
    await dialog.getByLabel('Token').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('token')
    await look('the dialog that logs in')
    expect(found).toEqual([])
    expect(faults()).toEqual([])
    await close()
  })

  it('sees what can be done and what went wrong, however long the words beside it are', {
    timeout: 240_000,
  }, async () => {
    const word = 'word_without_an_end_'.repeat(12)
    const path = 'متجر/الطلبات'
    const { sql } = database.get()
    const [subscription] = await sql<{ id: string }>('select subscription_id::text as id from noetl.subscription')
    await sql(
      `insert into noetl.subscription_dead_letter (subscription_id, identity, subject, body, reason, attempts)
       values ($1::bigint, $2, $2, '{}', $2, 1)`,
      [subscription!.id, word],
    )
    await sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload, status, attempts, last_error)
       values ($1::bigint, 7, 's', '{}', 'DEAD', 1, $2)`,
      [id, word],
    )
    const post = async (where: string, body: object) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
      const answer = await fetch(new URL(where, daemon.url), { method: 'POST', headers, body: JSON.stringify(body) })
      expect(answer.status).toBe(200)
      return (await answer.json()) as { execution_id: string }
    }
    const playbook = (at: string, step: string) =>
      `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: p, path: "${at}" }\nworkload: { ${step}: ${step} }\nworkflow:\n  - { step: start, tool: { kind: noop }, next: { arcs: [{ step: ${step} }] } }\n  - { step: ${step}, tool: { kind: noop } }\n`
    await post('/api/catalog/register', { content: playbook('shop/long', word) })
    await post('/api/catalog/register', { content: playbook(path, 'end') })
    const long = (await post('/api/execute', { path: 'shop/long' })).execution_id
    await post('/api/execute', { path })
    await post(`/api/subscriptions/${subscription!.id}/activate`, {})
    await post(`/api/subscriptions/${subscription!.id}/pause`, { reason: word, actor: word.slice(0, 100) })

    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(await loginAddress())
    await page.getByText('Ready.').waitFor()
    const subscribed = `/console/subscriptions/${subscription!.id}`
    const acts = [
      { path: `${subscribed}?tab=dead`, shows: 'orders', act: 'Start again…' },
      { path: '/console/outbox?tab=dead', shows: 'Choose rows', act: 'Requeue…' },
    ]
    const screens = [
      { path: subscribed, shows: 'Driven by' },
      { path: `/console/executions/${long}`, shows: 'checksum [0-9a-f]{8}' },
      { path: `/console/executions/${long}?tab=events`, shows: 'failed only' },
      { path: `/console/executions/${long}?tab=graph`, shows: 'As a table' },
      { path: '/console/catalog/shop/long?tab=run', shows: 'Workload' },
      { path: `/console/compare?a=${long}&b=${id}`, shows: 'They part at the step' },
      { path: '/console/activity', shows: 'Activity' },
    ]
    const found: string[] = []
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 740 })
      for (const place of acts) {
        await open(page, place)
        const box = (await page.getByRole('button', { name: place.act, exact: true }).first().boundingBox())!
        if (box.x < 0 || box.x + box.width > width) found.push(`${place.act} at ${width}: ${JSON.stringify(box)}`)
      }
      for (const place of screens) {
        await open(page, place)
        const over = await page.evaluate(
          `[...document.querySelectorAll('main, main .scroll')].map((box) => box.scrollWidth - box.clientWidth)`,
        )
        if ((over as number[]).some((pixels) => pixels > 1)) found.push(`${place.path} at ${width}: ${over}`)
      }
    }
    expect(found).toEqual([])

    await page.goto('/console/outbox?tab=dead')
    await page.getByRole('button', { name: 'Requeue…', exact: true }).first().click()
    await page.getByRole('dialog').getByText('Dry run:').waitFor()
    const dialog = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))`
    expect(await page.evaluate(dialog)).toBe(0)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('dialog h2')).textAlign`)).toBe('left')

    await page.goto('/console/executions')
    const error = page.locator('tbody .more .two-lines').first()
    await error.waitFor()
    expect((await error.boundingBox())!.width).toBeGreaterThan(800)
    const [link, version] = await Promise.all(
      ['a', '.muted'].map((part) =>
        page.locator('td.main').filter({ hasText: path }).locator(part).first().boundingBox(),
      ),
    )
    expect(version!.x).toBeGreaterThanOrEqual(link!.x + link!.width - 1)

    // What is pressed and what is read stay where they are.
    const places = (...parts: string[]) =>
      Promise.all(
        parts.map((part) =>
          page
            .locator(part)
            .first()
            .boundingBox()
            .then((box) => box && [box.x, box.width]),
        ),
      )
    const beside = ['.list-head summary', 'td.main a', 'thead th:nth-child(2)']
    const before = await places(...beside)
    await page.keyboard.press('j')
    await page.locator('tr[aria-selected=true]').first().waitFor()
    await page.locator('.list-head summary').click()
    await page.getByText('Last event').waitFor()
    expect(await places(...beside)).toEqual(before)
    await open(page, { path: '/console/outbox', shows: 'Shards' })
    const tabs = ['#tab-rows', '#tab-dead', '#tab-audit']
    const asNow = await places(...tabs)
    await page.locator('#tab-dead').click()
    await page.getByText('Choose rows').waitFor()
    expect(await places(...tabs)).toEqual(asNow)
    expect(faults()).toEqual([])
    await close()
  })

  it('hears what the timeline paints: row, bar, status and time', async () => {
    const { page, close } = await browser.open(daemon.url, { timezoneId: 'UTC' })
    await open(page, { path: `/console/executions/${id}`, shows: 'checksum [0-9a-f]{8}' })
    const heard = async (): Promise<string[][]> => {
      const tree = await page.getByRole('table', { name: 'Bars in sight' }).getByRole('row').all()
      const cells = await Promise.all(
        tree.map((row) => row.getByRole('cell').or(row.getByRole('rowheader')).allTextContents()),
      )
      return cells.filter(({ length }) => length === 5)
    }
    const ended = ['completed', 'failed', 'cancelled']
    const bars = await until('every bar is told with its end', async () => {
      const told = await heard()
      const statuses = told.map(([, , status]) => status!)
      return statuses.includes('failed') && statuses.every((status) => ended.includes(status)) ? told : undefined
    })
    const { events } = (await daemon.get(`/api/executions/${id}/events`)).body
    const steps = events.map(({ node_name: step }: { node_name: string | null }) => step)
    const times = events.map(({ timestamp }: { timestamp: string }) => timestamp.slice(0, 23).replace('T', ' '))
    for (const [row, bar, , from, lasted] of bars) {
      expect(steps).toContain(row)
      expect(bar).not.toBe('')
      expect(times).toContain(from)
      expect(lasted).toMatch(/^[\d.]+ (ms|s|m)/)
    }
    await page.keyboard.press('Home')
    await until('before the first event nothing has begun', async () => {
      const told = await heard()
      return told.length > 0 && told.every(([, , status]) => status === 'not yet')
    })
    await close()
  })

  it('sees nothing move who wants no motion, and every status with forced colours', async () => {
    const { page, close } = await browser.open(daemon.url, { reducedMotion: 'reduce', forcedColors: 'active' })
    await open(page, { path: '/console/executions', shows: 'demo/' })
    const moving = `document.getAnimations().filter(({ effect }) => effect.getComputedTiming().duration > 1).length`
    expect(await page.evaluate(moving)).toBe(0)
    const seen = (await page.evaluate(
      `[...document.querySelectorAll('tbody .status')].map((status) => [status.textContent, getComputedStyle(status.querySelector('svg')).color !== getComputedStyle(document.body).backgroundColor])`,
    )) as [string, boolean][]
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.every(([word, isSeen]) => word !== '' && isSeen)).toBe(true)
    const look = (selector: string): Promise<string> =>
      page.evaluate(
        `(({ backgroundColor, outlineStyle }) => backgroundColor + ' ' + outlineStyle)(getComputedStyle(document.querySelector(${JSON.stringify(selector)})))`,
      )
    await page.getByRole('button', { name: 'failed' }).click()
    await page.locator('tbody tr').first().waitFor()
    await page.keyboard.press('j')
    await page.locator('tr[aria-selected=true]').first().waitFor()
    expect(await look('tr[aria-selected=true]')).toMatch(/solid$/)
    expect(await look('.chip[aria-pressed=true]')).not.toBe(await look('.chip[aria-pressed=false]'))
    expect(await look('.navigation [aria-current]')).not.toBe(await look('.navigation a:not([aria-current])'))
    expect(await look('.mini .bar.failed')).not.toBe(await look('body'))

    await page.clock.install()
    await open(page, { path: `/console/executions/${id}`, shows: 'checksum [0-9a-f]{8}' })
    expect(await look('[role=tab][aria-selected=true]')).not.toBe(await look('[role=tab][aria-selected=false]'))
    // What is painted is not one block: each status has its colour, and everything lies on the ground of the system.
    const painted = (selector: string): Promise<string[]> =>
      page.evaluate(`((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        const found = new Set()
        for (let at = 0; at < data.length; at += 4) found.add('rgb(' + data.slice(at, at + 3).join(', ') + ')')
        return [...found]
      })(document.querySelector(${JSON.stringify(`${selector} canvas`)}))`)
    const failed = await page.evaluate(`getComputedStyle(document.querySelector('main .glyph.failed')).color`)
    for (const canvas of ['.timeline-bars', '.scrub-track']) {
      const colors = await painted(canvas)
      expect([canvas, colors]).toEqual([canvas, expect.arrayContaining([failed, 'rgb(255, 255, 255)'])])
      expect(colors.length).toBeGreaterThanOrEqual(4)
    }

    // Played by steps of a second, not event by event.
    await page.keyboard.press('Home')
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    await until('at the beginning', async () => (await handle.getAttribute('aria-valuenow')) === '0')
    await page.evaluate(`(() => {
      const handle = document.querySelector('[aria-label="Position in the log"]')
      window.places = []
      new MutationObserver(() => window.places.push(Number(handle.getAttribute('aria-valuenow')))).observe(handle, { attributeFilter: ['aria-valuenow'] })
    })()`)
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    expect(await page.evaluate(moving)).toBe(0)
    await until('it is played', async () => {
      await page.clock.runFor(1_000)
      return ((await page.evaluate('window.places')) as number[]).length >= 3
    })
    expect(((await page.evaluate('window.places')) as number[]).slice(0, 3)).toEqual([2, 4, 6])
    await close()
  })
})
