// Promise: every playbook in examples/ gives what its first lines say, in a daemon as it comes out of the box.
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url))
const FILES = (await readdir(EXAMPLES)).filter((name) => name.endsWith('.yaml') && name !== 'webhook_subscription.yaml')
const PAGES = [['a', 'b'], ['c', 'd'], ['e']]
const GOODS = ['table', 'chair', 'lamp'].map((name, index) => ({ id: index + 1, name }))

const database = useDatabase()
let daemon: Daemon
let server: Server
let url: string

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    const page = Number(searchParams.get('page'))
    const answers: Record<string, unknown> = {
      '/pages': { items: PAGES[page - 1], next: page < PAGES.length ? page + 1 : null },
      '/double': { value: Number(searchParams.get('n')) * 2 },
      '/goods': { goods: GOODS },
    }
    response.writeHead(answers[pathname] === undefined ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answers[pathname] ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { hostname, port, username, password, pathname } = new URL(database.get().url)
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.get().url,
      NOETL_SECRET_EXAMPLES_HOOK: 'the-token',
      NOETL_CRED_EXAMPLES_DB_DB_HOST: hostname,
      NOETL_CRED_EXAMPLES_DB_DB_PORT: port,
      NOETL_CRED_EXAMPLES_DB_DB_USER: username,
      NOETL_CRED_EXAMPLES_DB_DB_PASSWORD: password,
      NOETL_CRED_EXAMPLES_DB_DB_NAME: pathname.slice(1),
    },
  })
})
afterAll(async () => {
  await daemon?.stop()
  server?.close()
})

const command = (...args: string[]) =>
  builtCli([...args, '--port', new URL(daemon.url).port], { env: { NOETL_DATABASE_URL: database.get().url } })

it.each(FILES)('%s', async (name) => {
  const text = await readFile(`${EXAMPLES}${name}`, 'utf8')
  const promised = /^# result: (.*)$/m.exec(text)?.[1]
  const { code, stdout, stderr } = await command('run', `${EXAMPLES}${name}`, '--result', '--set', `url=${url}`)
  expect([code, stderr]).toEqual([0, expect.stringContaining('COMPLETED')])
  expect(JSON.parse(stdout)).toEqual(JSON.parse(promised!))
})

it('webhook_subscription.yaml starts a run for each request', async () => {
  await command('catalog', 'register', `${EXAMPLES}webhook.yaml`)
  await command('catalog', 'register', `${EXAMPLES}webhook_subscription.yaml`)
  const registered = await command('subscription', 'register', 'examples/orders', '--json')
  const id = String(JSON.parse(registered.stdout).subscription_id)
  expect((await command('subscription', 'activate', id)).code).toBe(0)
  const started = await until('the listener is open', async () => {
    const answer = await fetch(`${daemon.url}/ingress/orders`, {
      method: 'POST',
      headers: { authorization: 'Bearer the-token', 'content-type': 'application/json' },
      body: '{"order": 17}',
    })
    const body = (await answer.json()) as { execution_id?: string }
    return body.execution_id
  })
  const watched = await command('execution', 'watch', started!, '--result')
  expect([watched.code, JSON.parse(watched.stdout)]).toEqual([0, { order: 17 }])
})
