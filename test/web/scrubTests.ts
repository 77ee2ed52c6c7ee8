// Promise: at any event the page of an execution shows the state that replay computes, by checksum, and what the event has
// changed, also where it arrived late. What it shows is in the address.
import { expect, it } from 'vitest'
import { holds, until } from '../support/until.js'
import { positionsIn, type RunPage, runPages } from './runPage.js'

/** What is shown of something that is there now: its values, not what it has not. */
function leavesOf(pointer: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [`${pointer} ${value}`]
  const inside = Object.entries(value).filter(([, one]) => one !== null)
  return inside.flatMap(([name, one]) => leavesOf(`${pointer}/${name}`, one))
}

/** On a daemon with the executions of the demo. */
export function scrubTests(shared: RunPage): void {
  const { daemon, database, command, idOf } = shared
  const { openRun, addNote, eventsOf } = runPages(shared)

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
    // A proof that is refused is told as long as there is none, although everything else is there.
    const proof = /\/checksum\?position=1$/
    await page.route(proof, (route) => route.fulfill({ status: 503, json: { error: 'too busy', status: 503 } }))
    await goTo('ArrowRight', 1)
    const refusal = page.getByText('Shown as it was: too busy')
    await refusal.waitFor()
    await holds('it is told', () => refusal.isVisible())
    await page.unroute(proof)
    await goTo('ArrowLeft', 0)
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
    await page.getByRole('button', { name: 'since the event before' }).click()
    await page.waitForURL(/against=before/)
    await page.getByRole('button', { name: 'since the pin' }).click()
    // The state is the difference between both as long as there are two, in the order of the log.
    await page.getByRole('tab', { name: 'State here' }).click()
    const state = page.locator('.moment')
    const columns = () => state.getByRole('columnheader').allTextContents()
    await state.getByRole('row', { name: `/event_count ${failure - 1} ${failure}` }).waitFor()
    expect(await columns()).toEqual(['Where', `At ${failure - 1}, pinned`, `At ${failure}`])
    await goTo('Home', 0)
    await state.getByRole('row', { name: `/event_count 0 ${failure - 1}` }).waitFor()
    expect(await columns()).toEqual(['Where', 'At 0', `At ${failure - 1}, pinned`])
    await state.getByRole('button', { name: 'Unpin' }).click()
    await page.getByText('the state is empty').waitFor()
    await page.getByRole('button', { name: 'Next failure' }).click()
    await until('the failure', async () => (await place()) === failure)
    await goTo('ArrowLeft', failure - 1)
    await page.keyboard.press('m')
    await goTo('ArrowRight', failure)
    await page.waitForURL(/pin=event/)
    await page.getByRole('tab', { name: 'Changes' }).click()
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
}
