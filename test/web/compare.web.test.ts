// Promise: two runs are shown beside each other, step by step; where they part is said first, and the link keeps both.
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

describe.skipIf(!hasBrowser)('two runs', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
    await post('/api/catalog/register', { content: DOCUMENT })
    for (const amount of [5, 500, 6]) {
      const { execution_id: id } = await post('/api/execute', { path: 'shop/pair', payload: { amount } })
      ids.push(id)
      await until('it has ended', async () => (await daemon.get(`/api/executions/${id}`)).body.status === 'COMPLETED')
    }
  })
  afterAll(() => daemon?.stop())

  it('are chosen from a run and compared step by step', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`/console/executions/${ids[0]}`)
    await page.locator('main').getByRole('link', { name: 'Compare' }).click()
    await page.getByRole('button', { name: ids[1]! }).click()
    await page.getByText('They part at the step').waitFor()
    const different = await page.locator('tr.different td:first-child').allTextContents()
    expect(different.toSorted()).toEqual(['<b>big</b> different', 'small different'])
    expect(new URL(page.url()).searchParams.get('b')).toBe(ids[1])

    await page.goto(`/console/compare?a=${ids[0]}&b=${ids[2]}`)
    await page.getByText('Every step went the same way.').waitFor()
    expect(await page.locator('tr.different').count()).toBe(0)
    expect(faults()).toEqual([])
    await close()
  })
})
