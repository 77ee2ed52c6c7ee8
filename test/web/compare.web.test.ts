// Promise: two runs are shown beside each other, step by step; where they part is said first. One cursor goes over both, by step
// or by time, and shows what the two events there carry differently. The link keeps both runs and the cursor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon
const ids: string[] = []

const DOCUMENT = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: pair, path: shop/pair }
workload: { amount: 5 }
workflow:
  - step: start
    tool: { kind: noop, result: 1 }
    next:
      arcs:
        - { step: "<b>big</b>", when: "{{ workload.amount > 100 }}" }
        - { step: small }
  - step: "<b>big</b>"
    tool: { kind: noop, result: 1 }
  - step: small
    tool: { kind: noop, result: 2 }
    next: [each]
  - step: each
    loop: { in: "{{ [1, 2, 3] }}", iterator: one }
    tool: { kind: noop, result: "{{ 7 if one < 3 else workload.amount }}" }
`

interface LogEvent {
  event_type: string
  node_name: string | null
}

const isSame = (one: LogEvent, other: LogEvent) =>
  one.event_type === other.event_type && one.node_name === other.node_name

const post = async (path: string, body: unknown) => {
  const answer = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return answer.json() as Promise<{ execution_id: string }>
}

describe.skipIf(!hasBrowser)('two runs', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
    await post('/api/catalog/register', { content: DOCUMENT })
    for (const amount of [5, 500, 5, 6]) {
      const { execution_id: id } = await post('/api/execute', { path: 'shop/pair', payload: { amount } })
      ids.push(id)
      await until('it has ended', async () => (await daemon.get(`/api/executions/${id}`)).body.status === 'COMPLETED')
    }
  })
  afterAll(() => daemon?.stop())

  it('are chosen from a run and compared step by step', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    // The newest page of its runs has none that went well.
    await database.get().sql(
      `insert into noetl.execution (execution_id, catalog_id, status, start_time, end_time, stream_version, event_count, path)
       select $1::bigint + n, 1, 'FAILED', now(), now(), 1, 1, 'shop/pair' from generate_series(1, 50) as n`,
      [ids.at(-1)!],
    )
    await page.goto(`/console/executions/${ids[0]}`)
    await page.getByRole('heading', { level: 1 }).getByRole('link', { name: 'shop/pair@1' }).click()
    await page.getByText('apiVersion: noetl.io/v2').waitFor()
    await page.goBack()
    await page.locator('main').getByRole('link', { name: 'Compare' }).click()
    const other = page.getByRole('button', { name: ids[1]! })
    const others = page.locator('.others li')
    await until('the newest of them', async () => (await others.count()) === 50)
    expect(await other.count()).toBe(0)
    await page.getByRole('button', { name: 'More' }).click()
    await other.waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'completed only' }).click()
    await until('those that went well', async () => (await others.count()) === ids.length - 1)
    await other.click()
    await page.getByText('They part at the step').waitFor()
    const different = await page.locator('tr.different td:first-child').allTextContents()
    expect(different.toSorted()).toEqual(['<b>big</b> different', 'each different', 'small different'])
    expect(new URL(page.url()).search).toBe(`?a=${ids[0]}&b=${ids[1]}`)

    await page.goto(`/console/compare?a=${ids[0]}&b=${ids[2]}`)
    await page.getByText('Every step went the same way. Where both gave a result, it is the same.').waitFor()
    expect(await page.locator('tr.different').count()).toBe(0)

    // The same way with something else in hand: the cursor stands where that came up first.
    await page.goto(`/console/compare?a=${ids[0]}&b=${ids[3]}`)
    await page
      .getByText('Every step went the same way. The first result that differs is that of command each:1:i2.')
      .waitFor()
    const differing = page.getByRole('region', { name: 'Payload' }).locator('tbody tr').filter({ hasText: 'data' })
    await until('what is different is shown', async () => (await differing.count()) === 1)
    expect((await differing.locator('td').allTextContents()).slice(1)).toEqual(['5', '6'])
    expect(await page.locator('tr.different').count()).toBe(0)

    // Of a log that is too long to be drawn nobody knows what is inside of a step: that is no difference.
    await page.route(new RegExp(`${ids[2]}/tape`), (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/level=\w+/, 'level=coarse'),
      }),
    )
    await page.goto(`/console/compare?a=${ids[0]}&b=${ids[2]}`)
    await page.getByText('whole steps are compared').waitFor()
    await page.getByText('Every step went the same way.', { exact: true }).waitFor()
    expect(await page.locator('tr.different').count()).toBe(0)
    expect(faults()).toEqual([])
    await close()
  })

  it('have one cursor, and show what the events under it carry differently', async () => {
    const logs = await Promise.all(
      ids.map(async (id) => (await daemon.get(`/api/executions/${id}/events`)).body.events as LogEvent[]),
    )
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`/console/compare?a=${ids[0]}&b=${ids[1]}`)
    const cursor = page.getByRole('region', { name: 'Cursor over both' })
    const standing = async () =>
      (await cursor.locator('tbody tr').allTextContents()).map((text) => Number(/^[AB](\d+)/.exec(text)?.[1]))
    const payload = page.getByRole('region', { name: 'Payload' })

    await cursor.waitFor()
    await page.keyboard.press('Home')
    await until('before both', async () => String(await standing()) === '0,0')
    await page.keyboard.press('ArrowRight')
    await until('the first of both', async () => String(await standing()) === '1,1')
    const amount = payload.getByRole('row').filter({ hasText: 'amount' })
    await until('what they began with', async () => (await amount.first().locator('td').count()) === 3)
    expect(await amount.first().locator('td').allTextContents()).toEqual([expect.stringMatching(/amount$/), '5', '500'])

    // Wherever A stands, B stands at the same event of the same step, or where both were last together.
    const together = (a: number): number => {
      const sameBefore = (log: LogEvent[], at: number) =>
        log.slice(0, at).filter((event) => isSame(event, log[at]!)).length
      for (let at = a - 1; at >= 0; at--) {
        const found = logs[1]!.findIndex(
          (event, index) => isSame(event, logs[0]![at]!) && sameBefore(logs[1]!, index) === sameBefore(logs[0]!, at),
        )
        if (found >= 0) return found + 1
      }
      return 0
    }
    for (let a = 2; a < logs[0]!.length; a++) {
      await page.keyboard.press('ArrowRight')
      await until(`event ${a} of both`, async () => String(await standing()) === `${a},${together(a)}`)
    }
    await page.getByRole('button', { name: 'same offset' }).click()
    await page.waitForURL(/by=offset/)
    await page.keyboard.press('End')
    await until('the end of both', async () => String(await standing()) === `${logs[0]!.length},${logs[1]!.length}`)

    await page.getByRole('button', { name: 'same step' }).click()
    await page.locator('tr').filter({ hasText: 'start' }).getByRole('button', { name: 'start', exact: true }).click()
    await until('the address has the cursor', async () => {
      const [at] = await standing()
      return at !== logs[0]!.length && new URL(page.url()).searchParams.get('at') === String(at)
    })
    const before = await standing()
    await page.goto(page.url())
    await until('the link stands there', async () => String(await standing()) === String(before))

    await page.goto(`/console/compare?a=${ids[0]}&b=${ids[0]}&at=2`)
    await payload.getByText('Both events carry the same.').waitFor()

    // Of an entry that nobody knows there is no version to tell.
    await database.get().sql('update noetl.execution set catalog_id = 1 where execution_id = $1::bigint', [ids[0]!])
    await page.goto(`/console/compare?a=${ids[0]}&b=${ids[1]}`)
    const names = page.locator('main table').first().locator('tbody a')
    await until('both are named', async () => (await names.count()) === 2)
    expect(await names.allTextContents()).toEqual(['shop/pair', 'shop/pair@1'])
    expect(faults()).toEqual([])
    await close()
  })
})
