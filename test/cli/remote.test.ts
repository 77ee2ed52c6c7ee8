// Promise: with --url a command speaks to that daemon alone, shows its token, and needs no database; one that cannot work
// that way says so.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { cli } from '../support/cli.js'

interface Asked {
  line: string
  authorization: string | undefined
  body: string
}

let server: Server
let url: string
const asked: Asked[] = []
const answers: Record<string, [number, object]> = {
  'POST /api/execute': [200, { execution_id: '9007199254740993', status: 'started', commands_generated: 0 }],
  'POST /api/executions/7/cancel': [200, { execution_id: '7', status: 'cancelled', cancelled_executions: ['7', '8'] }],
  'POST /api/executions/9/cancel': [200, { execution_id: '9', status: 'completed', cancelled_executions: [] }],
  'GET /api/executions/7/result': [200, { rows: 3 }],
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      const line = `${request.method} ${request.url?.split('?')[0]}`
      asked.push({ line, authorization: request.headers.authorization, body })
      const [status, answer] = answers[line] ?? [404, { error: 'there is none', status: 404, detail: 'there is none' }]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  asked.length = 0
})
afterAll(() => {
  server.close()
})

const remote = (...args: string[]) => cli([...args, '--url', url, '--token', 'secret', '--json'])

it('starts an execution, every digit of its id included', async () => {
  const ran = await remote('execution', 'start', 'demo/hello', '--entry-version', '2', '--payload', '{"n": 1}')
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('"9007199254740993"') })
  expect(asked).toMatchObject([{ line: 'POST /api/execute', authorization: 'Bearer secret' }])
  expect(JSON.parse(asked[0]!.body)).toEqual({ path: 'demo/hello', version: 2, payload: { n: 1 } })
})

it('cancels with what is below, and is refused where nothing was left', async () => {
  const ran = await remote('execution', 'cancel', '7', '--cascade')
  expect(JSON.parse(ran.stdout)).toEqual({ execution_id: '7', status: 'CANCELLED', cancelled_children: ['8'] })
  expect(await remote('execution', 'cancel', '9')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('COMPLETED'),
  })
})

it('shows results, and says what does not exist', async () => {
  expect(JSON.parse((await remote('execution', 'result', '7')).stdout)).toEqual({ rows: 3 })
  expect(await remote('execution', 'result', '5')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is none'),
  })
})

it('says so when a command needs the database', async () => {
  const why = 'it is a relay of its own'
  expect(await remote('outbox', 'drain')).toMatchObject({ code: 4, stderr: expect.stringContaining(why) })
  const env = { NOETL_CP_URL: url }
  expect(await cli(['outbox', 'drain'], { env })).toMatchObject({ code: 4, stderr: expect.stringContaining(why) })
  expect(asked).toEqual([])
})

it('offers --url where it can be used, and only there', async () => {
  expect((await cli(['outbox', 'list', '--help'])).stdout).toMatch(/--url .*--token /s)
  expect((await cli(['outbox', 'drain', '--help'])).stdout).not.toMatch(/--url|--token/)
})

it('says so when nobody answers there', async () => {
  const ran = await cli(['execution', 'start', 'demo/hello', '--url', 'http://127.0.0.1:1'])
  expect(ran).toMatchObject({ code: 69, stderr: expect.stringContaining('127.0.0.1:1') })
})
