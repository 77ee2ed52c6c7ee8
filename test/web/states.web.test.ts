// Promise: no screen is ever blank. What is empty says what fills it, what is refused who may see it, what is missing which shard holds
// it, what failed why; each is reached here by its real cause, and its advice works when it is followed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shardOf } from '../../src/domain/shards/shards.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { holds, until } from '../support/until.js'
import { hasBrowser, useBrowser, visit, type WebPage } from '../support/webPage.js'

const EXAMPLES = new URL('../../', import.meta.url)
const WRITTEN = 'orders.yaml'
const databases = [useDatabase(), useDatabase()] as const
const browser = useBrowser()
let proxy: TcpProxy
let daemon: Daemon
let env: Record<string, string>
let folder: string
let opened: WebPage

/** A command as the page tells it, word for word. */
async function follow(told: string | null): Promise<string> {
  const [program, ...words] = told!.split(' ')
  expect(program).toBe('noetl-cp')
  const place = (word: string) => {
    if (word === WRITTEN) return join(folder, word)
    return word.startsWith('examples/') && word.endsWith('.yaml') ? new URL(word, EXAMPLES).pathname : word
  }
  const args = words.map(place)
  const { code, stdout, stderr } = await builtCli([...args, '--port', new URL(daemon.url).port], { env })
  expect([code, stderr]).toEqual([0, expect.anything()])
  // Some screens hear of it only now and then.
  await opened.page.reload()
  return stdout
}

/** The command in the middle of an empty or refused panel, the n-th of them. */
const advice = (page: Page, place = 0) => page.locator('main .empty code, main .refusal code').nth(place).textContent()

/** An active one whose own log is on the first shard. */
async function webhookOnFirstShard(): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(new URL(path, daemon.url), { method: 'POST', body: JSON.stringify(body) })
    expect(answer.status).toBe(200)
    return (await answer.json()) as { subscription_id: string }
  }
  for (let n = 1; ; n++) {
    const content = `apiVersion: noetl.io/v2
kind: Subscription
metadata: { name: hook, path: shop/hook-${n} }
spec:
  source: webhook
  mode: push
  ingress: { gateway_path: /hooks/states-${n}, verify: { type: bearer, secret: states_hook } }
  dispatch: { playbook: examples/hello }
`
    await post('/api/catalog/register', { content })
    const { subscription_id: id } = await post('/api/subscriptions', { path: `shop/hook-${n}` })
    if (shardOf(id, 2) !== 0) continue
    await post(`/api/subscriptions/${id}/activate`, {})
    return id
  }
}

/** An answer that comes after the pause is over: nobody is told any more how it stands. */
async function resumeWhileItIsAskedAgain(page: Page): Promise<void> {
  const detail = { state: 'PAUSED', unstopped_shards: [1] }
  const unstopped = { status: 503, json: { error: 'not stopped', status: 503, detail } }
  const pauses: Route[] = []
  const act = async (name: string, state: string) => {
    await page.getByRole('button', { name: `${name}…` }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('look at it')
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
    await page.getByRole('img', { name: `Lifecycle: ${state};` }).waitFor()
  }
  await page.route('**/pause', async (route) => {
    if (pauses.push(route) > 1) return
    await route.fetch()
    await route.fulfill(unstopped)
  })
  await act('Resume', 'active')
  await act('Pause', 'paused')
  await until('it is asked again', () => pauses.length === 2)
  await act('Resume', 'active')
  await pauses[1]!.fulfill(unstopped)
  await holds('nothing is told of the pause', async () => (await page.getByText('It is paused;').count()) === 0)
  await page.unroute('**/pause')
}

describe.skipIf(!hasBrowser)('a screen', () => {
  beforeAll(async () => {
    const [first, second] = databases.map((database) => new URL(database.get().url)) as [URL, URL]
    proxy = await startTcpProxy(second.hostname, Number(second.port))
    second.port = String(proxy.port)
    env = {
      NOETL_SHARDS: `${first},${second}`,
      NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
      NOETL_CP_ADOPT_INTERVAL: '0.1',
      NOETL_CP_PG_CONNECT_TIMEOUT: '1',
    }
    folder = mkdtempSync(join(tmpdir(), 'noetl-states-'))
    daemon = await startDaemon([], { env })
    opened = await browser.open(daemon.url)
  })
  afterAll(async () => {
    await daemon?.stop()
    await proxy?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true })
  })

  it('that is empty says what fills it, and that does', async () => {
    const { page } = opened
    await page.goto('/console/')
    await page.getByText('No executions yet').waitFor()
    expect(await page.locator('main p code').first().textContent()).toBe('noetl-cp demo')
    await page.goto('/console/activity')
    await page.getByText('Nobody has done anything yet').waitFor()
    await page.goto('/console/executions/1')
    const sentence = await page.getByText('There is no execution at all.').boundingBox()
    expect(sentence!.height).toBeLessThan(30)

    await page.goto('/console/catalog')
    await page.getByText('The catalog is empty').waitFor()
    await follow(await advice(page))
    await page.getByRole('link', { name: /hello/ }).first().waitFor()

    await page.goto('/console/executions')
    await page.getByText('No executions yet').waitFor()
    await follow(await advice(page))
    await page.locator('tbody tr').first().waitFor()

    await page.goto('/console/subscriptions')
    await page.getByText('No subscriptions yet').waitFor()
    writeFileSync(join(folder, WRITTEN), (await page.locator('main pre').textContent())!)
    for (const told of [await advice(page, 0), await advice(page, 1)]) await follow(told)
    await page.getByRole('link', { name: 'shop/orders' }).waitFor()

    await page.goto('/console/snapshots')
    await page.getByText('No snapshots are stored').waitFor()
    const { body } = await daemon.get('/api/executions')
    await follow((await advice(page))!.replace('<execution id>', body[0].execution_id))
    await page.locator('tbody tr').first().waitFor()

    for (const [place, text] of [
      ['activity?actor=nobody-at-all', 'Nobody has done anything that matches'],
      ['compare', 'Open an execution in the'],
    ]) {
      await page.goto(`/console/${place}`)
      await page.locator('main').getByText(text!).first().waitFor()
    }
  })

  it('that is for operators says so, as the server does, and opens after the login it tells of', async () => {
    const { page } = opened
    for (const place of ['outbox', 'doctor', 'settings']) {
      await page.goto(`/console/${place}`)
      await page.getByRole('alert').getByText('this needs the role operator').waitFor()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    }
    const statuses = await page.evaluate(`Promise.all([
      ...['doctor', 'settings', 'internal/outbox/status', 'internal/outbox/dead'].map((path) => fetch('/api/' + path)),
      ...['bulk', 'internal/outbox/redrive', 'internal/snapshots/prune', 'commands/1/requeue'].map((path) =>
        fetch('/api/' + path, { method: 'POST', headers: { 'x-noetl-csrf': '1' }, body: '{}' })),
    ].map(async (answer) => (await answer).status))`)
    expect(statuses).toEqual(Array.from({ length: 8 }, () => 403))
    const login = await follow(`${await advice(page)} --print`)
    await page.goto(/http\S+/.exec(login)![0])
    await page.getByRole('button', { name: 'operator' }).waitFor()
    await page.goto('/console/doctor')
    await page.getByRole('heading', { name: 'Doctor' }).waitFor()
    await until('it is shown', async () => (await page.locator('main [role=alert]').count()) === 0)
    const [run] = (await daemon.get('/api/executions?limit=1&ids=string')).body
    for (const [place, text] of [
      ['outbox?tab=dead', 'Nothing was given up'],
      ['outbox?tab=dead&reason=nothing', 'No dead row has this reason any more.'],
      ['outbox?tab=rows&status=IN_FLIGHT', 'No row of the outbox matches.'],
      ['subscriptions?state=DRAINING', 'No subscription matches these filters.'],
      ['catalog?q=nothing', 'No entry matches.'],
      ['help?q=nothing-like-this', 'Nothing of the API matches.'],
      ['jobs', 'No job was started.'],
      [`executions/${run.execution_id}?at=start&tab=event`, 'Nothing has happened yet.'],
    ]) {
      await visit(page, `/console/${place}`)
      await page.locator('main').getByText(text!).first().waitFor()
    }
  })

  it('whose part does not answer names it beside the rest, until it does', async () => {
    const { page } = opened
    const ids: string[] = (await daemon.get('/api/executions')).body.map(
      (row: { execution_id: string }) => row.execution_id,
    )
    while (new Set(ids.map((id) => shardOf(id, 2))).size < 2) {
      ids.unshift((await follow('noetl-cp execution start examples/hello')).trim().split(/\s+/).at(-1)!)
    }
    for (const database of databases) {
      await database.get().sql(
        `insert into noetl.outbox (execution_id, event_id, subject, payload, status, attempts, last_error)
         select n, n, 's', '{}', 'DEAD', 9, 'too large' from generate_series(1, 2) as n`,
      )
    }
    const hook = await webhookOnFirstShard()
    await page.goto('/console/executions')
    const shown = async () => (await page.locator('tbody code').allTextContents()).toSorted()
    await until('all are shown', async () => (await shown()).length === ids.length)
    proxy.setMode('refuse')
    const notice = page.getByText('Shard 1 did not answer: what it holds is missing here.')
    await notice.waitFor()
    const others = ids.filter((id) => shardOf(id, 2) === 0).toSorted()
    await until('the others are shown', async () => (await shown()).join() === others.join())
    for (const tab of ['rows&status=DEAD', 'dead&rows=all']) {
      await page.goto(`/console/outbox?tab=${tab}`)
      await notice.waitFor()
      expect(await page.locator('tbody tr').count()).toBe(2)
    }
    await page.goto('/console/')
    await page
      .getByText(/shard 1|shard1/i)
      .first()
      .waitFor()
    await page.getByText('Needs attention').waitFor()

    // A pause holds, though a shard cannot be told: that is a state, which ends by itself.
    await page.goto(`/console/subscriptions/${hook}`)
    await page.getByRole('button', { name: 'Pause…' }).click()
    await page.getByLabel('Reason').fill('look at it')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('It is paused; deliveries not stopped on shard 1 yet.').waitFor()
    await page.getByRole('img', { name: 'Lifecycle: paused;' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    proxy.setMode('pass')
    await page.getByText('Deliveries have stopped.').waitFor()
    await resumeWhileItIsAskedAgain(page)
    proxy.setMode('refuse')

    const lost = ids.find((id) => shardOf(id, 2) === 1)!
    await page.goto(`/console/executions/${lost}`)
    const refusal = page.getByRole('alert')
    await refusal.getByRole('heading', { name: 'Not available now' }).waitFor()
    expect(await refusal.textContent()).toContain(`GET /api/executions/${lost}`)
    proxy.setMode('pass')
    await until('the daemon has it back', async () => (await daemon.get(`/api/executions/${lost}`)).status === 200)
    await refusal.getByRole('button', { name: 'Try again' }).or(page.locator('main h1')).first().click()
    await page.locator('main h1', { hasText: 'hello' }).waitFor()
    await page.goto('/console/executions')
    await until('all are shown again', async () => (await shown()).length === ids.length)
    expect(await notice.count()).toBe(0)
    await page.goto('/console/outbox?tab=dead&rows=all')
    await until('rows of both shards', async () => (await page.locator('tbody tr').count()) === 4)
    expect(await notice.count()).toBe(0)
    // What was ticked is what a key asks about.
    await page.getByLabel('Choose row').first().check()
    await page.keyboard.press('d')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Dry run: 1 row would come back').waitFor()
    await page.keyboard.press('Escape')
    // Each database brings its own back: what one of them has done is told where the other one refuses.
    for (const row of await page.getByLabel('Choose row').all()) await row.check()
    await page.keyboard.press('d')
    await dialog.getByText('Dry run: 4 rows would come back').waitFor()
    let asked = 0
    await page.route('**/redrive', async (route) => {
      if (++asked === 1) await route.continue()
      else await route.fulfill({ status: 503, json: { error: 'it is away', status: 503 } })
    })
    await dialog.getByLabel('Reason').fill('back again')
    await dialog.getByRole('button', { name: 'Requeue 4 rows' }).click()
    await dialog.getByRole('alert').getByText('2 rows came back; then: it is away').waitFor()
    await page.unroute('**/redrive')
  })

  it('that is refused tells the reason in the words of the server, and what was asked', async () => {
    const { page, faults } = opened
    const refusal = page.getByRole('alert')
    const tells = async (path: string, ...texts: string[]) => {
      await page.goto(path)
      for (const text of texts) await refusal.getByText(text).first().waitFor()
    }
    await tells('/console/executions/1', 'Not found', 'GET /api/executions/1?events=0')
    await tells('/console/executions?min_seconds=soon', 'min_seconds must be a number of seconds')
    await tells('/console/subscriptions/1', 'Not found')
    await tells('/console/catalog/no/such', 'Not found')
    await page.goto('/console/nowhere')
    await page.locator('main').getByRole('link').first().waitFor()
    expect(faults()).toEqual([])
  })

  it('of an id that nobody knows tells the nearest ids and the shard it would be on, of a run without events who created it', async () => {
    const { page, faults } = opened
    const known = BigInt((await daemon.get('/api/executions?limit=1')).body[0].execution_id)
    const unknown = known + 1n
    await page.goto(`/console/executions/${unknown}`)
    await page.getByText(`It would be on shard ${shardOf(unknown, 2)} of 2`).waitFor()
    await page.getByRole('region', { name: 'Nearest ids' }).getByRole('link').first().click()
    await page.waitForURL(`**/console/executions/${known}`)
    await page.getByRole('tab', { name: 'Events' }).waitFor()

    await plantExecution(databases[shardOf(unknown, 2)]!.get(), { atMs: Date.now(), executionId: unknown, events: 0 })
    await page.goto(`/console/executions/${unknown}`)
    await page.getByText(/This execution has no events: it was created .* by a start of test\/planted/).waitFor()
    expect(faults()).toEqual([])
  })
})
