// Promise: an operator acts on many executions from the list: a dry run says what it would do and changes nothing, the job is
// followed, survives a reload, can be stopped, and says what it could not do. Snapshots are listed, taken, rebuilt and held
// against the log, and one that does not agree says so. Others see none of the controls, or why they cannot use them. All jobs are
// on one page.
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { postTo, startUndriven } from '../support/undriven.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

const MANY = 101
const SUBSCRIPTION = `apiVersion: noetl.io/v2
kind: Subscription
metadata: { name: orders, path: shop/orders }
spec: { source: nats, subject: orders.created, mode: pull, dispatch: { playbook: shop/few } }
`
const sorted = (ids: readonly string[]) => ids.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon
let stream: TestStream
let ids: string[]

const post = (path: string, body: object) => postTo(daemon, path, body)
const start = (path: string, count: number) => startUndriven(daemon, path, count)

const statuses = async (path: string): Promise<Record<string, number>> => {
  const rows = await database
    .get()
    .sql<{ status: string; n: number }>(
      'select status, count(*)::int as n from noetl.execution where path = $1 group by status',
      [path],
    )
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
}

async function openAsOperator() {
  const opened = await browser.open(daemon.url)
  const { page } = opened
  await page.goto('/console/')
  await page.getByRole('button', { name: 'log in' }).click()
  await page.getByLabel('Token').fill(INTERNAL_TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'operator' }).waitFor()
  return opened
}

describe.skipIf(!hasBrowser)('many executions', () => {
  beforeAll(async () => {
    stream = await useStream(inject('servers'))
    daemon = await startDaemon([], {
      env: {
        ...stream.env,
        NOETL_DATABASE_URL: database.get().url,
        NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
        // What a test holds back waits, however long that takes.
        NOETL_CP_PG_QUERY_TIMEOUT: '200',
      },
    })
    ids = await start('shop/few', 4)
  })
  afterAll(async () => {
    await daemon?.stop()
    await stream?.close()
  })

  it('have snapshots that are taken, rebuilt and held against the log', async () => {
    const stranger = await browser.open(daemon.url)
    await stranger.page.goto(`/console/snapshots?execution=${ids[0]}`)
    await stranger.page.getByText('No snapshot matches.').waitFor()
    const refused = stranger.page.getByRole('button', { name: 'Take for replays' })
    expect([await refused.isDisabled(), await refused.getAttribute('aria-description')]).toEqual([
      true,
      expect.stringContaining('noetl-cp console'),
    ])
    await stranger.close()

    const { page, faults, close } = await openAsOperator()
    await page.goto(`/console/snapshots?execution=${ids[0]}`)
    await page.getByRole('button', { name: 'Rebuild live state' }).click()
    await page.getByText('rebuilt from the log, version 1').waitFor()
    await page.getByRole('button', { name: 'Take for replays' }).click()
    await page.getByText('taken: 1 event, checksum').waitFor()
    await page.goto(`/console/executions/${ids[0]}?tab=changes&against=snapshot`)
    await page.getByText('Snapshots after event 1', { exact: true }).waitFor()
    await page.getByText('Both states are equal.').waitFor()
    // At the end of the log everything that was made of it is compared; a viewer is told of the fold alone.
    await page.goto(`/console/executions/${ids[0]}`)
    await page.getByRole('button', { name: 'Verify' }).click()
    const verdicts = page.locator('.proof').getByRole('status')
    for (const told of ['fold: equal', 'snapshot: equal', 'read model: equal']) {
      await verdicts.getByText(told, { exact: true }).waitFor()
    }
    await page.goto('/console/snapshots')
    const kept = page.getByRole('row').filter({ hasText: ids[0]! })
    await until('both are listed', async () => (await kept.count()) === 2)
    const { snapshots } = (await daemon.get('/api/snapshots')).body
    expect((await page.locator('tbody code').allTextContents()).toSorted()).toEqual(
      snapshots.map(({ checksum }: { checksum: string }) => checksum.slice(0, 8)).toSorted(),
    )
    const live = kept.filter({ hasText: 'live state' })
    await live.getByRole('button', { name: 'Verify' }).click()
    await live.getByText('it equals the fold of events 1 to 1').waitFor()
    const ofReplay = kept.filter({ hasText: 'replay' })
    await ofReplay.getByRole('button', { name: 'Verify' }).click()
    await ofReplay.getByText('and the 0 events after it give the same state').waitFor()

    await page.getByRole('button', { name: 'Verify many…' }).click()
    // However often it is hit before the daemon answers, it is one job.
    let begun = 0
    await page.route('**/api/replay/verify', async (route) => {
      begun++
      await hit
      await route.continue()
    })
    const hit = page.getByRole('dialog').getByRole('button', { name: 'Verify' }).dblclick()
    const job = page.getByRole('region', { name: 'Job' })
    await job.getByText('4: 4 agree, 0 differ, 0 could not be checked.').waitFor()
    expect(begun).toBe(1)
    await job.getByRole('button', { name: 'Close' }).click()
    await job.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Prune…' }).click()
    const dialog = page.getByRole('dialog')
    // Nothing has ended yet.
    await dialog.getByText('Nothing is to be pruned').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    const copyFor = (id: string) =>
      database.get().sql(
        `insert into noetl.projection_snapshot (aggregate_type, aggregate_id, tenant_id, organization_id, version, snapshot, checksum, meta)
         select aggregate_type, $2, tenant_id, organization_id, version, snapshot, checksum, meta
         from noetl.projection_snapshot where aggregate_id = $1`,
        [ids[0]!, id],
      )
    await copyFor('1')
    await page.getByRole('button', { name: 'Prune…' }).click()
    await dialog.getByText('Dry run: 1 would be removed: 1 snapshot of live states and 0 keys of decisions').waitFor()
    await dialog.getByRole('row', { name: '1 gone' }).waitFor()
    const prune = dialog.getByRole('button', { name: 'Prune' })
    expect(await prune.isDisabled()).toBe(true)
    expect((await daemon.get('/api/snapshots')).body.snapshots).toHaveLength(3)
    await dialog.getByLabel('Reason').fill('tidy')
    await prune.click()
    await job.getByText('1: 1 removed, 0 refused, 0 failed.').waitFor()
    await job.getByRole('button', { name: 'Close' }).click()

    await post('/api/catalog/register', { content: SUBSCRIPTION })
    const { subscription_id: subscription } = await post('/api/subscriptions', { path: 'shop/orders' })
    await copyFor(subscription)
    await page.reload()
    const ofSubscription = page.getByRole('row').filter({ hasText: subscription })
    await ofSubscription.getByRole('cell', { name: 'subscription', exact: true }).waitFor()
    await ofSubscription.getByRole('link', { name: subscription }).click()
    await page.getByRole('heading', { name: 'shop/orders' }).waitFor()
    await database.get().sql('delete from noetl.projection_snapshot where aggregate_id = $1', [subscription])

    await page.goto('/console/jobs')
    await until('both are listed', async () => (await page.locator('tbody tr').count()) === 2)
    const jobs = (await page.locator('tbody tr td:first-child').allTextContents()).toSorted()
    expect(jobs).toEqual(['Prune snapshots', 'Verify logs'])
    await page.getByRole('button', { name: 'Verify logs' }).click()
    await job.getByText('4: 4 agree, 0 differ, 0 could not be checked.').waitFor()
    await page.goto('/console/snapshots')
    await until('both are listed', async () => (await kept.count()) === 2)

    await database
      .get()
      .sql("update noetl.projection_snapshot set checksum = repeat('0', 64) where aggregate_id = $1", [ids[0]!])
    await live.getByRole('button', { name: 'Verify' }).click()
    await live.locator('.outcome.failed', { hasText: 'version 1 of 1: ' }).waitFor()

    const rename = (step: string | null) =>
      database
        .get()
        .sql('update noetl.execution set last_node_name = $2 where execution_id = $1::bigint', [ids[0]!, step])
    const [{ step } = { step: null }] = await database
      .get()
      .sql<{ step: string | null }>(
        'select last_node_name as step from noetl.execution where execution_id = $1::bigint',
        [ids[0]!],
      )
    await rename('elsewhere')
    await database
      .get()
      .sql("update noetl.projection_snapshot set checksum = repeat('0', 64) where aggregate_id like $1", [
        `execution/${ids[0]}/%`,
      ])
    await page.getByRole('button', { name: 'Verify many…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Verify' }).click()
    const places = job.getByRole('table', { name: 'Where they differ first' }).getByRole('link')
    await until('where they differ', async () => (await places.count()) === 2)
    expect(await places.allTextContents()).toEqual(['all of it', '/last_node_name'])
    await rename(step)
    // The daemon tells the first of many, and how many there are.
    await page.route('**/api/replay/diff?**', (route) =>
      route.fulfill({ json: { differences: [{ pointer: '/a', kind: 'changed', from: 1, to: 2 }], count: 12_345 } }),
    )
    await places.first().click()
    await page.waitForURL(`**/executions/${ids[0]}?tab=changes&against=snapshot`)
    await page.getByText('12,345 places differ').waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('are ended together: dry run, reason, job, and what could not be done', async () => {
    const stranger = await browser.open(daemon.url)
    await stranger.page.goto('/console/executions')
    await stranger.page.getByText(ids[0]!).waitFor()
    // Everybody may compare, and take the ids along.
    await stranger.page.getByLabel(`Choose ${ids[0]}`).check()
    await stranger.page.getByRole('button', { name: 'Export ids' }).waitFor()
    expect(await stranger.page.getByRole('button', { name: 'Cancel…' }).getAttribute('aria-disabled')).toBe('true')
    // In the order that the link says, which the heading turns round.
    await stranger.page.goto('/console/executions?path=shop/few')
    const first = stranger.page.locator('tbody code').first()
    const seen = await first.textContent()
    await stranger.page.setViewportSize({ width: 360, height: 740 })
    await stranger.page.getByRole('button', { name: 'Started' }).click()
    await stranger.page.waitForURL(/order=oldest/)
    await until('the oldest is first', async () => (await first.textContent()) !== seen)
    expect(await stranger.page.locator('tbody code').allTextContents()).toEqual(sorted(ids))
    await stranger.close()

    const { page, faults, close } = await openAsOperator()
    await page.goto('/console/executions?path=shop/few')
    await page.getByLabel(`Choose ${ids[0]}`).check()
    await page.getByLabel(`Choose ${ids[1]}`).check()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export ids' }).click()
    const file = await text(await (await saved).createReadStream())
    expect(file.trim().split('\n').toSorted()).toEqual(ids.slice(0, 2).toSorted())
    await page.getByRole('button', { name: 'Cancel…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Dry run: 2 of 2 executions would be cancelled.').waitFor()
    const cancel = dialog.getByRole('button', { name: 'Cancel 2 executions' })
    expect(await cancel.isDisabled()).toBe(true)
    expect(await statuses('shop/few')).toEqual({ RUNNING: 4 })

    await dialog.getByLabel('Reason').fill('the customer left')
    const [command, shown] = await dialog.locator('.same code').allTextContents()
    expect(command).toMatch(/^noetl-cp bulk cancel \d+ \d+ .*--reason 'the customer left'/)
    const asked = page.waitForRequest((request) => request.url().endsWith('/api/bulk'))
    await cancel.click()
    const body = (await asked).postData()
    expect(JSON.parse(body!)).toMatchObject({ action: 'cancel', reason: 'the customer left', limit: 2 })
    expect(shown).toBe(
      `curl ${daemon.url}/api/bulk -H 'content-type: application/json' -H "authorization: Bearer $NOETL_INTERNAL_API_TOKEN" -d '${body}'`,
    )
    const job = page.getByRole('region', { name: 'Job' })
    await job.getByText('2 of 2: 2 done, 0 refused, 0 failed.').waitFor()
    expect(await statuses('shop/few')).toEqual({ RUNNING: 2, CANCELLED: 2 })
    for (const id of ids.slice(0, 2)) {
      expect((await daemon.get(`/api/executions/${id}/status`)).body.status).toBe('CANCELLED')
    }
    await page.reload()
    await job.getByText('2 of 2: 2 done, 0 refused, 0 failed.').waitFor()

    await page.getByLabel('Choose all of this page').check()
    await page.getByRole('button', { name: 'All that match (4)' }).click()
    await page.getByRole('button', { name: 'Finalize…' }).click()
    await dialog.getByText('Dry run: 2 of 4 executions would be ended.').waitFor()
    await dialog.getByLabel('End as').selectOption('COMPLETED')
    await dialog.getByLabel('Reason').fill('counted by hand')
    await dialog.getByRole('button', { name: 'Finalize 4 executions' }).click()
    await job.getByText('4 of 4: 2 done, 2 refused, 0 failed.').waitFor()
    expect((await job.locator('tbody a').allTextContents()).toSorted()).toEqual(ids.slice(0, 2).toSorted())
    expect(await statuses('shop/few')).toEqual({ COMPLETED: 2, CANCELLED: 2 })
    const { activity } = (await daemon.get('/api/activity')).body
    const reasons = activity.map(({ reason }: { reason: string | null }) => reason)
    expect(reasons).toEqual(expect.arrayContaining(['counted by hand', 'the customer left', 'dry run']))
    expect(faults()).toEqual([])
    await close()
  })

  it('come from a subscription that says who drives it, until it is paused: then nothing is delivered any more', async () => {
    await post('/api/catalog/register', { content: playbook('shop/delivered') })
    const source = `SRC_${stream.name}`
    const content = SUBSCRIPTION.replace('shop/orders', 'shop/streamed')
      .replace('shop/few', 'shop/delivered')
      .replace('subject: orders.created', `stream: ${source}`)
    await post('/api/catalog/register', { content })
    const { subscription_id: id } = await post('/api/subscriptions', { path: 'shop/streamed' })
    const { page, faults, close } = await openAsOperator()
    await page.goto(`/console/subscriptions/${id}`)
    const fact = (name: string) => page.locator('.facts > div').filter({ hasText: name })
    await fact('Waiting').getByText(`nothing: there is no stream ${source} yet.`).waitFor()
    expect(await fact('Waiting').locator('.failed').count()).toBe(0)

    await stream.jsm.streams.add({ name: source, subjects: [`${source}.>`] })
    const act = async (name: string, reason?: string) => {
      await page.getByRole('button', { name: `${name}…`, exact: true }).click()
      if (reason !== undefined) await page.getByLabel('Reason').fill(reason)
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
    }
    const publish = (n: number) => stream.connection.jetstream().publish(`${source}.orders`, JSON.stringify({ n }))
    const started = async () => Object.values(await statuses('shop/delivered')).reduce((sum, n) => sum + n, 0)
    await act('Activate')
    await until(
      'a daemon has it',
      async () => (await daemon.get(`/api/subscriptions/${id}?verbose=true`)).body.runtime !== null,
    )
    await page.reload()
    await fact('Driven by')
      .getByText(/lease ends in \d+ s$/)
      .waitFor()
    // One text: between parts of a row of boxes no space is drawn.
    expect(await fact('Driven by').locator('dd > span > time').count()).toBe(1)
    await publish(1)
    await until('it is started', async () => (await started()) === 1)
    await act('Pause', 'look at it')
    await page.getByRole('img', { name: 'Lifecycle: paused;' }).waitFor()
    await fact('Driven by').getByText('nobody now').waitFor()
    await publish(2)
    // What waits is asked for only now and then.
    await page.reload()
    await fact('Waiting').getByText('1 in the source').waitFor()
    expect(await started()).toBe(1)
    await act('Resume')
    await until('it is started, too', async () => (await started()) === 2)
    await page.reload()
    await act('Deactivate', 'enough')
    await page.getByRole('img', { name: 'Lifecycle: deactivated;' }).waitFor()
    await stream.jsm.streams.delete(source)
    expect(faults()).toEqual([])
    await close()
  })

  it('have published rows that an audit misses in the stream: they are published again after it, not before', async () => {
    const [row] = await until('something is published', async () => {
      const rows = await database
        .get()
        .sql<{ seq: string }>("select stream_seq::text as seq from noetl.outbox where status = 'PUBLISHED' limit 1")
      return rows.length === 0 ? false : rows
    })
    await stream.jsm.streams.deleteMessage(stream.name, Number(row!.seq))
    const { page, faults, close } = await openAsOperator()
    await page.goto('/console/outbox?tab=audit')
    expect(await page.getByRole('button', { name: 'Publish again…' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Audit…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Audit', exact: true }).click()
    const job = page.getByRole('region', { name: 'Job' })
    await job.getByText(/^1 of \d+ published rows are not in the stream/).waitFor()
    await job.getByRole('button', { name: 'Publish again…' }).click()
    await dialog.getByText('The audit was the dry run: 1 row would be compared once more').waitFor()
    const act = dialog.getByRole('button', { name: 'Publish again', exact: true })
    expect(await act.isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('it was lost')
    await act.click()
    await job.getByText('; 1 are published again.').waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('are confirmed by their number, and the job is stopped', async () => {
    await start('shop/flood', MANY)
    const { page, faults, close } = await openAsOperator()
    await page.goto('/console/executions?path=shop/flood')
    await page.getByLabel('Choose all of this page').check()
    await page.getByRole('button', { name: 'All that match' }).click()
    await page.getByRole('button', { name: 'Cancel…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('too many')
    const cancel = dialog.getByRole('button', { name: `Cancel ${MANY} executions` })
    expect(await cancel.isDisabled()).toBe(true)
    await dialog.getByLabel(`To confirm, write the number ${MANY}`).fill(String(MANY))

    const job = page.getByRole('region', { name: 'Job' })
    await database.get().db.tx(
      async (tx) => {
        // Held back until it was told to stop.
        await tx.run({ name: 'test', text: `select from noetl.execution where path = $1 for update` }, ['shop/flood'])
        await cancel.click()
        await job.getByText(`0 of ${MANY}: 0 done`).waitFor()
        const answered = page.waitForResponse((answer) => answer.url().endsWith('/stop'))
        await job.getByRole('button', { name: 'Stop' }).click()
        expect((await answered).status()).toBe(200)
      },
      { deadlineMs: 200_000 },
    )
    await job.getByText('stopped', { exact: true }).waitFor()
    expect((await statuses('shop/flood'))['RUNNING']).toBeGreaterThan(0)
    expect(faults()).toEqual([])
    await close()
  })
})
