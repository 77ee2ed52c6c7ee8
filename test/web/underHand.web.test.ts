// Promise: what somebody is about to do stays what it was, however the screen changes meanwhile: dialogs, chosen rows, drafts, the
// moment and the part of a run that an address names. What cannot be shown or copied is said.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { postTo, startUndriven } from '../support/undriven.js'
import { holds, until } from '../support/until.js'
import { hasBrowser, useBrowser, visit } from '../support/webPage.js'

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon
let env: Record<string, string>

const post = (path: string, body: object) => postTo(daemon, path, body)
const start = (path: string, count: number) => startUndriven(daemon, path, count)

const end = (id: string) => post(`/api/executions/${id}/finalize`, { status: 'COMPLETED' })

async function openAsOperator() {
  const { stdout } = await builtCli(['console', '--print', '--port', new URL(daemon.url).port], { env })
  const opened = await browser.open(daemon.url)
  await opened.page.goto(/http\S+/.exec(stdout)![0])
  await opened.page.getByRole('button', { name: 'operator' }).waitFor()
  return opened
}

describe.skipIf(!hasBrowser)('under the hand', () => {
  beforeAll(async () => {
    env = { NOETL_DATABASE_URL: database.get().url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN }
    daemon = await startDaemon([], { env })
  })
  afterAll(() => daemon?.stop())

  it('a code that was used is in no address any more, and the way to the content is none', async () => {
    const { page, faults, close } = await openAsOperator()
    await page.getByRole('button', { name: '1h' }).click()
    await page.waitForURL(/range=1h/)
    expect(page.url()).not.toContain('#')
    const skip = page.getByRole('link', { name: 'Skip to the content' })
    await skip.focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(page.url()).not.toContain('#')
    expect(faults()).toEqual([])
    await close()
  })

  it('a dialog is never that of another act, and acts on what was chosen', async () => {
    const [single, ...few] = await start('hand/dialogs', 4)
    const { page, faults, close } = await openAsOperator()
    await visit(page, `/console/executions/${single}`)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('stuck')
    await end(single!)
    await page.getByRole('button', { name: 'Run again…' }).waitFor()
    expect(await dialog.count()).toBe(0)

    await visit(page, '/console/executions?status=RUNNING&path=hand/dialogs')
    for (const id of few.slice(0, 2)) await page.getByLabel(`Choose ${id}`).check()
    await page.getByRole('button', { name: 'Rerun…' }).click()
    await dialog.getByText('Dry run: 2 of 2 executions').waitFor()
    await dialog.getByLabel('Reason').fill('to see it again')
    // All that were chosen leave the list.
    for (const id of few) await end(id)
    await page.getByText('Nothing matches these filters').waitFor()
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('to see it again')
    await dialog.getByRole('button', { name: 'Rerun 2 executions' }).click()
    await page.getByRole('region', { name: 'Job' }).getByText('2 of 2: 2 done').waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('the row that was reached by keys stays the same one, and has the focus', async () => {
    const started = await start('hand/rows', 3)
    const { page, close } = await openAsOperator()
    await visit(page, '/console/executions?status=RUNNING&path=hand/rows')
    for (const id of started) await page.locator(`#row-${id}`).waitFor()
    const ids = await page.locator('tbody tr[id]').evaluateAll((rows) => rows.map(({ id }) => id.slice('row-'.length)))
    // Keys count from the moment that the list listens.
    await until('the first is marked', async () => {
      await page.keyboard.press('k')
      return page.locator(`#row-${ids[0]}[aria-selected=true]`).isVisible()
    })
    await page.keyboard.press('j')
    const marked = page.locator(`#row-${ids[1]}[aria-selected=true]`)
    await marked.waitFor()
    await end(ids[0]!)
    await page.locator(`#row-${ids[0]}`).waitFor({ state: 'detached' })
    expect(await marked.count()).toBe(1)
    expect(await page.evaluate(`document.activeElement.closest('tr').id`)).toBe(`row-${ids[1]}`)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/executions/${ids[1]}`))
    await close()
  })

  it('what is written and not registered yet is there again', async () => {
    const { page, close } = await openAsOperator()
    await start('hand/draft', 1)
    await visit(page, '/console/catalog/hand/draft?tab=edit')
    const area = page.getByRole('textbox').last()
    const text = `${await area.inputValue()}# half\n`
    await area.fill(text)
    await page.getByRole('tab', { name: 'Document' }).click()
    await page.goBack()
    expect(await area.inputValue()).toBe(text)
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await area.inputValue()).not.toContain('half')
    await close()
  })

  it('a moment that has no answer is said and asked for again, a zoom goes back, and a run plays from its end', async () => {
    const [id] = await start('hand/moments', 1)
    for (let n = 0; n < 20; n++)
      await post('/api/events', { execution_id: id, event_type: 'step.enter', step: `s${n}` })
    const { events } = (await daemon.get(`/api/executions/${id}/events?limit=20`)).body
    const { page, close } = await openAsOperator()
    let refused = 0
    await page.route(/\/at\?event=/, (route) => {
      refused++
      return route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":"too busy","status":503}' })
    })
    const wanted: string = events[5].event_id
    await visit(page, `/console/executions/${id}?at=event:${wanted}`)
    await page.getByText('The moment of this link could not be found: too busy').waitFor()
    expect([refused > 0, page.url()]).toEqual([true, expect.stringContaining(wanted)])
    await page.unroute(/\/at\?event=/)
    await page.getByRole('button', { name: 'Try again' }).click()
    const slider = page.getByRole('slider')
    await until('it is at that moment', async () => (await slider.getAttribute('aria-valuenow')) === '6')

    await page.keyboard.press('w')
    await page.waitForURL(/zoom=/)
    await page.getByRole('tab', { name: 'Changes' }).click()
    await page.waitForURL(/tab=changes/)
    await page.keyboard.press('0')
    await page.waitForURL((address) => !address.search.includes('zoom'))
    await page.goBack()
    await page.waitForURL(/zoom=/)
    // It rests like that: the address is what is shown.
    await holds('the zoom is in the address', async () => page.url().includes('zoom='))

    await page.keyboard.press('End')
    await until('it is at the end', async () => (await slider.getAttribute('aria-valuenow')) === '21')
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await until('it plays from the start', async () => Number(await slider.getAttribute('aria-valuenow')) < 21)
    await close()
  })

  it('without a clipboard for pages it is copied all the same', async () => {
    const [id] = await start('hand/copied', 1)
    const { page, context, faults, close } = await browser.open(daemon.url, { permissions: ['clipboard-read'] })
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    await page.goto(`/console/executions/${id}`)
    const other = await context.newPage()
    await other.goto('/console/executions')
    const search = other.getByRole('searchbox').first()
    // The clipboard is that of the machine: others may copy something meanwhile.
    await until('it is in the clipboard', async () => {
      await page
        .getByRole('button', { name: new RegExp(`^Cop(y ${id}|ied)$`) })
        .first()
        .click()
      await page.getByRole('button', { name: 'Copied' }).first().waitFor()
      await search.fill('')
      await search.press('Control+V')
      return (await search.inputValue()) === id
    })
    expect(faults()).toEqual([])
    await close()
  })
})
