// Promise: why an execution stands still is told in the words of the command, whatever the reason, and each act that there is for it
// has its button; those that end and start executions, too.
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { pausePool, resumePool } from '../../src/stores/commands/commandLimits.js'
import type { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { visit, type WebPage } from '../support/webPage.js'

export interface ReasonsPage {
  database: ReturnType<typeof useDatabase>
  openAsOperator(): Promise<WebPage>
  /** Its answer as JSON. */
  command(...args: string[]): Promise<any>
  post(path: string, body: object): Promise<any>
}

const POOL = 'reasons'
const entry = (kind: string, path: string, spec: string) =>
  `apiVersion: noetl.io/v2\nkind: ${kind}\nmetadata: { name: reasons, path: ${path} }\n${spec}`
const WAITS = 'tool: { kind: http, url: "http://x.invalid" }'
const FORK = `workflow:
  - step: start
    tool: { kind: noop }
    next: { spec: { mode: inclusive }, arcs: [{ step: quick }, { step: slow }, { step: child }] }
  - { step: quick, tool: { kind: noop }, next: [join] }
  - { step: slow, ${WAITS}, next: [join] }
  - { step: child, tool: { kind: playbook, path: reasons/waits, return_result: true } }
  - { step: join, tool: { kind: noop } }
`

/** What is told of each finding, without its spans of time, and how many acts there are. */
const SHOWN = `[...document.querySelectorAll('main .findings li')].map((finding) => [
  finding.querySelector('h2').firstChild.textContent,
  ...[...finding.querySelectorAll('p')].map(({ textContent }) => textContent),
  [...finding.querySelectorAll('.buttons button')].filter(({ textContent }) => textContent.endsWith('…')).length,
])`
const timeless = (told: unknown) => JSON.parse(JSON.stringify(told).replace(/\b\d+ [smhd]\b/g, 'a while'))

/** On a daemon without NATS: nothing is published. */
export function reasonTests({ database, openAsOperator, command, post }: ReasonsPage): void {
  const sql = (text: string, ...values: string[]) => database.get().sql(text, values)
  const start = async (path: string, more: object): Promise<string> =>
    (await post('/api/execute', { path, execution_pool: POOL, ...more })).execution_id

  /** One that waits for nearly everything there is. */
  async function beset(parent: string): Promise<string> {
    const id = await start('reasons/waits', { driven: false, parent_execution_id: parent })
    const tell = (step: string, types: string[], meta: object = {}, worker_id?: string) =>
      post('/api/events/batch', {
        execution_id: id,
        events: types.map((event_type) => ({
          ...{ event_type, step, worker_id, error: event_type.endsWith('failed') ? 'no route' : undefined },
          meta: { command_id: `${id}:${step}`, execution_pool: POOL, ...meta },
        })),
      })
    await tell('entered', ['step.enter'])
    await tell('unclaimed', ['step.enter', 'command.issued'])
    await tell('running', ['step.enter', 'command.issued', 'command.claimed', 'command.started'], {}, 'alive-1')
    await tell('expired', ['step.enter', 'command.issued', 'command.claimed'], {}, 'gone-3')
    await tell('parked', ['step.enter', 'command.issued', 'command.completed'], { pending_callback: true })
    await tell('failed', ['step.enter', 'command.issued', 'command.failed'])
    await sql(
      `update noetl.outbox set attempts = 3, last_error = 'busy', available_at = now() + interval '1 hour', published_at = now(),
         status = case row when 1 then 'DEAD' when 2 then 'FAILED' else 'PUBLISHED' end
       from (select outbox_id as id, row_number() over (order by outbox_id) as row from noetl.outbox where execution_id = $1::bigint) as rows
       where outbox_id = id`,
      id,
    )
    return id
  }

  /** As long as one of its reasons is not told by the command either, it may take a moment. */
  async function tells(page: Page, id: string, reasons: readonly string[]): Promise<void> {
    await visit(page, `/console/executions/${id}?tab=why`)
    await until('the page tells what the command tells', async () => {
      await post('/api/worker/pool/register', { name: 'alive', labels: { pool_name: 'alive' } })
      const { status, findings } = await command('state', 'why-stuck', id)
      const found = findings.map(({ reason }: { reason: string }) => reason)
      expect(
        reasons.filter((reason) => !found.includes(reason)),
        `of ${found}`,
      ).toEqual([])
      const told = findings.map(({ reason, what, next, actions }: Record<string, any>) => [
        ...[reason === 'ended' ? status.toLowerCase() : reason, what, next, actions.length],
      ])
      expect(timeless(await page.evaluate(SHOWN))).toEqual(timeless(told))
      return true
    })
  }

  it('is told every reason in the words of the command, with a button for each act', async () => {
    const documents = [
      entry('Playbook', 'reasons/waits', `workflow: [{ step: start, ${WAITS} }]`),
      entry('Playbook', 'reasons/fork', FORK),
      entry(
        'Subscription',
        'reasons/source',
        'spec: { source: nats, subject: a, mode: pull, dispatch: { playbook: reasons/waits } }',
      ),
    ]
    for (const content of documents) await post('/api/catalog/register', { content })
    const { subscription_id: subscription } = await post('/api/subscriptions', { path: 'reasons/source' })
    await post(`/api/subscriptions/${subscription}/activate`, {})
    await post(`/api/subscriptions/${subscription}/pause`, { reason: 'the shop moves' })
    await pausePool(database.get().db, POOL, 'a new version')
    const [fork, foreign, many] = [
      await start('reasons/fork', {}),
      await start('reasons/waits', { driven: false }),
      await beset(subscription),
    ]
    await sql('update noetl.execution set engine = 99 where execution_id = $1::bigint', foreign)
    const { page, faults, close } = await openAsOperator()
    await tells(page, fork, [
      'paused pool',
      'missing worker pool',
      'unclaimed command',
      'waiting step',
      'child playbook',
    ])
    await tells(page, foreign, ['outbox', 'no driver', 'not driven'])
    const rows = ['dead outbox row', 'outbox backoff']
    const commands = ['entered step', 'unclaimed command', 'running command', 'expired command', 'parked callback']
    await database.get().db.tx(
      async (tx) => {
        await tx.run({ name: 'test', text: `insert into noetl.resource (name) values ('reasons')` })
        await tells(page, many, ['paused subscription', ...rows, ...commands, 'failed step', 'open transaction'])
      },
      { deadlineMs: 200_000 },
    )

    const press = async (reason: string, button: string) => {
      const finding = page.locator('.findings li').filter({ has: page.getByRole('heading', { name: reason }) })
      await finding.getByRole('button', { name: `${button}…` }).click()
      await page.getByRole('dialog', { name: button }).getByRole('button', { name: button, exact: true }).click()
      await finding.waitFor({ state: 'detached' })
    }
    await visit(page, `/console/executions/${foreign}?tab=why`)
    await press('not driven', 'Cancel the execution')
    await tells(page, foreign, ['ended'])
    await page.locator('.findings').getByRole('button', { name: 'Run again…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run again', exact: true }).click()
    await until('it runs again', async () => {
      const [counted] = await sql(
        `select count(*)::int as n from noetl.execution where path = 'reasons/waits' and status = 'RUNNING'`,
      )
      return counted!['n'] === 3
    })
    await resumePool(database.get().db, POOL)
    for (const { id } of await sql(
      `select execution_id::text as id from noetl.execution where path like 'reasons/%' and status = 'RUNNING'`,
    ))
      await post(`/api/executions/${id}/cancel`, { reason: 'seen' })
    await sql(`update noetl.outbox set status = 'PUBLISHED' where execution_id = $1::bigint`, many)
    expect(faults()).toEqual([])
    await close()
  })
}
