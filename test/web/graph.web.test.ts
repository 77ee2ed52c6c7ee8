// Promise: the graph of a run shows the playbook it was started from; each step stands as the state at the handle says, arcs
// that were not taken are dotted, and the keyboard walks along the arcs. What a step starts is a link, and the link to the screen shows the same elsewhere.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser, visit } from '../support/webPage.js'

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon
let id: string

const NAMES = ['start', '<b>big</b>', 'small', 'end']
const DOCUMENT = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: branch, path: shop/branch }
workload: { amount: 5 }
workflow:
  - step: start
    tool: { kind: noop, result: "{{ workload.amount }}" }
    next:
      arcs:
        - { step: "<b>big</b>", when: "{{ workload.amount > 100 }}" }
        - { step: small }
  - step: "<b>big</b>"
    tool: { kind: noop, result: 1 }
    next: [end]
  - step: small
    tool: { kind: noop, result: 2 }
    next: [end]
  - step: end
    loop: { in: "{{ [1, 2, 3] }}", iterator: one }
    tool: { kind: noop, result: 3 }
`

const post = async (path: string, body: unknown) => {
  const answer = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return answer.json() as Promise<{ execution_id: string }>
}

describe.skipIf(!hasBrowser)('the graph', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
    await post('/api/catalog/register', { content: DOCUMENT })
    id = (await post('/api/execute', { path: 'shop/branch' })).execution_id
    await until(
      'the run has ended',
      async () => (await daemon.get(`/api/executions/${id}`)).body.status === 'COMPLETED',
    )
  })
  afterAll(() => daemon?.stop())

  it('stands as the state at every position, and draws what was not taken dotted', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`/console/executions/${id}?tab=graph`)
    const steps = page.locator('.graph-step')
    await steps.first().waitFor()
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    const place = async () => Number(await handle.getAttribute('aria-valuenow'))
    const last: number = (await daemon.get(`/api/executions/${id}/events`)).body.total
    await until('all of it is drawn', async () => (await place()) === last)
    expect(await steps.locator('b').allTextContents()).toEqual(NAMES)
    expect(await page.locator('.arc.taken').count()).toBe(2)
    expect(await page.locator('.arc.open').count()).toBe(2)
    expect(await page.locator('.arc.open title').textContent()).toBe('{{ workload.amount > 100 }}')

    expect(await steps.nth(1).textContent()).toContain('skipped')
    await page.getByTitle('<b>big</b>: skipped').waitFor()
    const texts = steps.locator('.muted')
    expect(await texts.nth(0).textContent()).toMatch(/^noop · [\d.]+ m?s$/)
    expect(await texts.nth(3).textContent()).toMatch(/^noop · 3 of 3 · [\d.]+ m?s$/)
    expect(await steps.nth(3).locator('.badge').textContent()).toBe('loop')
    // The loop at one glance: a cell for each of its commands.
    await steps.nth(3).click()
    await page.getByText('3 commands, one cell each').waitFor()
    await page.locator('.iterations-field').click({ position: { x: 20, y: 7 } })
    await page.waitForURL(/sel=command/)
    await page.getByRole('heading', { name: /^command end/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Home')
    for (let position = 1; position <= last; position++) {
      await page.keyboard.press('ArrowRight')
      await until(`position ${position}`, async () => (await place()) === position)
      const words = await steps.locator('.visually-hidden').allTextContents()
      const stepsThat = (isSo: (word: string) => boolean) => NAMES.filter((_, index) => isSo(words[index]!))
      const path = `/api/replay/state?execution_id=${id}&as_of_version=${position}`
      const commands = Object.entries((await daemon.get(path)).body.commands as Record<string, { status: string }>)
      const stepOf = ([key]: [string, unknown]) => key.split(':')[1]!
      expect(stepsThat((word) => word !== 'not yet')).toEqual(expect.arrayContaining(commands.map(stepOf)))
      const ended = commands.filter(([, { status }]) => /^(completed|success)$/i.test(status))
      const completed = [...new Set(ended.map(stepOf))]
      expect(completed).toEqual(expect.arrayContaining(stepsThat((word) => word === 'completed')))
      if (position === last) expect(stepsThat((word) => word === 'completed').toSorted()).toEqual(completed.toSorted())
    }
    expect(faults()).toEqual([])
    await close()
  })

  it('is walked by the arrows, and read as a table', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/catalog/shop/branch?tab=graph')
    await page.locator('.graph-step').first().focus()
    const focused = () => page.locator(':focus').getAttribute('title')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('<b>big</b>')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('end')
    await page.keyboard.press('ArrowUp')
    expect(await focused()).toBe('<b>big</b>')
    await page.getByText('As a table').click()
    await page.getByRole('cell', { name: '<b>big</b> if {{ workload.amount > 100 }}, small' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('leads to the playbook that a step starts, and draws apart what the playbook does not have', async () => {
    const caller = DOCUMENT.replaceAll('shop/branch', 'shop/caller').replace(
      '{ kind: noop, result: 1 }',
      '{ kind: playbook, path: shop/branch }',
    )
    await post('/api/catalog/register', { content: caller })
    const run = (await post('/api/execute', { path: 'shop/caller' })).execution_id
    await until('it has ended', async () => (await daemon.get(`/api/executions/${run}`)).body.status === 'COMPLETED')
    for (const type of ['step.enter', 'step.exit'])
      await post('/api/events', {
        execution_id: run,
        event_type: type,
        node_name: 'of <i>old</i>',
        status: 'COMPLETED',
      })
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`/console/executions/${run}?tab=graph`)
    const apart = page.getByRole('region', { name: 'Not in version 1' })
    await apart.getByRole('button', { name: /^of <i>old<\/i>/ }).click()
    await page.waitForURL(/sel=/)
    await page.getByRole('link', { name: 'playbook shop/branch' }).click()
    await page.waitForURL('**/console/catalog/shop/branch?tab=graph')
    await page.getByRole('heading', { name: 'shop/branch@1' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('is the same at the link that is copied, in another browser', async () => {
    const one = await browser.open(daemon.url, { permissions: ['clipboard-read', 'clipboard-write'] })
    await one.page.goto(`/console/executions/${id}?tab=graph`)
    await one.page.locator('.graph-step').first().waitFor()
    const handle = one.page.getByRole('slider', { name: 'Position in the log' })
    await handle.focus()
    for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'm', 'ArrowRight', 'ArrowRight'])
      await one.page.keyboard.press(key)
    await one.page.locator('.graph-step').nth(2).click()
    // Written down when the handle rests.
    await one.page.waitForURL(({ searchParams: said }) => ['sel', 'at', 'pin'].every((name) => said.has(name)))
    const eventAt = async (position: number): Promise<string> =>
      (await daemon.get(`/api/executions/${id}/events?from=${position}&limit=1`)).body.events[0].event_id
    await until('it is that of the step', async () => {
      const position = Number(await handle.getAttribute('aria-valuenow'))
      return new URL(one.page.url()).searchParams.get('at') === `event:${await eventAt(position)}`
    })
    const link = one.page.url()
    const copied = () => one.page.evaluate('navigator.clipboard.readText()')
    // The clipboard is that of the machine: others may copy something meanwhile.
    await until('the link is copied', async () => {
      await one.page.getByRole('button', { name: /^Copy link|^Copied/ }).click()
      expect(await copied()).toBe(link)
      return true
    })
    const other = await browser.open(daemon.url)
    await other.page.goto(link)
    const seen = async ({ page }: typeof one) => ({
      at: await page.getByRole('slider', { name: 'Position in the log' }).getAttribute('aria-valuenow'),
      tab: await page.getByRole('tab', { selected: true }).allTextContents(),
      steps: await page.locator('.graph-step').allTextContents(),
      chosen: await page.locator('main h2').allTextContents(),
    })
    const shown = await seen(one)
    expect(shown.steps.length).toBe(4)
    await until('the same is seen', async () => {
      expect(await seen(other)).toEqual(shown)
      return true
    })
    // Of every other screen, too; what counts by itself may be later there.
    const told = async ({ page }: typeof one) =>
      (await page.locator('main').textContent())!.replace(/just now|\d\d(:\d\d)+|[\d.]+ (ms|s|m|h)( ago)?/g, 'then')
    for (const place of [
      '?range=6h',
      'executions?path=shop/*&status=COMPLETED&order=oldest',
      `executions/${id}?tab=events&event_type=step.enter&at=event:${await eventAt(2)}`,
      'catalog/shop/branch?tab=versions',
      `compare?a=${id}&b=${id}&at=2&by=offset`,
      'activity?actor=nobody&since=2026-01-01T00:00:00.000Z',
      'help?q=outbox',
    ]) {
      await visit(one.page, `/console/${place}`)
      await until('the link is copied', async () => {
        await one.page.keyboard.press('y')
        return (await copied()) === one.page.url()
      })
      await other.page.goto(one.page.url())
      await until(`the same is seen at ${place}`, async () => {
        const shown = await told(one)
        expect(shown.length).toBeGreaterThan(100)
        expect(other.page.url()).toBe(one.page.url())
        expect(await told(other)).toBe(shown)
        return true
      })
    }
    for (const { faults, close } of [one, other]) {
      expect(faults()).toEqual([])
      await close()
    }
  })
})
