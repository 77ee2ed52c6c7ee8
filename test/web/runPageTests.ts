// Promise: at any event the page of an execution shows the state that replay computes, by checksum, and what the event has
// changed; whatever is chosen shows its life; a long log is drawn before all of it is here. What it shows is in the address.
import { text as textOf } from 'node:stream/consumers'
import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import type { Daemon } from '../support/binary.js'
import type { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import type { useBrowser } from '../support/webPage.js'

interface RunPage {
  daemon(): Daemon
  database: ReturnType<typeof useDatabase>
  browser: ReturnType<typeof useBrowser>
  /** Its answer as JSON. */
  command(...args: string[]): Promise<any>
  /** One that the demo has made. */
  idOf(status: string, path: string): Promise<string>
}

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

/** Faster than the page is drawn. */
const TWO_KEYS_AT_ONCE = `for (const key of ['e', 'e']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`

interface LogEvent {
  position: number
  event_id: string
  node_name: string | null
  worker_id: string | null
  event_type: string
  status: string
  timestamp: string
}

/** What is shown of something that is there now: its values, not what it has not. */
function leavesOf(pointer: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [`${pointer} ${value}`]
  const inside = Object.entries(value).filter(([, one]) => one !== null)
  return inside.flatMap(([name, one]) => leavesOf(`${pointer}/${name}`, one))
}

/** On a daemon with the executions of the demo. */
export function runPageTests({ daemon, database, browser, command, idOf }: RunPage): void {
  it('are scrubbed: at every position the checksum of replay, what changed, and a link that leads back', async () => {
    const id = await idOf('FAILED', 'demo/import-orders')
    const events = await eventsOf(id)
    const last = events.length
    const failure = 1 + events.findIndex((event) => /failed|error/i.test(`${event.event_type} ${event.status}`))
    expect(failure).toBeGreaterThan(2)
    const { page, faults, place, goTo, close } = await openRun(id, last)
    const provesReplay = async (position: number) => {
      const { checksum } = await command('replay', id, '--as-of-version', String(position))
      await page.getByText(`checksum ${checksum.slice(0, 8)}`).waitFor()
    }
    await provesReplay(last)
    await goTo('Home', 0)
    await page.getByText('the state is empty').waitFor()
    await goTo('ArrowRight', 1)
    await provesReplay(1)
    await goTo('n', failure)
    await provesReplay(failure)
    await goTo('ArrowLeft', failure - 1)
    await provesReplay(failure - 1)

    const verdict = page.locator('.proof').getByRole('status')
    await page.getByRole('button', { name: 'Verify' }).click()
    await verdict.getByText('equal', { exact: true }).waitFor()
    // What is shown was folded before somebody changed the log behind our back.
    const retype = (type: string) =>
      database
        .get()
        .sql('update noetl.event set event_type = $3 where execution_id = $1::bigint and event_id = $2::bigint', [
          id,
          events[failure - 2]!.event_id,
          type,
        ])
    await retype('step.note')
    await goTo('ArrowRight', failure)
    await goTo('ArrowLeft', failure - 1)
    await page.getByRole('button', { name: 'Verify' }).click()
    await verdict.getByText(/^different: replay has [0-9a-f]{8}$/).waitFor()
    await retype(events[failure - 2]!.event_type)

    const box = page.getByRole('textbox', { name: 'Go to a moment' })
    const write = async (text: string) => {
      await box.fill(text)
      await box.press('Enter')
    }
    const refused = async (text: string, reason: string) => {
      await write(text)
      await page.getByRole('alert').getByText(reason).waitFor()
      expect([await place(), await box.inputValue()]).toEqual([failure - 1, text])
    }
    await refused('soon', 'is no position (12), version (v12), event id or time')
    await refused('25:00', 'is no position (12), version (v12), event id or time')
    await refused(String(last + 1), `positions from 0 to ${last}`)
    await refused('2001-01-01 00:00Z', 'This log goes from')
    await refused(`v${last + 1}`, `has no event of version ${last + 1}`)
    await refused(`event:${BigInt(events[0]!.event_id) - 1n}`, 'is not in this log')
    await refused('99999999999999999999', 'event')
    const times = events.map(({ timestamp }) => Date.parse(timestamp))
    // Milliseconds are all that is written: several events may share one.
    const second = Math.max(times[0]!, times[1]!)
    const byTime = 1 + times.findLastIndex((at) => at <= second)
    await write(new Date(second).toISOString())
    await until('the time', async () => (await place()) === byTime)
    await write('1')
    await until('the position', async () => (await place()) === 1)
    await write(events[2]!.event_id)
    await until('the event of this id', async () => (await place()) === 3)
    await write('v2')
    await until('the version', async () => (await place()) === 2)
    await write(`+${second - times[0]!}ms`)
    await until('so long after the first event', async () => (await place()) === byTime)
    await write(String(failure - 1))
    await until('the position before the failure', async () => (await place()) === failure - 1)

    await page.getByRole('tab', { name: 'Changes' }).click()
    await page.getByRole('cell', { name: '/event_count' }).waitFor()
    await page.keyboard.press('m')
    await goTo('ArrowRight', failure)
    await until('the address names both moments', () => {
      const { searchParams } = new URL(page.url())
      const isAt = searchParams.get('at') === `event:${events[failure - 1]!.event_id}`
      return isAt && searchParams.get('pin') === `event:${events[failure - 2]!.event_id}`
    })
    await page.getByRole('button', { name: 'until now' }).click()
    await page.getByRole('row', { name: `/event_count ${failure} ${last}` }).waitFor()
    await page.getByRole('button', { name: 'since the pin' }).click()
    await page.getByRole('row', { name: `/event_count ${failure - 1} ${failure}` }).waitFor()
    const scale = page.locator('.scrub-scale')
    const whole = await scale.textContent()
    await page.keyboard.press('w')
    await page.waitForURL(/zoom=0/)
    await until('the scale is nearer', async () => (await scale.textContent()) !== whole)
    const nearer = await scale.textContent()
    const link = page.url()
    await page.goto('/console/executions')
    await page.goto(link)
    await until('the link leads to the same moment', async () => (await place()) === failure)
    await page.getByText(`Pinned at ${failure - 1}`).waitFor()
    await until('as near as the link says', async () => (await scale.textContent()) === nearer)
    await page.keyboard.press('0')
    await page.waitForURL((address) => !address.searchParams.has('zoom'))
    await until('all is shown again', async () => (await scale.textContent()) === whole)
    await page.getByRole('cell', { name: '/event_count' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })

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

    await goTo('Home', 0)
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
    await until('every digit', async () =>
      (await detail.locator('.digits').allTextContents()).join().includes(digits.join()),
    )
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.evaluate(NOTE_COPIED)
    await detail.getByRole('button', { name: `Copy ${large}` }).click()
    await until('it is told', async () => (await page.evaluate('wasTold')) === true)
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(String(large))
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

  it('follow the handle without asking, and mark the event that arrived late, none behind it', async () => {
    const id = await idOf('COMPLETED', 'demo/daily-report')
    const events = await eventsOf(id)
    const last = events.length
    const { page, context, faults, handle, place, close } = await openRun(id, last)
    const completed = page.locator('.counters div', { hasText: 'completed' }).locator('dd')
    await until('something was completed', async () => Number(await completed.textContent()) > 0)
    await context.setOffline(true)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await until('the first event', async () => (await place()) === 1)
    expect(await completed.textContent()).toBe('0')
    expect(await handle.getAttribute('aria-valuetext')).toContain(`event 1 of ${last}`)
    const { node_name: step } = events.find((event) => event.event_type === 'step.enter')!
    const own = events.filter((event) => event.node_name === step).map(({ position }) => position)
    expect(own.length).toBeGreaterThan(2)
    await page.locator('.row-name', { hasText: step! }).click()
    const life = page.getByRole('list', { name: `Events of step ${step}` })
    await until('the life of the step', async () => (await positionsIn(life)).join() === own.join())
    await until('its first event', async () => (await place()) === own[0])
    await page.keyboard.press(']')
    await until('its next event', async () => (await place()) === own[1])
    await life.getByRole('button').nth(2).click()
    await until('the event that was chosen', async () => (await place()) === own[2])
    expect(new URL(page.url()).searchParams.get('sel')).toBe(`step:${step}`)
    await page.keyboard.press('Escape')
    await life.waitFor({ state: 'detached' })
    await context.setOffline(false)

    const ids = events.map((event) => BigInt(event.event_id))
    // So many events are before the one that arrives late.
    const before = ids.findIndex((eventId, index) => index > 0 && eventId - ids[index - 1]! > 1n)
    expect(before).toBeGreaterThan(0)
    const lateId = ids[before]! - 1n
    await page.goto(`/console/executions/${id}?at=event:${ids[before]}`)
    await until('the place of the link', async () => (await place()) === before + 1)
    // It is stored last, with an id between two others.
    await addNote(id, lateId, ids[before]!)
    await until('the same event one place later', async () => (await place()) === before + 2)
    const marked: number[] = []
    await page.keyboard.press('Home')
    for (let position = 1; position <= last + 1; position++) {
      await page.keyboard.press('ArrowRight')
      await until(`position ${position}`, async () => (await place()) === position)
      if (await page.getByText('arrived late', { exact: true }).isVisible()) marked.push(position)
    }
    expect(marked).toEqual([before + 1])
    await page.goto(`/console/executions/${id}?at=event:${lateId}`)
    const { checksum } = await command('replay', id, '--as-of-event', String(lateId))
    await page.getByText(`checksum ${checksum.slice(0, 8)}`).waitFor()
    expect(await place()).toBe(before + 1)

    // Forwards what each event has changed, backwards the whole state: both as replay has them.
    const log = await eventsOf(id)
    const visited = [before, before + 1, before + 2, last, last + 1].filter((position) => position > 1)
    const goTo = async (position: number) => {
      const box = page.getByRole('textbox', { name: 'Go to a moment' })
      await box.fill(String(position))
      await box.press('Enter')
    }
    const changes = async () => {
      const cells = await page.locator('table.changes tbody td').allTextContents()
      return cells.flatMap((cell, index) => (index % 3 === 0 ? [`${cell} ${cells[index + 2]}`] : [])).toSorted()
    }
    await page.getByRole('tab', { name: 'Changes' }).click()
    for (const position of visited) {
      await goTo(position)
      const [from, to] = [log[position - 2]!.event_id, log[position - 1]!.event_id]
      const path = `/api/replay/diff?execution_id=${id}&from=event:${from}&to=event:${to}&ids=string`
      const { differences } = (await daemon().get(path)).body
      const told = differences.flatMap((one: { pointer: string; to: unknown }) => leavesOf(one.pointer, one.to))
      await until(`what event ${position} changed`, async () => (await changes()).join() === told.toSorted().join())
    }
    await page.getByRole('tab', { name: 'State here' }).click()
    for (const position of visited.toReversed()) {
      await goTo(position)
      const path = `/api/replay/state?execution_id=${id}&as_of_event_id=${log[position - 1]!.event_id}`
      const { checksum: replayed } = (await daemon().get(path)).body
      await page.getByText(`checksum ${replayed.slice(0, 8)}`).waitFor()
    }

    const askedFrom: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/tape')) askedFrom.push(searchParams.get('from'))
    })
    await addNote(id, ids.at(-1)! + 1n, ids[before]!)
    await until('the log has grown', async () => Number(await handle.getAttribute('aria-valuemax')) === last + 2)
    expect(new Set(askedFrom)).toEqual(new Set([String(last + 2)]))
    await page.keyboard.press('End')
    const text = `event ${last + 2} of ${last + 2}, step.note`
    await until(
      'its newest event',
      async () => (await handle.getAttribute('aria-valuetext'))?.startsWith(text) === true,
    )
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
    await page.goto(`/console/executions/${id}?sel=step:store`)
    await page.getByText('An overview; the events themselves are on their way.').waitFor()
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    expect(await handle.getAttribute('aria-valuemax')).toBe(String(total))
    expect(await page.locator('.row-name > .ellipsis').allTextContents()).toEqual(['fetch', 'store'])
    const { head } = (await daemon().get(`/api/executions/${id}/at?position=300`)).body
    const box = page.getByRole('textbox', { name: 'Go to a moment' })
    await box.fill('300')
    await box.press('Enter')
    await page.getByTitle('/last_event_id', { exact: true }).getByText(head.last_event_id).waitFor()
    expect(await page.locator('.row-count').count()).toBe(0)

    release()
    await page.locator('.row-count').first().waitFor()
    expect(await page.locator('.row-count').allTextContents()).toEqual(['10,050', '10,050'])
    expect(await handle.getAttribute('aria-valuenow')).toBe('300')
    await page.getByRole('list', { name: 'Events of step store' }).getByText('10,051').waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  /** The page of a run, with all of its log. */
  async function openRun(id: string, last: number) {
    const opened = await browser.open(daemon().url)
    const { page } = opened
    await page.goto(`/console/executions/${id}`)
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    const place = async () => Number(await handle.getAttribute('aria-valuenow'))
    await until('the log is drawn', async () => (await place()) === last)
    const goTo = async (key: string, expected: number) => {
      await page.keyboard.press(key)
      await until(`position ${expected}`, async () => (await place()) === expected)
    }
    return { ...opened, handle, place, goTo }
  }

  async function positionsIn(life: Locator): Promise<number[]> {
    return (await life.locator('.number').allTextContents()).map(Number)
  }

  /** One more event of an execution, stored last, as another one of it. */
  async function addNote(id: string, eventId: bigint, like: bigint, result: string | null = null): Promise<void> {
    await database.get().sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, stream_version, event_type, node_name, status, result)
       select execution_id, $2::bigint, catalog_id, (select max(stream_version) + 1 from noetl.event where execution_id = $1::bigint),
         'step.note', node_name, status, $4::jsonb
       from noetl.event where execution_id = $1::bigint and event_id = $3::bigint`,
      [id, String(eventId), String(like), result],
    )
    await database
      .get()
      .sql('update noetl.execution set event_count = event_count + 1 where execution_id = $1::bigint', [id])
  }

  /** Once nothing is added any more: what was cancelled with a run may be told after its end. */
  async function eventsOf(id: string): Promise<LogEvent[]> {
    let count = -1
    return until(`the log of ${id} rests`, async () => {
      const { events } = (await daemon().get(`/api/executions/${id}/events`)).body
      if (events.length === count) return events
      count = events.length
      return false
    })
  }
}
