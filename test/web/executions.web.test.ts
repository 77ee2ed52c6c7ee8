// Promise: the console finds executions as the command line does, shows one with every event, its state without losing a
// digit, and why it stands still in the words of the command. What it shows is in the address. The page of one of them at
// any moment is in scrubTests.ts and timelineTests.ts, with the same daemon.
import type { Locator, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser, visit } from '../support/webPage.js'
import { scrubTests } from './scrubTests.js'
import { timelineTests } from './timelineTests.js'

const database = useDatabase()
const browser = useBrowser()
const CLIPBOARD = ['clipboard-read', 'clipboard-write']
let daemon: Daemon

const command = async (...args: string[]) => {
  const { code, stdout, stderr } = await builtCli([...args, '--port', new URL(daemon.url).port, '--json'], {
    env: { NOETL_DATABASE_URL: database.get().url },
  })
  expect([code, stderr]).toEqual([0, expect.anything()])
  return JSON.parse(stdout)
}

/** One that the demo has made: where it is slow, others may not have ended yet. */
const idOf = async (status: string, path: string): Promise<string> =>
  until(`${path} is ${status}`, async () => {
    const { executions } = await command('execution', 'list', '--status', status)
    const found = executions.find((row: { path: string }) => row.path === path)
    return found === undefined ? undefined : String(found.execution_id)
  })

interface Shown {
  id: string
  event: string
}

describe.skipIf(!hasBrowser)('executions', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
    await command('demo')
  })
  afterAll(() => daemon?.stop())

  it('are listed and filtered as on the command line', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions')
    const ids = async () => (await page.locator('tbody code').allTextContents()).toSorted()
    const idsOf = (listed: { execution_id: string }[]) => listed.map((row) => String(row.execution_id)).toSorted()
    const all = idsOf((await command('execution', 'list')).executions)
    await until('all are shown', async () => (await ids()).length === all.length)
    expect(await ids()).toEqual(all)

    await page.getByRole('button', { name: 'failed' }).click()
    await page.waitForURL(/status=FAILED/)
    const failed = idsOf((await command('execution', 'list', '--status', 'FAILED')).executions)
    await until('the filter is in force', async () => (await page.locator('tbody tr[id]').count()) === failed.length)
    expect(await ids()).toEqual(failed)

    await page.getByRole('searchbox', { name: /^Text, id/ }).fill('nothing has this')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing matches these filters').waitFor()
    // Without the status nothing is found either: the text is to blame.
    await page
      .getByText(new RegExp(`Without text nothing has this there (is|are) ${failed.length} execution`))
      .waitFor()
    await page.getByRole('button', { name: 'Drop text nothing has this' }).click()
    await page.waitForURL((address) => address.search === '?status=FAILED')
    await until('the other filter stays', async () => (await page.locator('tbody tr[id]').count()) === failed.length)
    await page.goBack()
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByRole('button', { name: 'Show all executions' }).click()
    await page.locator('tbody tr').first().waitFor()
    await page.goBack()
    await page.getByText('Nothing matches these filters').waitFor()
    const now = new Date().toISOString()
    const [run] = (await daemon.get('/api/executions?status=FAILED')).body
    const began = run.start_time.replace('+00:00', 'Z')
    for (const [question, ...options] of [
      ['path=demo/daily*', '--path', 'demo/daily*'],
      ['status=FAILED,RUNNING&q=demo/', '--status', 'failed,running', '--q', 'demo/'],
      ['step=charge', '--step', 'charge'],
      [`since=${began}&until=${now}`, '--since', began, '--until', now],
      ['min_seconds=0.5', '--longer-than', '0.5s'],
      [`q=${run.execution_id}`, '--q', String(run.execution_id)],
    ] as const) {
      await visit(page, `/console/executions?${question}`)
      await until(question, async () => {
        const wanted = idsOf((await command('execution', 'list', ...options)).executions)
        expect(wanted.length, question).toBeGreaterThan(0)
        return (await ids()).join() === wanted.join()
      })
    }
    expect(faults()).toEqual([])
    await close()
  })

  it('are where one left them on the way back, and have their own number above them', async () => {
    const { page, faults, close } = await browser.open(daemon.url, { viewport: { width: 1280, height: 320 } })
    await page.goto('/console/executions')
    const last = page.locator('tbody tr').last()
    await last.waitFor()
    const top = () => page.evaluate(`document.querySelector('main').scrollTop`) as Promise<number>
    await last.scrollIntoViewIfNeeded()
    const left = await top()
    expect(left).toBeGreaterThan(100)
    await last.locator('a[href*="/executions/"]').first().click()
    await page.locator('main h1').waitFor()
    await until('the page begins at its head', async () => (await top()) === 0)
    await page.goBack()
    await until('it is where it was', async () => Math.abs((await top()) - left) <= 1)
    // The row is, too, for whoever goes on with the keys.
    const rows = page.locator('tbody tr[id]')
    const marked = async () =>
      rows.evaluateAll((all) => all.findIndex((row) => row.getAttribute('aria-selected') === 'true'))
    const count = await rows.count()
    await until('the row that was opened', async () => (await marked()) === count - 1)
    await page.keyboard.press('k')
    await until('the one above it', async () => (await marked()) === count - 2)
    const above = (await rows.nth(count - 2).getAttribute('id'))!.replace('row-', '')
    await page.waitForURL(new RegExp(`row=${above}`))
    await page.reload()
    await until('the same after a reload', async () => (await marked()) === count - 2)
    await page.goto('/console/executions')

    await page.keyboard.press('f')
    const field = page.getByRole('searchbox', { name: /^Text, id/ })
    await until('it is written into', () => field.evaluate((element) => element.matches(':focus')))
    await page.keyboard.type('half a wo')
    await page.keyboard.press('Escape')
    await until('it is left', () => field.evaluate((element) => !element.matches(':focus')))
    expect([await field.inputValue(), new URL(page.url()).search]).toEqual(['', ''])

    const number = page.locator('figure.histogram figcaption span')
    const all = await number.textContent()
    await page.route('**/api/executions**', (route) => route.abort())
    await page.getByRole('button', { name: 'failed' }).click()
    await page
      .getByText(/The daemon does not answer/)
      .first()
      .waitFor()
    expect(await number.count()).toBe(0)
    await page.unrouteAll({ behavior: 'wait' })
    await until('those that failed are counted', async () => ![all, null].includes(await number.textContent()))
    expect(faults()).toEqual([])
    await close()
  })

  it('have a list of children only if they have some, and are not called good where they failed', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    const parent = await until('one has children', async () => {
      const { body } = await daemon.get('/api/executions?limit=100&ids=string')
      return body.find((row: { parent_execution_id: string | null }) => row.parent_execution_id !== null)
        ?.parent_execution_id as string | undefined
    })
    const children = page.locator('dl.facts div', { hasText: 'Children' })
    // It starts one after the other, and ends after all of them.
    await until('it has ended', async () => (await daemon.get(`/api/executions/${parent}`)).body.status === 'COMPLETED')
    await page.goto(`/console/executions/${parent}`)
    const { length } = (await daemon.get(`/api/executions?parent=${parent}&ids=string`)).body
    expect(length).toBeGreaterThan(1)
    await children.getByRole('link', { name: `${length} executions` }).waitFor()
    const failed = await idOf('FAILED', 'demo/import-orders')
    const asked = page.waitForResponse((answer) => answer.url().includes(`parent=${failed}`))
    await page.goto(`/console/executions/${failed}?tab=why`)
    await asked
    const finding = page.locator('.findings li')
    await finding.getByRole('heading', { name: 'failed' }).waitFor()
    expect(await finding.locator('.glyph.failed').count()).toBe(1)
    expect(await children.count()).toBe(0)
    // Its commands are what is counted.
    const counters = await page.locator('.counters div').first().textContent()
    expect(counters).toMatch(/^commands\d+$/)
    expect(faults()).toEqual([])
    await close()
  })

  it('have a small timeline each, of their steps and how these ended, which the list does not wait for', async () => {
    const id = await idOf('FAILED', 'demo/import-orders')
    const { page, faults, close } = await browser.open(daemon.url)
    const held: Route[] = []
    let isHeld = true
    await page.route('**/api/executions/timelines**', (route) => {
      if (isHeld) held.push(route)
      else return route.continue()
    })
    await page.goto('/console/executions?status=FAILED')
    const row = page.locator(`#row-${id}`)
    await row.waitFor()
    expect(await row.locator('.mini .bar').count()).toBe(0)
    await until('it is asked for', () => held.length > 0)
    isHeld = false
    for (const route of held) await route.continue()
    const [timeline] = (await daemon.get(`/api/executions/timelines?ids=${id}`)).body
    const steps = timeline.steps as { step: string; status: string }[]
    expect(steps.map(({ status }) => status)).toContain('FAILED')
    const drawn = row.getByRole('img')
    await until('every step is told', async () => {
      const told = (await drawn.getAttribute('aria-label'))?.split('\n') ?? []
      return steps.every(({ step, status }) => told.some((line) => line.startsWith(`${step}: ${status.toLowerCase()}`)))
    })
    expect(await drawn.locator('.bar').count()).toBe(steps.length)
    expect(await drawn.locator('.bar.failed').count()).toBe(steps.filter(({ status }) => status === 'FAILED').length)
    expect(faults()).toEqual([])
    await close()
  })

  it('show the columns that were chosen, in this browser again', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions')
    const titles = async () => (await page.locator('thead th').allTextContents()).join(' ').trim()
    await page.locator('tbody tr').first().waitFor()
    expect(await titles()).toBe('Status Path Id Started ▼ Lasted Step Events Timeline Why')
    await page.getByText('Columns', { exact: true }).click()
    await page.getByRole('checkbox', { name: 'Id' }).uncheck()
    await page.getByRole('checkbox', { name: 'Last event' }).check()
    const chosen = 'Status Path Started ▼ Lasted Step Last event Events Timeline Why'
    await until('the choice is in force', async () => (await titles()) === chosen)
    await page.reload()
    await page.locator('tbody tr').first().waitFor()
    expect(await titles()).toBe(chosen)
    expect(await page.locator('tbody tr').first().locator('td').count()).toBe(10)
    expect(faults()).toEqual([])
    await close()
  })

  it('are shown one by one: events, a whole event, state, and why they wait', async () => {
    const id = await idOf('RUNNING', 'demo/payment-sync')
    const { page, faults, close } = await browser.open(daemon.url, { permissions: CLIPBOARD })
    await page.goto(`/console/executions/${id}`)
    // Rows that have no answer are asked for again without being moved.
    await page.route(/\/events\?from=/, (route) => route.abort(), { times: 1 })
    await page.getByRole('tab', { name: 'Events' }).click()
    const events = page.getByRole('table', { name: 'Events' })
    expect(await events.getByRole('columnheader').allTextContents()).toEqual([
      ...['Position', 'Time', 'Type', 'Step', 'Status', 'What went wrong'],
    ])
    await events.getByText('command.issued').first().click()
    await page.waitForURL(/event=\d{17}/)
    const event = new URL(page.url()).searchParams.get('event')!
    // The handle goes along with what is looked at.
    await page.waitForURL((address) => address.searchParams.get('at') === `event:${event}`)
    const detail = page.getByRole('complementary', { name: 'Event' })
    await detail.getByText('event_id: ').first().waitFor()
    expect(await detail.textContent()).toContain(event)
    await payloadIsSearchedAndCopied(page, detail, { id, event })

    await page.getByRole('combobox', { name: 'Only of one type' }).selectOption('command.issued')
    await page.waitForURL(/event_type=command.issued/)
    const types = async () => new Set(await events.locator('.event-type').allTextContents())
    await until('that type alone', async () => [...(await types())].join() === 'command.issued')
    await page.getByRole('combobox', { name: 'Only of one status' }).selectOption('started')
    await page.getByText('No event matches.').waitFor()

    await page.getByRole('tab', { name: 'Live state' }).click()
    await page.getByText('execution_id: ').first().waitFor()
    expect(await page.locator('.json').first().textContent()).toContain(`execution_id: ${id}`)
    // A name stands in one line, and not a letter below the other.
    expect((await page.locator('.json .fold .key').first().boundingBox())!.height).toBeLessThan(30)

    await page.keyboard.press('End')
    // Its step was entered, and nobody has its command.
    await page.getByTitle('charge: waiting').waitFor()
    await page.keyboard.press('7')
    await page.waitForURL(/tab=why/)
    await page.locator('.findings li').first().waitFor()
    // What comes and goes (a row that is being published) may be told by one of them alone.
    await until('both tell the same', async () => {
      const told = (await command('state', 'why-stuck', id)).findings as { reason: string }[]
      const shown = await page.locator('.findings h2').allTextContents()
      expect(told.length).toBeGreaterThan(0)
      expect(shown).toEqual(told.map(({ reason }) => expect.stringContaining(reason)))
      return true
    })
    expect(faults()).toEqual([])
    await close()
  })

  it('tell why one has not ended without leaving the list', async () => {
    const id = await idOf('RUNNING', 'demo/payment-sync')
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions?status=RUNNING')
    const name = `Why ${id} has not ended`
    await page.getByRole('button', { name }).click()
    await page.waitForURL((address) => address.searchParams.get('why') === id)
    const drawer = page.getByRole('dialog', { name: 'Why it has not ended' })
    await until('it tells what the command tells', async () => {
      const told = (await command('state', 'why-stuck', id)).findings as { reason: string }[]
      const shown = await drawer.locator('.findings h2').allTextContents()
      expect(told.length).toBeGreaterThan(0)
      expect(shown).toEqual(told.map(({ reason }) => expect.stringContaining(reason)))
      return true
    })
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?status=RUNNING')
    await until(
      'the focus is back',
      async () => (await page.locator('tbody button:focus').getAttribute('aria-label')) === name,
    )
    expect(faults()).toEqual([])
    await close()
  })

  it('are searched as far back as is asked for, where there are many', async () => {
    const id = await idOf('RUNNING', 'demo/payment-sync')
    const { sql } = database.get()
    const [last] = await sql<{ newest: string }>('select max(execution_id)::text as newest from noetl.execution')
    await sql(
      `insert into noetl.execution (execution_id, catalog_id, status, start_time, end_time, stream_version, event_count, path)
       select $1::bigint + n, 1, 'COMPLETED', now(), now(), 1, 1, 'many/others' from generate_series(1, 50000) n`,
      [last!.newest],
    )
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/executions?q=payment-sync')
    await page.getByText('Nothing found so far. Looked at the newest executions').waitFor()
    expect(await page.locator('tbody tr').count()).toBe(0)
    await page.getByRole('button', { name: 'Look further back' }).click()
    await page.locator('tbody code', { hasText: id }).waitFor()
    expect(await page.getByText('Looked at the newest').count()).toBe(0)
    expect(faults()).toEqual([])
    await close()
    await sql(`delete from noetl.execution where path = 'many/others'`)
  })

  /** Keys as they came or sorted; a search shows what was found alone; a line gives its value and where it is, by keys, too. */
  async function payloadIsSearchedAndCopied(page: Page, detail: Locator, { id, event }: Shown): Promise<void> {
    const { body: stored } = await daemon.get(`/api/executions/${id}/events/${event}`)
    const lines = () => detail.locator('.json > .children > .line .key').allTextContents()
    const keysOf = (names: string[]) => names.map((name) => name.replace(/:\s*$/, ''))
    expect(keysOf(await lines())).toEqual(Object.keys(stored))
    await detail.getByRole('button', { name: 'sorted keys' }).click()
    await until('sorted', async () => keysOf(await lines()).join() === Object.keys(stored).toSorted().join())

    await detail.getByRole('searchbox', { name: 'Find in the value' }).fill('NODE_NAME')
    await detail.getByText('1 found').waitFor()
    expect(keysOf(await lines())).toEqual(['node_name'])
    expect(new URL(page.url()).searchParams.get('within')).toBe('NODE_NAME')
    const copied = () => page.evaluate('navigator.clipboard.readText()')
    // Past the switch to the tree, a line down, and past the line to what copies it.
    for (const key of ['Tab', 'Tab', 'ArrowDown', 'Tab', 'Enter']) await page.keyboard.press(key)
    await until('the value is copied', async () => (await copied()) === stored.node_name)
    for (const key of ['Tab', 'Enter']) await page.keyboard.press(key)
    await until('its place is copied', async () => (await copied()) === '/node_name')
    for (const key of ['Shift+Tab', 'Shift+Tab', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
    await until('all of it is folded', async () => (await lines()).length === 0)
    // None of these keys was one of the screen.
    expect(new URL(page.url()).searchParams.get('event')).toBe(event)

    await detail.getByRole('searchbox', { name: 'Find in the value' }).fill('nothing has this')
    await detail.getByText('No key and no value contains it.').waitFor()
    await detail.getByRole('searchbox', { name: 'Find in the value' }).fill('')
    await detail.getByText(`event_id: ${event}`).waitFor()
    await detail.getByRole('button', { name: 'sorted keys' }).click()
  }

  const shared = { daemon: () => daemon, database, browser, command, idOf }
  scrubTests(shared)
  timelineTests(shared)
})
