// Promise: an operator sees in the console what waits and what was given up, brings it back after a dry run that changes
// nothing, and steers a subscription by exactly the actions its state allows; each act is on record with its reason. The
// overview says in one line how it is and leads to what needs somebody; no secret is shown among the settings.
import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { DOCTOR_PROBLEMS } from '../support/servers.js'
import { holds, until } from '../support/until.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'
import { reasonTests } from './reasonTests.js'

const TOKEN = 'internal-token-of-this-test'
const EXECUTION = '380994186641326081'
const HOSTILE = 'too large <img src=x onerror="document.title=`hacked`">'

const SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 }

const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: orders, path: shop/handle-order }
workflow: [{ step: start, tool: { kind: noop } }]
`
const SUBSCRIPTION = `apiVersion: noetl.io/v2
kind: Subscription
metadata: { name: orders, path: shop/orders }
spec: { source: nats, subject: orders.created, mode: pull, dispatch: { playbook: shop/handle-order } }
`

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon

const env = () => ({
  NOETL_DATABASE_URL: database.get().url,
  NOETL_INTERNAL_API_TOKEN: TOKEN,
  // However long this takes, the rows that wait for ever are no reason to be not ready.
  NOETL_CP_OUTBOX_MAX_AGE: '86400',
})
const post = async (path: string, body: object) => {
  const answer = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { subscription_id: string; execution_id: string }
}
/** What a command says at that moment. */
const command = async (...args: string[]) => {
  const { stdout } = await builtCli([...args, '--json', '--port', new URL(daemon.url).port], { env: env() })
  return JSON.parse(stdout)
}
const dead = () =>
  database.get().sql<{ id: string }>("select outbox_id::text as id from noetl.outbox where status = 'DEAD' order by 1")

async function openAsOperator() {
  const opened = await browser.open(daemon.url)
  const { page } = opened
  await page.goto('/console/')
  await logIn(page)
  return opened
}

async function logIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'log in' }).click()
  await page.getByLabel('Token').fill(TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'operator' }).waitFor()
}

/** Newest first. The page may show what an act has changed before its record says that it is done. */
async function isOnRecord(action: string, acts: object[]): Promise<void> {
  await until(`${action} is on record`, async () => {
    expect((await daemon.get(`/api/activity?action=${action}`)).body.activity).toMatchObject(acts)
    return true
  })
}

/** The page of a subscription, and its dialogs. */
function steering(page: Page, id: string) {
  const buttons = page.locator('main .buttons').first().getByRole('button')
  /** Its buttons are exactly what the server allows; those that lead to where it is would change nothing. */
  const isIn = async (state: string) => {
    await page.getByRole('img', { name: `Lifecycle: ${state};` }).waitFor()
    const { body } = await daemon.get(`/api/subscriptions/${id}?verbose=true`)
    expect(body.state).toBe(state.toUpperCase())
    const shown = (await buttons.allTextContents()).map((text) => text.replace('…', '').toLowerCase())
    const leads: Record<string, string[]> = {
      active: ['activate', 'resume'],
      paused: ['pause'],
      draining: ['drain'],
      deactivated: ['deactivate'],
    }
    const offered = body.allowed_actions.filter((action: string) => leads[state]?.includes(action) !== true)
    const end = body.paused_until === null ? 'set an end' : 'move the end'
    expect(shown).toEqual(state === 'paused' ? [...offered, end] : offered)
    return body
  }
  const act = async (name: string, before: () => Promise<unknown> = async () => undefined) => {
    await page.getByRole('button', { name: `${name}…`, exact: true }).click()
    await before()
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  }
  return { isIn, act }
}

/** The words that a shell makes of a command that is offered to be copied. */
function wordsOf(text: string | undefined): string[] {
  const env = { NOETL_INTERNAL_API_TOKEN: 'T' }
  const said = execFileSync('sh', ['-c', `say() { printf '%s\\n' "$@"; }; say ${text}`], { env })
  return said.toString().trimEnd().split('\n')
}

/** What the open dialog offers to be copied. */
async function shownOrder(page: Page): Promise<{ command: string[]; address: string | undefined; body: unknown }> {
  await page.locator('dialog').getByText('Copy as a command').click()
  const [command, request] = await page.locator('dialog .same code').allTextContents()
  const sent = wordsOf(request)
  expect(sent).toContain('authorization: Bearer T')
  return { command: wordsOf(command), address: sent[1], body: JSON.parse(sent.at(-1)!) }
}

describe.skipIf(!hasBrowser)('an operator', () => {
  beforeAll(async () => {
    await database.get().sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload, status, attempts, last_error, available_at)
       select $1::bigint, $1::bigint + n, 's', '{"n": 9007199254740993}', case when n < 4 then 'DEAD' else 'FAILED' end, 9,
         case when n = 1 then 'no responders' when n < 4 then $2 else 'busy' end, now() + interval '1 hour'
       from generate_series(1, 4) as n`,
      [EXECUTION, HOSTILE],
    )
    daemon = await startDaemon([], { env: env() })
  })
  afterAll(() => daemon?.stop())

  it('brings dead rows back: dry run, reason, outcome', async () => {
    const stranger = await browser.open(daemon.url)
    await stranger.page.goto('/console/outbox')
    const refusal = stranger.page.getByRole('alert').getByText('noetl-cp console', { exact: true })
    await refusal.waitFor()
    // The screen that is open is asked again for whoever logs in, and nothing is left on it for whoever comes after.
    await logIn(stranger.page)
    const waits = stranger.page.getByText('1 row waits, the oldest for')
    await waits.waitFor()
    await stranger.page.getByRole('button', { name: 'operator' }).click()
    await stranger.page.getByRole('button', { name: 'Log out' }).click()
    await refusal.waitFor()
    expect(await waits.count()).toBe(0)
    await stranger.close()

    const { page, faults, close } = await openAsOperator()
    await page.goto('/console/outbox')
    await page.getByText('1 row waits, the oldest for').waitFor()
    await page.getByRole('link', { name: '3', exact: true }).click()
    const group = page.getByRole('row', { name: HOSTILE })
    await group.getByRole('button', { name: 'Requeue…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Dry run: 2 rows would come back').waitFor()
    const act = dialog.getByRole('button', { name: 'Requeue 2 rows' })
    expect(await act.isDisabled()).toBe(true)
    expect(await dead()).toHaveLength(3)

    await dialog.getByLabel('Reason').fill("the stream's limit is larger now")
    const [command, request] = await dialog.locator('.same code').allTextContents()
    const redrive = ['outbox', 'dead', 'redrive', '--reason', HOSTILE, '--limit', '2']
    expect(wordsOf(command)).toEqual(['noetl-cp', ...redrive, '--url', new URL(daemon.url).origin])
    expect(JSON.parse(wordsOf(request).at(-1)!)).toMatchObject({ note: "the stream's limit is larger now", limit: 2 })
    await act.click()
    const job = page.getByRole('region', { name: 'Job' })
    await job.getByText('2 of 2: 2 came back, 0 were not dead any more, 0 failed.').waitFor()
    const [left, ...others] = await dead()
    expect([left, others]).toEqual([{ id: expect.any(String) }, []])
    // One dies again while it is looked at.
    await database.get().sql("update noetl.outbox set status = 'DEAD' where event_id = $1::bigint + 2", [EXECUTION])
    await job.getByText('died again').first().waitFor()
    await job.getByRole('button', { name: 'Close' }).click()

    await page.getByRole('link', { name: 'no responders' }).click()
    await page.getByRole('button', { name: left!.id, exact: true }).click()
    const row = page.getByRole('complementary', { name: 'Row' })
    await row.getByText('9007199254740993').waitFor()
    await page.keyboard.press('Escape')
    await row.waitFor({ state: 'detached' })
    await isOnRecord('outbox.redrive', [
      { outcome: 'done', reason: "the stream's limit is larger now" },
      { outcome: 'done', reason: 'dry run', request: { dry_run: true } },
    ])
    expect(await page.locator('img').count()).toBe(0)
    expect(faults()).toEqual([])
    await close()
  })

  it('steers a subscription by what its state allows, and starts a given-up message again', async () => {
    await post('/api/catalog/register', { content: PLAYBOOK })
    await post('/api/catalog/register', { content: SUBSCRIPTION })
    const { subscription_id: id } = await post('/api/subscriptions', { path: 'shop/orders' })
    await database.get().sql(
      `insert into noetl.subscription_dead_letter (subscription_id, identity, subject, headers, body, reason, attempts)
       select $1::bigint, 'nats:s:' || n, 's', jsonb_build_object('Trace', 't-' || n), '{"n": 9007199254740993}', 'no playbook', 3
       from generate_series(1, 51) as n`,
      [id],
    )
    const { page, faults, close } = await openAsOperator()
    await page.goto('/console/subscriptions')
    await page.getByRole('link', { name: 'shop/orders' }).click()
    const { isIn, act } = steering(page, id)
    await isIn('registered')
    await act('Activate')
    await isIn('active')
    await act('Pause', async () => {
      await page.getByLabel('Reason').fill(HOSTILE)
      await page.getByLabel('How long').selectOption('for 15 minutes')
      await page.getByText('Copy as a command').click()
      const [command, request] = await page.locator('dialog .same code').allTextContents()
      const { origin } = new URL(daemon.url)
      const pause = ['subscription', 'pause', id, '--reason', HOSTILE, '--until', '15m', '--url', origin]
      expect(wordsOf(command)).toEqual(['noetl-cp', ...pause])
      const sent = wordsOf(request)
      expect(sent.slice(0, 2)).toEqual(['curl', `${origin}/api/subscriptions/${id}/pause`])
      expect(sent).toContain('authorization: Bearer T')
      expect(JSON.parse(sent.at(-1)!)).toMatchObject({ reason: HOSTILE, until: expect.stringMatching(/^\d{4}-/) })
    })
    const paused = await isIn('paused')
    expect([paused.reason, paused.paused_until]).toEqual([HOSTILE, expect.stringMatching(/^\d{4}-/)])
    await page.getByRole('cell', { name: HOSTILE }).waitFor()
    await page.keyboard.press('p')
    await page.getByLabel('Reason').fill('takes longer')
    await page.getByLabel('How long').selectOption('for a week from now')
    await page.getByRole('dialog').getByRole('button', { name: 'Move the end', exact: true }).click()
    await page.getByRole('cell', { name: 'takes longer' }).waitFor()
    const moved = await isIn('paused')
    expect(Date.parse(moved.paused_until) - Date.parse(paused.paused_until)).toBeGreaterThan(6 * 86_400_000)
    await act('Resume')
    await isIn('active')

    await page.getByRole('tab', { name: 'Dead messages' }).click()
    const given = page.locator('table.rows tbody tr')
    await until('a page of them', async () => (await given.count()) === 50)
    await given.first().getByText('Message', { exact: true }).click()
    for (const told of ['Trace: t-1', '"n": 9007199254740993']) await given.first().getByText(told).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await until('the rest', async () => (await given.count()) === 1)
    // How far one list was read says nothing of another.
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('cell', { name: HOSTILE }).waitFor()
    await page.getByRole('tab', { name: 'Dead messages' }).click()
    await until('a page of them', async () => (await given.count()) === 50)
    await page.getByRole('button', { name: 'More' }).click()
    await until('the rest', async () => (await given.count()) === 1)
    await act('Start again', () => page.getByLabel('Reason').fill('the playbook is there now'))
    const started = page.getByRole('status').getByRole('link')
    await started.waitFor()
    const execution = await started.textContent()
    expect((await daemon.get(`/api/executions/${execution}`)).status).toBe(200)
    await page.getByText('No further message was given up.').waitFor()
    await database.get().sql('delete from noetl.subscription_dead_letter')
    await page.getByRole('button', { name: 'From the start' }).click()
    await page.getByText('No message was given up.').waitFor()

    await act('Deactivate', async () => {
      const button = page.getByRole('dialog').getByRole('button', { name: 'Deactivate', exact: true })
      expect(await button.isDisabled()).toBe(true)
      await page.getByLabel('Reason').fill('another one takes over')
    })
    expect((await isIn('deactivated')).reason).toBe('another one takes over')
    const acts = ['activate', 'pause', 'pause', 'resume', 'dead.redrive', 'deactivate']
    await isOnRecord(
      'subscriptions',
      acts.map((name) => ({ action: `subscriptions.${name}`, outcome: 'done' })).toReversed(),
    )
    await isOnRecord('subscriptions.dead.redrive', [{ reason: 'the playbook is there now' }])
    expect(faults()).toEqual([])
    await close()
  })

  it('removes a reason for a standstill by its button', async () => {
    const { execution_id: id } = await post('/api/execute', { path: 'shop/handle-order', driven: false })
    await database.get().sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload, status, attempts, last_error, available_at)
       values ($1::bigint, 7, 's', '{}', 'DEAD', 9, 'too large', now() + interval '1 hour')`,
      [id],
    )
    const { page, faults, close } = await openAsOperator()
    await page.goto(`/console/executions/${id}?tab=why`)
    const finding = page.locator('.findings li').filter({ hasText: /dead/i })
    await finding.getByRole('button', { name: 'Requeue…' }).click()
    const [row] = await database
      .get()
      .sql<{ id: string }>(
        "select outbox_id::text as id from noetl.outbox where execution_id = $1 and status = 'DEAD'",
        [id],
      )
    const { origin } = new URL(daemon.url)
    expect(await shownOrder(page)).toEqual({
      command: ['noetl-cp', 'outbox', 'dead', 'redrive', row!.id, '--execution', id, '--url', origin],
      address: `${origin}/api/internal/outbox/redrive`,
      body: { ids: [row!.id], execution_id: id },
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Requeue', exact: true }).click()
    await finding.waitFor({ state: 'detached' })
    const rows = await database
      .get()
      .sql('select status, attempts from noetl.outbox where execution_id = $1::bigint', [id])
    expect(rows.map((row) => row['status'])).not.toContain('DEAD')
    expect(faults()).toEqual([])
    await close()
  })

  it('removes a wait for the next attempt, a subscription that delivers nothing and a missing driver, each by its button', async () => {
    // Somebody else delivers it, so that it drains until they say so.
    const content = `${SUBSCRIPTION.replace('shop/orders', 'shop/more').trimEnd().slice(0, -1)}, driver: external }\n`
    await post('/api/catalog/register', { content: PLAYBOOK })
    await post('/api/catalog/register', { content })
    const { subscription_id: subscription } = await post('/api/subscriptions', { path: 'shop/more' })
    const started = { path: 'shop/handle-order', driven: false, parent_execution_id: subscription }
    const { execution_id: id } = await post('/api/execute', started)
    const setRows = (status: string) =>
      database.get().sql(
        `update noetl.outbox set status = $2, attempts = 3, last_error = 'busy', available_at = now() + interval '1 hour', published_at = now()
         where execution_id = $1::bigint`,
        [id, status],
      )
    await setRows('FAILED')
    const { page, faults, close } = await openAsOperator()
    const { isIn, act } = steering(page, subscription)
    await page.goto(`/console/executions/${id}?tab=why`)
    const removes = async (reason: string, button: string) => {
      // What was changed elsewhere is heard of only now and then.
      await page.reload()
      const finding = page.locator('.findings li').filter({ hasText: reason })
      await finding.getByRole('button', { name: `${button}…` }).click()
      await page.getByRole('dialog', { name: button }).getByRole('button', { name: button, exact: true }).click()
      await finding.waitFor({ state: 'detached' })
    }
    await removes('outbox backoff', 'Retry now')
    await post(`/api/subscriptions/${subscription}/activate`, {})
    await post(`/api/subscriptions/${subscription}/pause`, { reason: 'the shop moves' })
    await removes('paused subscription', 'Resume the subscription')
    await setRows('PUBLISHED')
    await removes('not driven', 'Let the engine drive it')

    await page.goto(`/console/subscriptions/${subscription}`)
    await isIn('active')
    await act('Drain', () => page.getByLabel('Reason').fill('it moves'))
    await isIn('draining')
    await act('Deactivate', () => page.getByLabel('Reason').fill('it has moved'))
    await isIn('deactivated')
    expect(faults()).toEqual([])
    await close()
  })

  it('reads of a large state and a large row no more than it shows, and no state again unless told so', async () => {
    await post('/api/catalog/register', { content: PLAYBOOK })
    const payload = { text: 'x'.repeat(300_000) }
    const { execution_id: id } = await post('/api/execute', { path: 'shop/handle-order', driven: false, payload })
    const { page, faults, close } = await openAsOperator()
    let asked = 0
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/state')) asked++
    })
    await page.goto(`/console/executions/${id}?tab=state`)
    await page.getByText('The first 256 KB of it.').waitFor()
    await post('/api/events', { execution_id: id, step: 'start', event_type: 'step.enter' })
    await page.getByText('It has changed since.').waitFor()
    expect(asked).toBe(1)
    await page.getByRole('button', { name: 'Load it again' }).click()
    await page.getByText('It has changed since.').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Show all of it as a tree' }).click()
    await page.getByLabel('Find in the value').waitFor()
    // First, once more, and for its tree.
    expect(asked).toBe(3)

    const [row] = await database
      .get()
      .sql<{ id: string }>(
        'select outbox_id::text as id from noetl.outbox where execution_id = $1::bigint order by 1',
        [id],
      )
    await page.goto(`/console/executions/${id}?tab=outbox&row=0-${row!.id}`)
    await page.getByRole('complementary', { name: 'Row' }).getByText('The first 256 KB of it.').waitFor()
    await post(`/api/executions/${id}/cancel`, {})
    expect(faults()).toEqual([])
    await close()
  })

  it('fails a command whose worker is gone, by its button, on record', async () => {
    const { execution_id: id } = await post('/api/execute', { path: 'shop/handle-order', driven: false })
    const meta = { command_id: `${id}:start` }
    for (const event_type of ['step.enter', 'command.issued', 'command.claimed', 'command.started']) {
      await post('/api/events', { execution_id: id, step: 'start', event_type, worker_id: 'gone-1', meta })
    }
    const { page, faults, close } = await openAsOperator()
    await page.goto(`/console/executions/${id}?tab=why`)
    const finding = page.locator('.findings li').filter({ hasText: 'expired command' })
    await finding.getByRole('link', { name: `command ${id}:start` }).click()
    await page.getByRole('list', { name: 'Events of command start' }).waitFor()
    await finding.getByRole('button', { name: 'Fail the command…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Fail the command' })
    const act = dialog.getByRole('button', { name: 'Fail the command', exact: true })
    expect(await act.isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('its machine is gone')
    await act.click()
    await finding.waitFor({ state: 'detached' })
    await page.getByText('Fail the command: done. The reason is gone.').waitFor()
    const [written] = await database
      .get()
      .sql<{ id: string }>(
        "select event_id::text as id from noetl.event where execution_id = $1::bigint and event_type = 'command.failed'",
        [id],
      )
    await page.getByRole('link', { name: `command.failed, event ${written!.id}` }).click()
    await page.getByRole('complementary', { name: 'Event' }).getByText(`event_id: ${written!.id}`).waitFor()
    await page.goBack()
    const broken = page.locator('.findings li').filter({ hasText: 'failed step' })
    await broken.getByRole('button', { name: 'Finalize…' }).click()
    const ending = page.getByRole('dialog', { name: 'Finalize' })
    await ending.getByLabel('End as').selectOption('COMPLETED')
    await ending.getByLabel('Reason').fill("it's counted by hand")
    const { origin } = new URL(daemon.url)
    const body = { status: 'COMPLETED', reason: "it's counted by hand" }
    const options = Object.entries(body).flatMap(([name, value]) => [`--${name}`, value])
    expect(await shownOrder(page)).toEqual({
      command: ['noetl-cp', 'execution', 'finalize', id, ...options, '--url', origin],
      address: `${origin}/api/executions/${id}/finalize`,
      body,
    })
    await ending.getByRole('button', { name: 'Finalize', exact: true }).click()
    await broken.waitFor({ state: 'detached' })
    expect((await daemon.get(`/api/executions/${id}/status`)).body.status).toBe('COMPLETED')
    const rows = await database.get().sql(
      `select node_name, error, meta ->> 'command_id' as command from noetl.event
       where execution_id = $1::bigint and event_type = 'command.failed'`,
      [id],
    )
    expect(rows).toEqual([{ node_name: 'start', error: 'its machine is gone', command: `${id}:start` }])
    await isOnRecord('events', [{ action: 'events', outcome: 'done', reason: 'its machine is gone' }])

    await page.getByRole('tab', { name: 'Outbox' }).click()
    const sent = await database
      .get()
      .sql<{ event_id: string }>(
        'select event_id::text from noetl.outbox where execution_id = $1::bigint order by outbox_id',
        [id],
      )
    const ids = sent.map(({ event_id }) => event_id)
    expect(ids.length).toBeGreaterThan(4)
    const shown = page.locator('table.rows tbody td:nth-child(3)')
    await until('its rows of the outbox', async () => (await shown.allTextContents()).join() === ids.join())
    const { events } = (await daemon.get(`/api/executions/${id}/events`)).body
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    const isAt = async (place: number) => {
      const { position } = events.find(({ event_id }: { event_id: string }) => event_id === ids[place])
      return (await handle.getAttribute('aria-valuenow')) === String(position)
    }
    await page.getByRole('button', { name: ids[1]!, exact: true }).click()
    await until('its event', () => isAt(1))
    // A moment that cannot be asked for is told, and asked for again.
    await page.route(/\/at\?event=/, (route) => route.abort())
    await page.getByRole('button', { name: ids[2]!, exact: true }).click()
    await page.getByText('The moment of this link could not be found').waitFor()
    // The one before, which has rested meanwhile, is not written over it.
    await holds('the address names the next one', () => page.url().includes(ids[2]!))
    await page.unroute(/\/at\?event=/)
    await until('the event of the next one', () => isAt(2))
    expect(faults()).toEqual([])
    await close()
  })

  it('takes a command of the engine away from a worker that is gone, and cancels the run, by the buttons of the list', async () => {
    const content = PLAYBOOK.replaceAll('handle-order', 'wait-for-worker').replace(
      'noop',
      'http, url: "http://x.invalid"',
    )
    await post('/api/catalog/register', { content })
    const { execution_id: id } = await post('/api/execute', { path: 'shop/wait-for-worker', execution_pool: 'lost' })
    const issued = await until('it is claimed', async () => {
      await post('/api/commands/claim', { worker_id: 'gone-2', pools: ['lost'], wait_seconds: 1 })
      const [claimed] = await database
        .get()
        .sql<{ id: string }>(
          "select event_id::text as id from noetl.command where execution_id = $1 and worker_id = 'gone-2'",
          [id],
        )
      return claimed?.id
    })
    const { page, faults, close } = await openAsOperator()
    await page.goto(`/console/executions?why=${id}`)
    const drawer = page.getByRole('dialog', { name: 'Why it has not ended' })
    const finding = drawer.locator('.findings li').filter({ hasText: 'expired command' })
    await finding.getByRole('button', { name: 'Requeue the command…' }).click()
    const { origin } = new URL(daemon.url)
    expect(await shownOrder(page)).toEqual({
      command: ['noetl-cp', 'command', 'requeue', issued, '--url', origin],
      address: `${origin}/api/commands/${issued}/requeue`,
      body: {},
    })
    const requeue = page.getByRole('dialog', { name: 'Requeue the command' })
    await requeue.getByLabel('Reason').fill('its machine is gone')
    await requeue.getByRole('button', { name: 'Requeue the command', exact: true }).click()
    await finding.waitFor({ state: 'detached' })
    await isOnRecord('commands.requeue', [{ outcome: 'done', reason: 'its machine is gone', target_id: issued }])

    await page.goto(`/console/executions/${id}`)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByLabel('Reason').fill('no longer wanted')
    const cancel = ['execution', 'cancel', id, '--reason', 'no longer wanted', '--url', origin]
    expect(await shownOrder(page)).toMatchObject({
      command: ['noetl-cp', ...cancel],
      body: { reason: 'no longer wanted' },
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Run again…' }).click()
    await page.getByLabel('Reason').fill('the pool is back')
    expect(await shownOrder(page)).toMatchObject({
      command: ['noetl-cp', 'execution', 'rerun', id, '--reason', 'the pool is back', '--url', origin],
      body: { reason: 'the pool is back' },
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Run again', exact: true }).click()
    await isOnRecord('executions.rerun', [{ outcome: 'done', reason: 'the pool is back' }])
    await page.waitForURL((url) => !url.pathname.endsWith(id))
    await post(`/api/executions/${new URL(page.url()).pathname.split('/').at(-1)}/cancel`, {})
    expect(faults()).toEqual([])
    await close()
  })

  it('is led from the overview to executions that stand still and to messages that were given up', async () => {
    const content = PLAYBOOK.replaceAll('handle-order', 'nobody').replace('noop', 'http, url: "http://x.invalid"')
    await post('/api/catalog/register', { content })
    const { execution_id: id } = await post('/api/execute', { path: 'shop/nobody', execution_pool: 'nobody' })
    // As if it waited for long.
    await until('its command waits', async () => {
      const aged = await database
        .get()
        .sql(`update noetl.command set created_at = now() - interval '1 hour' where execution_id = $1 returning 1`, [
          id,
        ])
      return aged.length === 1
    })
    const [subscription] = await database
      .get()
      .sql<{ id: string }>('select subscription_id::text as id from noetl.subscription limit 1')
    await database.get().sql(
      `insert into noetl.subscription_dead_letter (subscription_id, identity, subject, body, reason, attempts)
       select $1::bigint, 'led:' || n, 's', '{}', 'refused', 3 from generate_series(1, 2) n`,
      [subscription!.id],
    )
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/')
    await page.getByRole('link', { name: `execution ${id} is stuck: no worker of the pool nobody is alive` }).click()
    await page.waitForURL(`**/console/executions/${id}?tab=why`)
    await page.locator('.findings li').filter({ hasText: 'missing worker pool' }).waitFor()
    await page.goto('/console/')
    await page.getByRole('link', { name: /^\d+ messages of .* given up$/ }).click()
    await page.waitForURL(`**/console/subscriptions/${subscription!.id}?tab=dead`)
    await page.getByText('refused').first().waitFor()
    await post(`/api/executions/${id}/cancel`, { reason: 'seen' })
    await database.get().sql(`delete from noetl.subscription_dead_letter where identity like 'led:%'`)
    await page.goto('/console/')
    await until('nothing of it is told any more', async () => {
      const told = await page.locator('main .attention, main .calm').textContent()
      return !/is stuck|messages of/.test(told!)
    })
    expect(faults()).toEqual([])
    await close()
  })

  it('is told on one page how the instance is, and led to what needs attention', async () => {
    await post('/api/catalog/register', { content: PLAYBOOK })
    await post('/api/execute', { path: 'shop/handle-order', driven: false })
    const { body: overview } = await daemon.get('/api/overview')
    const { dead: given, label } = overview.shards[0]
    expect(given).toBeGreaterThan(0)
    const { page, faults, close } = await openAsOperator()
    await page.getByText('Ready. ').waitFor()
    // Each number of the page is one of the commands.
    const cells = (row: string) => page.getByRole('row', { name: row }).getByRole('cell').allTextContents()
    const secondsIn = (text: string) =>
      [...text.matchAll(/([\d.]+) ([dhms])\b/g)].reduce((sum, [, n, unit]) => sum + Number(n) * SECONDS[unit!]!, 0)
    await post('/api/worker/pool/register', { name: 'counted', capacity: 7 })
    await until('the page tells what the commands tell', async () => {
      const { executions, subscriptions, checks } = await command('status')
      const [shard] = (await command('outbox', 'status')).shards
      const { pending_ready, pending_waiting, failed_ready, failed_waiting, in_flight_live, in_flight_expired } = shard
      const tiles = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'].map(
        (status) => `${executions[status] ?? 0} ${status.toLowerCase()}`,
      )
      expect(await page.locator('.tiles li').allTextContents()).toEqual(
        [...tiles, `${subscriptions.by_state.ACTIVE} active subscriptions`].map((text) =>
          expect.stringMatching(`^${text.replace(' ', '\\s*')}$`),
        ),
      )
      const [, , waiting, oldest, deadRows, lastMinute] = await cells(`0 ${label}`)
      const open = pending_ready + pending_waiting + failed_ready + failed_waiting + in_flight_live + in_flight_expired
      expect([waiting, deadRows, lastMinute].map(Number)).toEqual([open, shard.dead, shard.published_last_minute])
      expect(Math.abs(secondsIn(oldest!) - shard.oldest_age_seconds)).toBeLessThan(10)
      expect(await page.locator('.verdict').textContent()).toBe(
        `Ready. Nothing was published in the last minute, ${open} waiting, nothing older than ${oldest}.`,
      )
      const { workers } = await command('worker', 'list', '--all')
      const pools = await page.getByRole('table', { name: 'Worker pools' }).locator('tbody tr').all()
      const toldPools = pools.map(async (row) => (await row.getByRole('cell').allTextContents()).slice(0, 4))
      expect((await Promise.all(toldPools)).toSorted()).toEqual(
        workers
          .map(({ name, alive, capacity }: Record<string, unknown>) => [
            ...[name, alive === true ? 'alive' : 'silent', 'worker_pool', String(capacity ?? '')],
          ])
          .toSorted(),
      )
      const states = Object.entries<{ ok: boolean; required: boolean }>(checks).map(
        ([name, { ok, required }]) => `${name} ${ok ? 'ok' : required ? 'failed' : 'off'}`,
      )
      const shown = await page.getByRole('table', { name: 'Checks' }).locator('tbody tr').all()
      const told = shown.map(async (row) => (await row.getByRole('cell').allTextContents()).slice(0, 2).join(' '))
      expect((await Promise.all(told)).toSorted()).toEqual(states.toSorted())
      return true
    })
    await page.getByRole('link', { name: `${given} rows of the outbox of shard 0 given up` }).click()
    await page.getByRole('button', { name: 'Requeue all…' }).waitFor()

    await page.getByText('Instance', { exact: true }).click()
    await page.getByRole('link', { name: 'Doctor' }).click()
    await page.getByRole('cell', { name: DOCTOR_PROBLEMS[0]! }).waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('NOETL_INTERNAL_API_TOKEN')
    await page.getByRole('cell', { name: 'NOETL_INTERNAL_API_TOKEN', exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'not the default' }).click()
    await page.getByRole('cell', { name: 'NOETL_INTERNAL_API_TOKEN', exact: true }).first().waitFor()
    expect(await page.locator('body').textContent()).not.toContain(TOKEN)

    await page.getByRole('link', { name: 'Activity' }).click()
    await page.getByRole('heading', { name: 'Activity' }).waitFor()
    // One that cannot be done is there, too.
    const refused =
      await page.evaluate(`fetch('/api/executions/1/rerun', { method: 'POST', headers: { 'x-noetl-csrf': '1' },
      body: '{"reason": "to see it refused"}' }).then(({ status }) => status)`)
    expect(refused).toBe(404)
    await isOnRecord('executions.rerun', [{ outcome: 'refused', reason: 'to see it refused' }, { outcome: 'done' }])
    const { activity } = (await daemon.get('/api/activity')).body
    const acts = page.locator('tbody tr:not(.more)')
    await until('every act is listed', async () => (await acts.count()) === activity.length)
    const listed = (await acts.all()).map(async (row) => {
      const told = await row.getByRole('cell').allTextContents()
      return [told[1], told[2], told[4], told[5]].map((text) => text!.trim())
    })
    expect(await Promise.all(listed)).toEqual(
      activity.map(({ actor, role, via, action, reason, outcome }: Record<string, string | null>) => [
        ...[`${actor} ${role}, ${via}`, action, reason ?? '', outcome],
      ]),
    )
    const errors = activity.flatMap(({ error }: Record<string, string | null>) => error ?? [])
    expect(errors.length).toBeGreaterThan(0)
    expect(await page.locator('tbody tr.more').allTextContents()).toEqual(errors)
    const leadNowhere = acts.filter({ hasNot: page.locator('td.about a') })
    await until('each leads to what it changed', async () => (await leadNowhere.count()) === 0)
    await page.getByRole('button', { name: 'last hour' }).click()
    await page.waitForURL(/since=/)
    await until('all were within it', async () => (await acts.count()) === activity.length)
    await page.goto('/console/activity?since=2100-01-01T00:00:00.000Z')
    await page.getByText('Nobody has done anything that matches').waitFor()
    await page.getByRole('button', { name: /^since 2100/ }).click()
    await until('all are listed again', async () => (await acts.count()) === activity.length)

    // What could not be looked at is no good news.
    await page.route(/dashboard\/stats|api\/doctor/, (route) =>
      route.fulfill({ status: 503, json: { error: 'too busy', status: 503 } }),
    )
    await page.goto('/console/')
    await page.getByText('The executions could not be counted: too busy').waitFor()
    await page.getByRole('link', { name: 'the doctor could not look: too busy' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  reasonTests({ database, openAsOperator, command, post })
})
