// Makes the pictures of the web console that the README shows: a daemon of its own, filled by `demo`, in a real browser.
// Run by hand after the look of a screen has changed.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BINARY = join(ROOT, 'bin/noetl-cp.js')
const PICTURES = join(ROOT, 'docs/images')
const READY_MS = 60_000
const PATIENCE_MS = 30_000

const folder = mkdtempSync(join(tmpdir(), 'noetl-pictures-'))
const daemon = spawn(process.execPath, [BINARY, 'serve', '--json', '--port', '0', '--data-dir', folder], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = new Promise((resolve) => daemon.on('exit', resolve))

try {
  const { url } = await ready()
  command('demo')
  const { executions } = JSON.parse(command('execution', 'list', '--status', 'COMPLETED', '--json'))
  const longest = executions.toSorted((left, right) => right.event_count - left.event_count)[0]
  const branched = executions.find(({ path }) => path === 'demo/import-orders')
  await takePictures(url, [
    { name: 'executions', path: '/console/executions', shows: 'choose a time' },
    { name: 'execution', path: `/console/executions/${longest.execution_id}`, shows: /checksum [0-9a-f]{8}/ },
    {
      name: 'graph',
      path: `/console/executions/${branched.execution_id}?tab=graph`,
      shows: 'As a table',
      theme: 'dark',
    },
    { name: 'catalog', path: '/console/catalog/demo/weekly-report', shows: 'apiVersion' },
  ])
  // Charts need a while with something going on.
  for (const starts of [3, 1, 4, 2, 6, 3, 5, 2, 4, 1]) {
    for (let n = 0; n < starts; n++) command('execution', 'start', 'demo/weekly-report')
    await new Promise((resolve) => setTimeout(resolve, 5_000))
  }
  await takePictures(url, [{ name: 'overview', path: '/console/', shows: 'Ready.' }])
} finally {
  daemon.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
}

function ready() {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the daemon did not become ready')), READY_MS)
    let said = ''
    daemon.stdout.on('data', (chunk) => {
      said += chunk
      const line = said.split('\n').find((text) => text.includes('"url"') || text.includes('"address"'))
      if (line === undefined || !said.includes('\n')) return
      clearTimeout(timer)
      const told = JSON.parse(line)
      resolve({ url: told.url ?? told.address })
    })
    daemon.on('exit', (code) => reject(new Error(`the daemon ended with ${code}`)))
  })
}

function command(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BINARY, ...args, '--data-dir', folder], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

async function takePictures(origin, pictures) {
  const login = /http\S+/.exec(command('console', '--print'))[0]
  mkdirSync(PICTURES, { recursive: true })
  const executablePath = process.env.NOETL_TEST_CHROMIUM ?? findChromium()
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
  try {
    const context = await browser.newContext({ baseURL: origin, viewport: { width: 1280, height: 720 } })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    // As an installed program is called: where this one lies is nobody's business.
    await context.route(/\/(api|console)\/session$/, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), call: 'noetl-cp {}' } })
    })
    await page.goto(login)
    await page.getByText('Ready.').waitFor()
    for (const { name, path, shows, theme = 'light' } of pictures) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.goto(path)
      await page.locator('main').getByText(shows).first().waitFor()
      await page.waitForLoadState('load')
      await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' })
      await page.mouse.move(0, 0)
      const picture = await page.screenshot({ animations: 'disabled' })
      writeFileSync(join(PICTURES, `${name}.png`), picture)
      process.stdout.write(`docs/images/${name}.png  ${Math.round(picture.length / 1024)} KB\n`)
    }
  } finally {
    await browser.close()
  }
}

function findChromium() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
    if (status === 0) return stdout.trim()
  }
  throw new Error('there is no Chromium: sh scripts/ensure-chromium.sh')
}
