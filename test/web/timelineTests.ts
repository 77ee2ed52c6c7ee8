// Promise: the timeline of an execution has its rows by step or by who had the work, plays it at the speed that was chosen, and is
// drawn before all of a long log is here; whatever is chosen shows its life, and an event comes byte for byte.
import { text as textOf } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { until } from '../support/until.js'
import { positionsIn, type RunPage, runPages } from './runPage.js'

/** Where the handle was, when and at which speed, from now on. */
const NOTE_PLACES = `{
  globalThis.visits = []
  const handle = document.querySelector('[role=slider]')
  const speed = document.querySelector('[aria-label="Speed of playing"]')
  const note = () => visits.push({
    position: Number(handle.getAttribute('aria-valuenow')), speed: speed.value, atMs: performance.now(),
  })
  new MutationObserver(note).observe(handle, { attributeFilter: ['aria-valuenow'] })
}`

/** Whether it was told that something was copied, from now on: it is told for a moment only. */
const NOTE_COPIED = `{
  globalThis.wasTold = false
  const note = () => { wasTold ||= document.querySelector('[aria-label=Copied]') !== null }
  new MutationObserver(note).observe(document.body, { subtree: true, attributeFilter: ['aria-label'] })
}`

/** Where the line of the handle is on the scrubber and on the timeline: in their first row of pixels nothing else is. */
const LINES = `['.scrub-track canvas', '.timeline canvas'].map((which) => {
  const canvas = document.querySelector(which)
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, 1)
  const [red, green, blue] = getComputedStyle(document.body).color.match(/\\d+/g).map(Number)
  const isInk = (x) => data[4 * x] === red && data[4 * x + 1] === green && data[4 * x + 2] === blue
  return Array.from({ length: canvas.width }, (_, x) => x).filter(isInk).join()
})`

/** What the first row of the timeline has in the middle: paint that is no background, and a line of ink below it. */
const ROW_AT_HALF = `(() => {
  const canvas = document.querySelector('.timeline canvas')
  const { data } = canvas.getContext('2d').getImageData(Math.round(canvas.width / 2), 0, 1, 26)
  const at = (y) => data.slice(4 * y, 4 * y + 3).join()
  const ink = getComputedStyle(document.body).color.match(/\\d+/g).join()
  const bar = at(13) === at(1) ? 'nothing' : 'bar'
  return at(23) === ink ? bar + ', underlined' : bar
})()`

/** Faster than the page is drawn. */
const TWO_KEYS_AT_ONCE = `for (const key of ['e', 'e']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`

/** On a daemon with the executions of the demo. */
export function timelineTests(shared: RunPage): void {
  const { daemon, database, browser, idOf } = shared
  const { openRun, addNote, eventsOf } = runPages(shared)

  it('are grouped by who had the work, played, and shown byte for byte', async () => {
    const id = await idOf('FAILED', 'demo/import-orders')
    const events = await eventsOf(id)
    const last = events.length
    const times = events.map(({ timestamp }) => Date.parse(timestamp))
    const { page, context, faults, place, goTo, close } = await openRun(id, last)
    const labelsOf = async () => page.locator('.scrub-scale span').allTextContents()
    for (const key of ['w', 'w', 'w', 'e', 'e', 'e']) {
      const before = page.url()
      await page.keyboard.press(key)
      await page.waitForURL((address) => address.href !== before)
      const labels = await labelsOf()
      expect(labels.length).toBeGreaterThan(0)
      expect(new Set(labels).size).toBe(labels.length)
    }
    await page.evaluate(TWO_KEYS_AT_ONCE)
    await page.waitForURL(/axis=work/)
    await page.keyboard.press('e')
    await page.waitForURL((address) => !address.searchParams.has('axis'))
    await page.keyboard.press('0')

    const rows = page.getByRole('combobox', { name: 'Rows' })
    const rowNames = () => page.locator('.row-name > .ellipsis').allTextContents()
    const { worker_id: worker } = events.find((event) => event.worker_id !== null)!
    await rows.selectOption('by worker')
    await until('a row for the worker', async () => (await rowNames()).join() === worker)
    await page.locator('.row-name').click()
    const [ofCommands] = await database.get().sql<{ positions: string; pools: string }>(
      `select string_agg(place::text, ',' order by place) as positions, string_agg(distinct meta->>'execution_pool', ',') as pools
       from (select *, row_number() over (order by event_id) as place from noetl.event where execution_id = $1::bigint) as log
       where coalesce(command_id::text, meta->>'command_id') is not null`,
      [id],
    )
    const life = page.getByRole('list', { name: `Events of worker ${worker}` })
    await until('what it had to do', async () => (await positionsIn(life)).join() === ofCommands!.positions)
    await rows.selectOption('by pool')
    await until('a row for the pool', async () => (await rowNames()).join() === ofCommands!.pools)
    await page.waitForURL(/lanes=pool/)
    await rows.selectOption('by step')
    await page.keyboard.press('Escape')

    for (const [key, position] of [
      ['End', last],
      ['ArrowLeft', last - 1],
      ['Home', 0],
    ] as const) {
      await goTo(key, position)
      const lines = await until('both lines are drawn', async () => {
        const [above, below] = (await page.evaluate(LINES)) as [string, string]
        return above !== '' && below !== '' && { above, below }
      })
      expect(lines.below).toBe(lines.above)
    }
    await page.evaluate(NOTE_PLACES)
    const visits = async () => (await page.evaluate('visits')) as { position: number; speed: string; atMs: number }[]
    const speed = page.getByRole('combobox', { name: 'Speed of playing' })
    await speed.selectOption('one event a second')
    await page.keyboard.press('Space')
    const [one, two] = await until('two events were played', async () => {
      const seen = await visits()
      return seen.length >= 2 && seen
    })
    expect([one!.position, two!.position]).toEqual([1, 2])
    expect(two!.atMs - one!.atMs).toBeGreaterThan(900)
    await speed.selectOption('100×')
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
    expect(await place()).toBe(last)
    // Five seconds of the run are one drawing.
    const drawings = (await visits()).filter((visit) => visit.speed === '100').length
    expect(drawings).toBeGreaterThan(0)
    expect(drawings).toBeLessThanOrEqual(3 + (2 * (Math.max(...times) - Math.min(...times))) / 5_000)

    const raw = page.getByRole('region', { name: 'Raw' })
    const text = async (path: string) => (await fetch(daemon().url + path)).text()
    const shows = (what: string) => until('the text', async () => (await raw.locator('pre').textContent()) === what)
    const large = BigInt(events.at(-1)!.event_id) + 1n
    const digits = ['9007199254740993', '123456789012345678901234567890', '0.1000000000000000055511151231257827']
    const note = `{"numbers": [${digits.join()}], "note": "${'n'.repeat(300_000)}"}`
    await addNote(id, large, BigInt(events.at(-1)!.event_id), note)
    await goTo('3', last + 1)
    const detail = page.getByRole('complementary', { name: 'Event' })
    // Of so much text the beginning, all of it on request.
    await until('its beginning', async () => (await detail.locator('pre').textContent())?.length === 256 * 1_024)
    await detail.getByRole('link', { name: 'Download' }).waitFor()
    await detail.getByRole('button', { name: 'Show all of it as a tree' }).click()
    await until('every digit', async () =>
      (await detail.locator('.digits').allTextContents()).join().includes(digits.join()),
    )
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.evaluate(NOTE_COPIED)
    const copied = () => page.evaluate('navigator.clipboard.readText()')
    await detail.getByRole('button', { name: `Copy ${large}` }).click()
    await until('it is told', async () => (await page.evaluate('wasTold')) === true)
    expect(await copied()).toBe(String(large))
    for (const number of digits) {
      await detail.locator('.line.leaf', { hasText: number }).first().click()
      await detail.getByRole('button', { name: 'Copy value' }).click()
      await until('every digit is copied', async () => (await copied()) === number)
    }
    await page.keyboard.press('9')
    const stored = await text(`/api/executions/${id}/events/${large}`)
    await shows(stored.slice(0, 256 * 1_024))
    await raw.getByText('The first 256 KB are shown').waitFor()
    const saved = page.waitForEvent('download')
    await raw.getByRole('link', { name: 'Download' }).click()
    expect(await textOf(await (await saved).createReadStream())).toBe(stored)
    await goTo('ArrowLeft', last)
    await raw.getByRole('button', { name: 'state' }).click()
    await shows(await text(`/api/replay/state?execution_id=${id}&as_of_event_id=${events.at(-1)!.event_id}`))
    expect(faults()).toEqual([])
    await close()
  })

  it('begin by the clock when it happened, and are underlined when they are chosen', async () => {
    const id = String(BigInt(await idOf('COMPLETED', 'demo/daily-report')) + 2n)
    const log = [
      ['playbook_started', 'shop/late', 'STARTED', 0],
      ['step.enter', 'fetch', 'ENTERED', 9],
      ['command.issued', 'fetch', 'PENDING', 9],
      ['command.claimed', 'fetch', 'RUNNING', 9],
      ['command.completed', 'fetch', 'COMPLETED', 10],
      ['step.exit', 'fetch', 'COMPLETED', 10],
    ] as const
    await database.get().sql(
      `insert into noetl.execution (execution_id, catalog_id, status, start_time, stream_version, event_count, path)
       values ($1::bigint, 1, 'RUNNING', now(), $2::int, $2::int, 'shop/late')`,
      [id, log.length],
    )
    for (const [index, [type, step, status, second]] of log.entries()) {
      await database.get().sql(
        `insert into noetl.event
           (execution_id, event_id, catalog_id, stream_version, event_type, node_name, status, meta, created_at, event_time)
         select $1::bigint, $1::bigint + $2::int, 1, $2::int, $3, $4, $5, $6::jsonb, moment at time zone 'UTC', moment
         from (select timestamptz '2026-11-01 12:00:00Z' + $7::int * interval '1 second' as moment) as clock`,
        [id, index + 1, type, step, status, type.startsWith('command') ? '{"command_id": "c1"}' : '{}', second],
      )
    }
    const { page, faults, close } = await browser.open(daemon().url)
    const shown = async (address: string): Promise<string> => {
      await page.goto(`/console/executions/${id}?${address}`)
      await page.locator('.row-name').getByText('fetch').waitFor()
      return page.evaluate(ROW_AT_HALF)
    }
    await until('its bar is as wide by event', async () => (await shown('')) === 'bar')
    await until('nothing was going on by the clock', async () => (await shown('axis=time')) === 'nothing')
    await until('and nothing is marked', async () => (await shown('sel=command:c2')) === 'bar')
    await until('what is chosen is', async () => (await shown('sel=command:c1')) === 'bar, underlined')
    expect(faults()).toEqual([])
    await close()
  })

  it('are drawn as an overview first where the log is long, and in full once it is here', async () => {
    const id = String(BigInt(await idOf('COMPLETED', 'demo/daily-report')) + 1n)
    const total = 20_100
    await database.get().sql(
      `insert into noetl.execution (execution_id, catalog_id, status, start_time, stream_version, event_count, path)
       values ($1::bigint, 1, 'CANCELLED', now(), $2::int, $2::int, 'shop/long')`,
      [id, total],
    )
    await database.get().sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, stream_version, event_type, node_name, status, meta)
       select $1::bigint, $1::bigint + n, 1, n, 'command.issued', case when n <= $2::int / 2 then 'fetch' else 'store' end,
         'PENDING', jsonb_build_object('command_id', 'c' || n)
       from generate_series(1, $2::int) as n`,
      [id, total],
    )
    // It takes as long as it takes; the page then has it at once.
    await until('the log is read', async () => {
      const { headers } = await fetch(`${daemon().url}/api/executions/${id}/tape?level=coarse&wait_ms=30000`)
      return headers.get('x-noetl-tape-built') === String(total)
    })
    const { page, faults, close } = await browser.open(daemon().url)
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/level=full/, async (route) => {
      await released
      await route.continue()
    })
    // The way is cut once, at the first question for it.
    let isCut = false
    await page.route(/tape\?/, async (route) => {
      if (isCut) return route.fallback()
      isCut = true
      await route.abort()
    })
    await page.goto(`/console/executions/${id}?sel=step:store`)
    await page.getByText('An overview; the events themselves are on their way.').waitFor()
    expect([isCut, await page.getByText('could not be loaded').count()]).toEqual([true, 0])
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    expect(await handle.getAttribute('aria-valuemax')).toBe(String(total))
    expect(await page.locator('.row-name > .ellipsis').allTextContents()).toEqual(['fetch', 'store'])
    const { head } = (await daemon().get(`/api/executions/${id}/at?position=300`)).body
    const box = page.getByRole('textbox', { name: 'Go to a moment' })
    await box.fill('300')
    await box.press('Enter')
    await page.getByTitle('/last_event_id', { exact: true }).getByText(head.last_event_id).waitFor()
    expect(await page.locator('.row-count').count()).toBe(0)
    // The daemon tells the events apart, whether they are drawn or not.
    await page.locator('.scrub-event').getByText('command.issued').waitFor()
    await page.locator('.counters').getByText('300', { exact: true }).first().waitFor()
    expect(await handle.getAttribute('aria-valuetext')).toBe(
      'event 300 of 20,100, command.issued, step fetch, 0 running',
    )
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('combobox', { name: 'Only of one type' }).selectOption('command.issued')
    await page.getByText('20,100 events', { exact: true }).waitFor()

    release()
    await page.locator('.row-count').first().waitFor()
    expect(await page.locator('.row-count').allTextContents()).toEqual(['10,050', '10,050'])
    expect(await handle.getAttribute('aria-valuenow')).toBe('300')
    await page.getByRole('list', { name: 'Events of step store' }).getByText('10,051').waitFor()
    expect(faults()).toEqual([])
    await close()
  })
}
