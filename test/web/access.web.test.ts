// Promise: a page of another place cannot act through the session of an operator, not even from another port of this machine; a
// read-only console shows no control that writes; whatever a stranger put into an event is text wherever it is shown.
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser, visit } from '../support/webPage.js'

const HOSTILE = '"><img src=x onerror="document.title=`hacked`"><script>document.title=`hacked`</script>'
/** A part of it that no way of quoting changes. */
const MARK = '<script>document.title=`hacked`</script>'
const SUBSCRIPTION = `apiVersion: noetl.io/v2
kind: Subscription
metadata: { name: orders, path: shop/orders }
spec: { source: nats, subject: orders.created, mode: pull, dispatch: { playbook: shop/target } }
`
const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon
let readOnly: Daemon | undefined
let foreign: http.Server | undefined

const serve = (more: Record<string, string> = {}): Promise<Daemon> =>
  startDaemon([], {
    env: { NOETL_DATABASE_URL: database.get().url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN, ...more },
  })

async function post(path: string, body: object, token?: string): Promise<any> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(new URL(path, daemon.url), { method: 'POST', headers, body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
  return answer.json()
}

async function begin(): Promise<string> {
  await post('/api/catalog/register', { content: playbook('shop/target') })
  return (await post('/api/execute', { path: 'shop/target', driven: false })).execution_id
}

describe.skipIf(!hasBrowser)('the session of an operator', () => {
  beforeAll(async () => {
    daemon = await serve()
  })
  afterAll(async () => {
    foreign?.close()
    await readOnly?.stop()
    await daemon?.stop()
  })

  it('is of no use to a page of another place', async () => {
    const { url } = daemon
    const id = await begin()
    const target = `${url}/api/executions/${id}/cancel`
    foreign = http.createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>foreign</title><iframe name="there"></iframe>
        <form id="form" method="post" action="${target}" target="there" enctype="text/plain"><input name="{}"></form>`),
    )
    await new Promise<void>((resolve) => foreign!.listen(0, '127.0.0.1', resolve))
    // The same machine, so the browser takes it for the same site and sends the cookie along.
    const origin = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
    const { page, close } = await browser.open(url)
    await page.goto('/console/')
    await page.getByRole('button', { name: 'log in' }).click()
    await page.getByLabel('Token').fill(INTERNAL_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'operator' }).waitFor()

    await page.goto(origin)
    const posted = page.waitForResponse((answer) => answer.url() === target)
    await page.evaluate(`document.getElementById('form').submit()`)
    expect((await posted).status()).toBe(403)
    const tried = await page.evaluate(`Promise.all([
      fetch('${target}', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }).then(({ type }) => type),
      fetch('${target}', { method: 'POST', credentials: 'include', headers: { 'x-noetl-csrf': '1' }, body: '{}' }).then(() => 'sent', () => 'stopped'),
      new Promise((resolve) => { const image = new Image(); image.onerror = () => resolve('none'); image.onload = () => resolve('shown'); image.src = '${url}/api/executions' }),
    ])`)
    expect(tried).toEqual(['opaque', 'stopped', 'none'])
    expect((await daemon.get(`/api/executions/${id}/status`)).body.status).toBe('RUNNING')
    expect((await daemon.get('/api/activity')).body.activity).toEqual([])
    await close()
  })

  it('is begun by a link once; a link that is spent or broken says so, and what to do', async () => {
    const { code } = (await post('/api/internal/console/code', { actor: 'ann' }, INTERNAL_TOKEN)) as { code: string }
    const first = await browser.open(daemon.url)
    const before = await first.context.newPage()
    await before.goto('/console/')
    await before.getByRole('button', { name: 'log in' }).waitFor()
    await first.page.goto(`/console/#code=${code}`)
    await first.page.getByRole('button', { name: 'operator' }).waitFor()
    // In every tab of the browser.
    await before.getByRole('button', { name: 'operator' }).waitFor()
    expect(await first.page.getByRole('alert').count()).toBe(0)
    await first.close()

    const { page, faults, close } = await browser.open(daemon.url)
    const trouble = page.locator('main').getByRole('alert')
    await page.goto(`/console/executions#code=${code}`)
    await trouble.getByText(/did not log you in: the code is not valid.*run "noetl-cp console" again/).waitFor()
    // It is told once and not kept.
    expect(page.url()).toBe(`${daemon.url}/console/executions`)
    await page.getByRole('button', { name: 'log in' }).waitFor()
    await trouble.getByRole('button', { name: 'Close' }).click()
    expect(await trouble.count()).toBe(0)
    await page.goto('/console/outbox#code=broken%20off')
    await trouble.getByText(/it is not whole\. Run "noetl-cp console" again/).waitFor()
    await page.route('**/console/session', (route) => route.abort())
    await page.goto(`/console/#code=${code}`)
    await trouble.getByText(/the daemon did not answer\. Run "noetl-cp console" again/).waitFor()
    await page.getByRole('button', { name: 'log in' }).waitFor()
    // Who is at the screen is found out as soon as the daemon answers.
    await page.route('**/api/session', (route) => route.abort(), { times: 1 })
    await page.goto('/console/doctor')
    await page.getByRole('button', { name: 'log in' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('bears the name that whoever shares a token gives, beside the token', async () => {
    const id = await begin()
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`/console/executions/${id}`)
    await page.getByRole('button', { name: 'log in' }).click()
    const logIn = async (name: string) => {
      await page.getByLabel('Token').fill(INTERNAL_TOKEN)
      await page.getByLabel('Your name, for the record').fill(name)
      await page.keyboard.press('Enter')
    }
    // As if the token were another one.
    await logIn('Ada (token-00000000)')
    await page.getByRole('dialog').getByRole('alert').getByText('without control characters and parentheses').waitFor()
    await logIn(' Ada Lovelace ')
    await page.getByRole('button', { name: 'operator' }).waitFor()
    // The token itself is kept nowhere.
    const kept = await page.evaluate(`Promise.all([
      location.href, document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML,
      indexedDB.databases(), caches.keys(),
    ])`)
    expect((kept as unknown[]).slice(-2)).toEqual([[], []])
    expect(JSON.stringify(kept)).not.toContain(INTERNAL_TOKEN)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('a mistake')
    await dialog
      .getByRole('button', { name: /^Cancel/ })
      .last()
      .click()
    const act = await until('it is on record', async () => {
      const { activity } = (await daemon.get(`/api/activity?target=${id}`)).body
      return activity.find(({ outcome }: { outcome: string }) => outcome === 'done')
    })
    const hash = createHash('sha256').update(INTERNAL_TOKEN).digest('hex').slice(0, 8)
    expect(act).toMatchObject({
      actor: `Ada Lovelace (token-${hash})`,
      action: 'executions.cancel',
      reason: 'a mistake',
    })
    await page.goto('/console/activity')
    await page.getByText(`Ada Lovelace (token-${hash})`).first().waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('is seen to have ended as soon as something is refused, and can be begun again', async () => {
    const { page, context, faults, close } = await browser.open(daemon.url, { timezoneId: 'UTC' })
    const logIn = async () => {
      await page.getByRole('button', { name: 'log in' }).click()
      await page.getByLabel('Token').fill(INTERNAL_TOKEN)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'operator' }).waitFor()
    }
    await page.goto('/console/snapshots')
    await logIn()
    await page.getByRole('button', { name: 'operator' }).click()
    await page.getByText(/logged in until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d in/).waitFor()
    await page.keyboard.press('Escape')
    const act = page.locator('main').getByRole('button', { name: /…$/ }).first()
    await until('it may act', () => act.isEnabled())
    await context.clearCookies()
    await page.getByRole('link', { name: 'Outbox' }).click()
    await page.getByRole('button', { name: 'log in' }).waitFor()
    await page.getByRole('alert').getByText('Your session has ended.').waitFor()
    await page.goBack()
    await until('it may not act any more', () => act.isDisabled())
    await logIn()
    await until('it may act again', () => act.isEnabled())
    expect(await page.getByText('Your session has ended.').count()).toBe(0)
    // Whoever leaves knows that it has ended.
    await page.getByRole('button', { name: 'operator' }).click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'log in' }).waitFor()
    expect(await page.getByText('Your session has ended.').count()).toBe(0)
    expect(faults()).toEqual([])
    await close()
  })

  it('writes nothing where the console is read-only, and has no control that could', async () => {
    readOnly = await serve({ NOETL_CP_CONSOLE: 'read-only' })
    const id = await begin()
    const { page, faults, close } = await browser.open(readOnly.url)
    await page.goto('/console/')
    // Whoever has several open must see which one this is.
    await page.getByText(`${new URL(readOnly.url).host} · production`).waitFor()
    await page.getByRole('button', { name: 'read-only' }).click()
    await page.getByLabel('Token').fill(INTERNAL_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await post('/api/catalog/register', { content: SUBSCRIPTION })
    const { subscription_id: subscription } = await post('/api/subscriptions', { path: 'shop/orders' })
    const entry = 'catalog/shop/target'
    const acts = page.locator('main').getByRole('button', {
      name: /…$|^(New entry|Register|Run |Take|Rebuild|Stop$)/,
    })
    for (const place of [
      'executions',
      `executions/${id}`,
      `executions/${id}?tab=why`,
      `executions?why=${id}`,
      'snapshots',
      `snapshots?execution=${id}`,
      'outbox?tab=dead',
      'outbox?tab=audit',
      'subscriptions',
      `subscriptions/${subscription}`,
      `subscriptions/${subscription}?tab=dead`,
      'catalog',
      'catalog?new=1',
      entry,
      `${entry}?tab=run`,
      `${entry}?tab=edit`,
      'jobs',
    ]) {
      await visit(page, `/console/${place}`)
      await page.locator('main h1').first().waitFor()
      await until('everything is loaded', async () => (await page.locator('main [aria-busy=true]').count()) === 0)
      expect([place, await acts.allTextContents()]).toEqual([place, []])
      // Executions are ticked to be compared, too.
      const ticks = place.startsWith('executions') ? '' : '[type=checkbox][aria-label^=Choose], '
      expect([place, await page.locator('main').locator(`${ticks}textarea`).count()]).toEqual([place, 0])
      expect(await page.locator('.topbar').getByText('read-only').count()).toBe(1)
    }
    await page.goto(`/console/${entry}`)
    await page.getByRole('tab', { name: 'Document' }).waitFor()
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Document', 'Graph', 'Versions', 'Used by'])
    // No login would help.
    await page.goto('/console/doctor')
    const refusal = page.getByRole('alert')
    await refusal.getByText('the console is read-only here (NOETL_CP_CONSOLE)').waitFor()
    expect(await refusal.textContent()).not.toMatch(/log in/i)
    // A page that is made to try is refused by the server.
    const forged = await page.evaluate(
      `fetch('/api/executions/${id}/cancel', { method: 'POST', headers: { 'x-noetl-csrf': '1' }, body: '{}' }).then(({ status }) => status)`,
    )
    expect(forged).toBe(403)
    expect(faults()).toEqual([])
    await close()
  })

  it('shows what strangers wrote as text, wherever it comes from', async () => {
    const { url } = daemon
    const id = await begin()
    const quoted = JSON.stringify(HOSTILE)
    await post('/api/catalog/register', {
      content: `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: ${quoted}, path: shop/hostile, description: ${quoted} }
workload: { ${quoted}: ${quoted} }
workflow: [{ step: start, desc: ${quoted}, tool: { kind: noop, result: ${quoted} } }]
`,
    })
    await post('/api/catalog/register', { content: SUBSCRIPTION })
    const { subscription_id: subscription } = await post('/api/subscriptions', { path: 'shop/orders' })
    await post(`/api/subscriptions/${subscription}/activate`, { reason: HOSTILE, actor: HOSTILE })
    await post('/api/worker/pool/register', { name: HOSTILE, labels: { pool_name: HOSTILE } })
    await database.get().sql(
      `insert into noetl.subscription_dead_letter (subscription_id, identity, subject, headers, body, reason, attempts)
       values ($1::bigint, $2, $2, jsonb_build_object($2::text, $2::text), '{}', $2, 3)`,
      [subscription, HOSTILE],
    )
    await database
      .get()
      .sql(
        'update noetl.execution set path = $2, labels = jsonb_build_object($3::text, $2::text) where execution_id = $1',
        [id, HOSTILE, 'team'],
      )
    await post('/api/events', {
      ...{ execution_id: id, event_type: 'step.enter', node_name: HOSTILE, worker_id: HOSTILE, error: HOSTILE },
      context: { [HOSTILE]: HOSTILE },
      meta: { trace: HOSTILE },
    })
    const { page, faults, close } = await browser.open(url)
    /** Below this: what is beside it is on every tab. */
    const isIn = (part: string, what: string) =>
      until(`${what} shows it`, async () => {
        const seen = await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(part)})].map((part) =>
          part.textContent + [...part.querySelectorAll('input, textarea')].map(({ value }) => value).join()).join()`)
        return String(seen).includes(MARK)
      })
    for (const place of [
      '',
      'executions',
      `executions?q=${encodeURIComponent(HOSTILE)}`,
      'catalog/shop/hostile',
      'catalog/shop/hostile?tab=run',
      'catalog/shop/hostile?tab=edit',
      `subscriptions/${subscription}`,
      `subscriptions/${subscription}?tab=dead`,
    ]) {
      await page.goto(`/console/${place}`)
      await isIn('main', place)
      expect(await page.locator('img').count()).toBe(0)
    }
    for (const tab of ['moment', 'changes', 'event', 'graph', 'events', 'state', 'why', 'raw']) {
      await visit(page, `/console/executions/${id}?tab=${tab}`)
      await page.locator(`#tab-${tab}[aria-selected=true]`).waitFor()
      await isIn('.tabs ~ *', tab)
      expect(await page.locator('img').count()).toBe(0)
    }
    expect(await page.title()).not.toContain('hacked')
    expect(faults()).toEqual([])
    await close()
  })
})
