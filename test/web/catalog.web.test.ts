// Promise: the console shows what is on file as it was registered, says what is wrong with it, makes a form of its workload,
// starts exactly one execution however often the button is hit, without losing a digit, makes new versions, deletes and
// restores them, and knows who would start an entry.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { hasBrowser, useBrowser } from '../support/webPage.js'

/** Where the editor has its caret, and its text. */
const CARET = `(() => {
  const area = document.querySelector('.written textarea')
  return {
    hasFocus: document.activeElement === area,
    line: area.value.slice(0, area.selectionStart).split('\\n').length,
    top: area.getBoundingClientRect().top + 6 - area.scrollTop,
    width: area.scrollWidth,
  }
})()`

const database = useDatabase()
const browser = useBrowser()
let daemon: Daemon

const TOKEN = 'token-of-the-operator'
const PATH = 'shop/<img src=x onerror=alert(1)> 100%/受注'
const PLACE = `/console/catalog/${PATH.split('/').map(encodeURIComponent).join('/')}`
const DOCUMENT = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: report, path: "${PATH}" }
workload:
  customer: "<b>Ada</b>"  # ui:description=who is billed
  big: 9007199254740993123
  deep: { big: 9007199254740993 }
  region: eu  # ui:options=eu,us
  password: hunter2  # ui:secret
  items: [1, 2]
workflow:
  - step: end
    tool: { kind: noop, result: "{{ workload.big }}" }
`

const post = (path: string, body: object) =>
  fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const register = async (content: string) => {
  expect((await post('/api/catalog/register', { content })).status).toBe(200)
}

describe.skipIf(!hasBrowser)('the catalog', () => {
  beforeAll(async () => {
    daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url, NOETL_INTERNAL_API_TOKEN: TOKEN } })
  })
  afterAll(() => daemon?.stop())

  it('is empty with advice, then lists what was registered; a document is shown letter by letter', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    // A command is told as it is called where the daemon runs.
    await page.route('**/api/session', async (route) => {
      const said = await (await route.fetch()).json()
      await route.fulfill({ json: { ...said, call: 'node /opt/noetl-cp.js {} --data-dir /d' } })
    })
    await page.goto('/console/catalog')
    await page.getByText('The catalog is empty').waitFor()
    await page.getByText('node /opt/noetl-cp.js catalog register examples/hello.yaml --data-dir /d').waitFor()
    // All that was there may have been archived.
    await page.getByRole('button', { name: 'archived, too' }).waitFor()
    await register(DOCUMENT)
    const wrong = DOCUMENT.replaceAll(PATH, 'shop/wrong').replace('- step: end', '- step: start\n    next: [nowhere]')
    await register('#\n'.repeat(2_000) + wrong)
    await page.reload()
    await page.getByRole('searchbox', { name: 'Text in the path' }).fill('受注')
    await until('the filter is in force', async () => (await page.locator('tbody tr').count()) === 1)
    await page.getByRole('link', { name: PATH }).click()
    await page.locator('.yaml-key').first().waitFor()
    const folded = page.getByRole('button', { name: 'What belongs to line 4' })
    await folded.click()
    expect(await page.getByText('ui:secret').isVisible()).toBe(false)
    await folded.click()
    expect(await page.getByText('ui:secret').isVisible()).toBe(true)
    expect((await page.locator('.yaml code').allTextContents()).join('\n')).toBe(DOCUMENT.trimEnd())

    await page.goto('/console/catalog/shop/wrong')
    await page.getByRole('list', { name: 'Problems' }).getByText('there is no step "nowhere"').waitFor()
    await page
      .getByRole('button', { name: /^line 20\d\d$/ })
      .first()
      .click()
    await page.locator('.yaml li.marked').first().waitFor()
    // What could not be found out is said.
    await page.route(/catalog\/list|playbooks\/validate/, (route) =>
      route.fulfill({ status: 503, json: { error: 'too busy', status: 503 } }),
    )
    await page.reload()
    await page.getByText('What is wrong with it is not known: too busy').waitFor()
    await page.getByText('Its other versions are not known: too busy').waitFor()
    expect(faults()).toEqual([])
    await close()
  })

  it('starts one execution from a form, with what was changed and nothing else', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`${PLACE}?tab=run`)
    const big = page.getByRole('textbox', { name: /^big/ })
    expect(await big.inputValue()).toBe('9007199254740993123')
    expect(await page.getByLabel(/^password/).inputValue()).toBe('')
    const run = page.getByRole('button', { name: /^Run shop/ })
    await big.fill('12.5')
    await page.getByText('This must be a whole number.').waitFor()
    expect(await run.isDisabled()).toBe(true)
    await big.fill('9007199254740993125')
    const deep = page.getByRole('textbox', { name: /^deep/ })
    expect(await deep.inputValue()).toBe('{\n  "big": 9007199254740993\n}')
    await deep.fill('{"big": 9007199254740995}')
    await page.getByLabel(/^region/).selectOption('us')
    await page.getByLabel(/^Labels/).fill('team=pay day=2026-11-17')
    // As JSON and back, and by way of another tab: what was filled in stays.
    await page.getByRole('button', { name: 'Write it as JSON' }).click()
    const json = page.getByLabel('What lies over the workload of the document')
    const written = await json.inputValue()
    expect(written).toContain('"big": 9007199254740993125,')
    const fields = page.getByRole('button', { name: 'Back to the fields' })
    await json.fill('{"no_field": 1}')
    expect(await fields.getAttribute('aria-disabled')).toBe('true')
    await json.fill(written.replace('993125', '993127'))
    await fields.click()
    await page.getByRole('tab', { name: 'Document' }).click()
    await page.getByRole('tab', { name: 'Run', exact: true }).click()
    expect(await big.inputValue()).toBe('9007199254740993127')
    await big.fill('9007199254740993125')
    await run.dblclick()
    await page.waitForURL(/\/executions\/\d+/)
    const id = /executions\/(\d+)/.exec(page.url())![1]!
    const started = await database
      .get()
      .sql(`select execution_id::text as id from noetl.execution where path = $1`, [PATH])
    expect(started).toEqual([{ id }])
    const [first] = await database
      .get()
      .sql(`select e::text as line from noetl.event e where execution_id = $1::bigint order by event_id limit 1`, [id])
    const line = String(first!['line'])
    expect(line).toContain('9007199254740993125')
    expect(line).toMatch(/big\W+9007199254740995\}/)
    expect(line).toMatch(/region\W+us\b/)
    await page.getByRole('searchbox', { name: 'Search' }).fill('label.team=pay')
    await page.keyboard.press('Enter')
    await page.waitForURL(/label=team%3Dpay/)
    await page.getByRole('link', { name: 'day=2026-11-17' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('label.team=other')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing matches these filters').waitFor()
    // Names of options, labels and text, in any order; what is asked is the address, and a command.
    await page.getByRole('searchbox', { name: 'Search' }).fill('onerror=alert step:end team:pay "100% /"')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/executions\?/)
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      q: 'onerror=alert 100% /',
      step: 'end',
      label: 'team=pay',
    })
    const box = page.getByRole('searchbox', { name: /^Text, id/ })
    await box.fill('100% day:2026-11-17 longer-than:1ms')
    await box.press('Enter')
    await page.getByRole('link', { name: PATH }).waitFor()
    expect(new URL(page.url()).searchParams.get('label')).toBe('team=pay,day=2026-11-17')
    await page.getByText('Copy as a command').click()
    await page
      .getByText(
        `noetl-cp execution list --q '100%' --step end --label team=pay --label day=2026-11-17 --longer-than 0.001s`,
      )
      .waitFor()
    await page.getByRole('button', { name: 'label team=pay,day=2026-11-17 ✕' }).click()
    await page.waitForURL((url) => !url.searchParams.has('label'))
    expect(faults()).toEqual([])
    await close()
  })

  it('makes a new version, says when nothing changed, and shows what is different', async () => {
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`${PLACE}?tab=edit`)
    const register = page.getByRole('button', { name: 'Register' })
    await register.click()
    await page.getByText('Unchanged: this is what version 1 says.').waitFor()
    const text = page.getByRole('textbox', { name: 'Document' })
    // What was written before is judged no more.
    const [given, asked] = [page.waitForEvent('requestfailed'), page.waitForRequest('**/api/playbooks/validate')]
    await page.route('**/api/playbooks/validate', () => undefined, { times: 1 })
    await text.fill('kind: {')
    await asked
    await text.fill('kind: [')
    expect((await given).url()).toContain('/api/playbooks/validate')
    const problems = page.getByRole('list', { name: 'Problems' })
    await problems.locator('li.error').first().waitFor()
    // What is refused marks its line, and the line can be gone to, however far down it is.
    const above = `${'#\n'.repeat(299)}# ${'\ttab, 受注 '.repeat(100)}\n`
    await text.fill(above + DOCUMENT.replace('- step: end', '- step: start\n    next: [nowhere]'))
    await problems.getByText('there is no step "nowhere"').waitFor()
    const wrong = 300 + DOCUMENT.split('\n').findIndex((line) => line.includes('- step')) + 2
    await problems
      .getByRole('button', { name: `line ${wrong}` })
      .first()
      .click()
    const marked = page.locator('.written .marked')
    await until('the line is marked', async () => (await marked.count()) === 2)
    expect(await marked.first().getAttribute('data-line')).toBe(String(wrong))
    expect(await marked.last().textContent()).toBe('    next: [nowhere]')
    const caret: { hasFocus: boolean; line: number; top: number; width: number } = await page.evaluate(CARET)
    expect(caret).toMatchObject({ hasFocus: true, line: wrong })
    // Letter over letter: the line is drawn where the text area has it, and as wide.
    const drawn = (await marked.last().boundingBox())!
    expect(drawn.y).toBeCloseTo(caret.top + (wrong - 1) * 20, 0)
    expect(drawn.width).toBeCloseTo(caret.width + 8, -0.5)
    await text.fill(DOCUMENT.replace('region: eu', 'region: ap'))
    await page.getByText('No problems found.').waitFor()
    await register.click()
    await page.getByRole('heading', { name: `${PATH}@2` }).waitFor()
    // Whoever has written something is asked before it goes with the page.
    await page.getByRole('tab', { name: 'New version' }).click()
    await text.fill(DOCUMENT.replaceAll(PATH, 'shop/other'))
    const warning = page.waitForEvent('dialog')
    const reloading = page.evaluate('location.reload()')
    const dialog = await warning
    expect(dialog.type()).toBe('beforeunload')
    await Promise.all([dialog.dismiss(), reloading])
    // Another path is another entry.
    await register.click()
    await page.getByRole('heading', { name: 'shop/other@1' }).waitFor()
    await page.goto(PLACE)
    await page.getByRole('tab', { name: 'Versions' }).click()
    const changed = page.getByRole('list', { name: 'Difference' }).locator('.out, .in')
    await until('the difference is drawn', async () => (await changed.count()) === 2)
    expect(await changed.allTextContents()).toEqual([
      '−  region: eu  # ui:options=eu,us',
      '+  region: ap  # ui:options=eu,us',
    ])
    expect(faults()).toEqual([])
    await close()
  })

  it('deletes a version with a reason, archives what was run, and brings it back', async () => {
    const path = 'removal/kept'
    await register(DOCUMENT.replaceAll(PATH, path))
    await register(DOCUMENT.replaceAll(PATH, path).replace('region: eu', 'region: ap'))
    for (const version of [1, 2]) expect((await post('/api/execute', { path, version })).status).toBe(200)
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto(`/console/catalog/${path}`)
    await page.getByRole('button', { name: 'log in' }).click()
    await page.getByLabel('Token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'operator' }).waitFor()
    const remove = async (button: string, versions: string): Promise<void> => {
      await page.getByRole('button', { name: `${button}…` }).click()
      await page.getByLabel('Versions').selectOption({ label: versions })
      const act = page.getByRole('dialog').getByRole('button', { name: button, exact: true })
      expect(await act.isDisabled()).toBe(button === 'Delete')
      await page.getByLabel('Reason').fill('was wrong')
      await act.click()
    }
    await remove('Delete', '@2')
    await page.getByRole('heading', { name: `${path}@1` }).waitFor()
    // What is archived is no newer version to go on with.
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('row', { name: '@2 archived' }).waitFor()
    expect(await page.getByText('Newest is').count()).toBe(0)
    await remove('Delete', '@1')
    await page.waitForURL(/catalog$/)
    await page.getByRole('button', { name: 'archived, too' }).waitFor()
    const kept = await post('/api/catalog/list', { path, include_archived: true })
    expect(await kept.json()).toMatchObject({
      entries: [2, 1].map((version) => ({ version, archived_at: expect.any(String) })),
    })
    await page.getByRole('button', { name: 'archived, too' }).click()
    const row = page.getByRole('row', { name: path })
    expect(await row.getByRole('cell').allTextContents()).toEqual(expect.arrayContaining(['@2', '2']))
    await row.getByRole('link').click()
    await remove('Restore', '@2')
    await page.getByRole('button', { name: 'Delete…' }).waitFor()
    const { activity } = (await daemon.get(`/api/activity?kind=catalog`)).body
    expect(activity.map(({ reason }: { reason: string }) => reason)).toEqual(['was wrong', 'was wrong', 'was wrong'])
    // What was done to which version is told, and how every act ended is in sight.
    await database
      .get()
      .sql(`insert into noetl.operator_action (actor, role, via, action, target_kind, target_id, reason, outcome, error)
      values ('Ada (token-1a2b3c4d)', 'operator', 'console', 'subscriptions.dead.redrive', 'job',
        'd036b54c-7e30-4967-bae9-879d85f57731', 'it is back', 'refused', 'there is no job of that id here any more')`)
    await page.goto('/console/activity')
    await page.getByRole('row', { name: 'no job of that id' }).waitFor()
    expect(await page.getByRole('link', { name: `${path}@2`, exact: true }).count()).toBe(2)
    const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('main .scroll'))`
    expect(await page.evaluate(hidden)).toBe(0)
    expect(faults()).toEqual([])
    await close()
  })

  it('makes a subscription of its document, and has it go on with a newer one', async () => {
    const path = 'shop/orders'
    const document = `apiVersion: noetl.io/v2
kind: Subscription
metadata: { name: orders, path: ${path} }
spec: { source: nats, subject: orders.created, mode: pull, dispatch: { playbook: ${path} } }
`
    await register(document)
    const { page, faults, close } = await browser.open(daemon.url)
    const act = async (name: string) => {
      await page.getByRole('button', { name: `${name}…` }).click()
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
    }
    await page.goto(`/console/catalog/${path}`)
    await page.getByText('none yet: it delivers nothing').waitFor()
    await act('Register')
    await page.getByRole('img', { name: 'Lifecycle: registered;' }).waitFor()
    const place = page.url()
    await register(document.replace('created', 'changed'))
    await page.goto(`/console/catalog/${path}`)
    await act('Use @2')
    await page.waitForURL(place)
    await page.getByRole('link', { name: 'version 2' }).click()
    await page.locator('.facts', { hasText: 'registered @2' }).waitFor()
    expect(await page.getByRole('button', { name: /^(Use|Register)/ }).count()).toBe(0)
    expect(faults()).toEqual([])
    await close()
  })

  it('is a tree whose open folders are in the address, and tells what would start an entry', async () => {
    const callOf = (path: string) =>
      DOCUMENT.replaceAll(PATH, path).replace('kind: noop', `kind: playbook, path: '${PATH}'`)
    await register(callOf('tree/a/one'))
    await register(callOf('tree/a/two').replace('kind: playbook, path', 'kind: noop, other'))
    await register(DOCUMENT.replaceAll(PATH, 'tree'))
    const { page, faults, close } = await browser.open(daemon.url)
    await page.goto('/console/catalog')
    const folder = page.getByRole('button', { name: 'tree/a/' })
    await page.getByRole('link', { name: 'tree/a/one' }).waitFor()
    await folder.focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('link', { name: 'tree/a/one' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('link', { name: 'tree', exact: true }).waitFor()
    expect(await folder.getAttribute('aria-expanded')).toBe('false')
    await folder.click()
    // From row to row, and Enter opens.
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'tree/a/one@1' }).waitFor()

    await page.goto(`${PLACE}?tab=used-by`)
    const users = page.locator('tbody tr')
    await users.first().waitFor()
    expect(await users.allTextContents()).toEqual(['tree/a/one @1playbookstep end'])
    await page.goto('/console/catalog/tree/a/one?tab=used-by')
    await page.getByRole('heading', { name: 'Nothing starts this by itself' }).waitFor()
    expect(faults()).toEqual([])
    await close()
  })
})
