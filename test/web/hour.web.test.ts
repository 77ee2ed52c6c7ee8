// Promise: a page that is followed for an hour, with something new in every second of it, keeps nothing of that: neither memory nor
// nodes grow. The hour passes by the clock of the page.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { IS_LONG } from '../support/scale.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

const SECONDS = 3_600
/** Until everything was loaded, drawn and compiled. */
const WARM_SECONDS = 300
const MORE_BYTES = 2_000_000
const MORE_NODES = 100
const TIMEOUT_MS = 1_800_000

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon

const post = async (path: string, body: object): Promise<any> => {
  const answer = await fetch(new URL(path, daemon.url), { method: 'POST', body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
  return answer.json()
}

describe.skipIf(!hasBrowser || !IS_LONG)('an hour of news', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
    await post('/api/catalog/register', { content: playbook('shop/live') })
    await post('/api/execute', { path: 'shop/live', driven: false })
  })
  afterAll(() => daemon?.stop())

  it.each(['executions', ''])(
    'leaves nothing behind on /console/%s',
    async (place) => {
      const { page, context, faults, close } = await browser.open(daemon.url)
      // Their time and their requests are not in the hands of a test.
      await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'))
      let asked = 0
      page.on('requestfinished', () => {
        asked += 1
      })
      await page.clock.install()
      await page.goto(`/console/${place}`)
      await page.getByRole('button', { name: 'live', exact: true }).waitFor()
      await page.locator('tbody tr').first().waitFor()
      const devtools = await context.newCDPSession(page)
      const kept = async () => {
        await devtools.send('HeapProfiler.collectGarbage')
        const { usedSize } = await devtools.send('Runtime.getHeapUsage')
        const { nodes } = await devtools.send('Memory.getDOMCounters')
        return { bytes: usedSize, nodes }
      }
      await pass(page, WARM_SECONDS)
      const before = await kept()
      const askedBefore = asked
      await pass(page, SECONDS)
      // It was alive all the time.
      expect(asked - askedBefore).toBeGreaterThan(SECONDS / 20)
      await until('memory and nodes are as before', async () => {
        const after = await kept()
        expect(after.bytes).toBeLessThan(before.bytes + MORE_BYTES)
        expect(after.nodes).toBeLessThan(before.nodes + MORE_NODES)
        return true
      })
      expect(faults()).toEqual([])
      await close()
    },
    TIMEOUT_MS,
  )

  /** So many seconds of the page, each with a run that begins and one that ends. */
  async function pass(page: Page, seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      const { execution_id: id } = await post('/api/execute', { path: 'shop/live', driven: false })
      await post(`/api/executions/${id}/cancel`, {})
      await page.clock.runFor(1_000)
    }
  }
})
