// Promise: the client has the types of the routes as they are, sends what they describe, and tells what was refused.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ApiError, type Client, createClient } from '../../src/client/index.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { openApiDocument } from '../../src/http/openApi.js'
import { buildRoutes } from '../../src/http/routes/index.js'
import { systemClock } from '../../src/runtime/clock.js'

it('is current; "make client" writes it', async () => {
  const { operationsSource } = await import('../../scripts/clientTypes.mjs' as string)
  const document = openApiDocument(buildRoutes({ clock: systemClock } as Parameters<typeof buildRoutes>[0]), '')
  const written = readFileSync(new URL('../../src/client/operations.ts', import.meta.url), 'utf8')
  expect(written).toBe(operationsSource(document))
})

interface Sent {
  url: string
  method: string | undefined
  headers: Record<string, string>
  body: unknown
}

function talking(status: number, answer: unknown): { client: Client; sent: Sent[] } {
  const sent: Sent[] = []
  const client = createClient({
    url: 'http://daemon:8082',
    token: 'secret',
    fetch: async (url, { method, headers, body } = {}) => {
      sent.push({ url: String(url), method, headers: headers as Record<string, string>, body })
      return new Response(JSON.stringify(answer), { status })
    },
  })
  return { client, sent }
}

it('puts parameters where they belong, asks for ids as text and shows its token', async () => {
  const { client, sent } = talking(200, { status: 'RUNNING' })
  const answer = await client.call('getExecutionsByExecutionId', {
    params: { execution_id: '9007199254740993' },
    query: { page: 2, event_type: 'step.exit' },
  })
  expect(answer.status).toBe('RUNNING')
  expect(sent).toMatchObject([
    {
      url: 'http://daemon:8082/api/executions/9007199254740993?page=2&event_type=step.exit&ids=string',
      method: 'GET',
      headers: { authorization: 'Bearer secret' },
      body: undefined,
    },
  ])
})

it('sends bodies as JSON, and a path with slashes as one word', async () => {
  const { client, sent } = talking(200, {})
  await client.call('postExecute', { body: { path: 'a/b', version: 3 } })
  await client.call('getCatalogByPathUiSchema', { params: { path: 'a/b' } })
  expect(parseJson(String(sent[0]!.body))).toEqual({ path: 'a/b', version: 3 })
  expect(sent[0]!.headers['content-type']).toBe('application/json')
  expect(sent[1]!.url).toContain('/api/catalog/a%2Fb/ui_schema?')
})

it('throws what was refused, with status, words and detail', async () => {
  const { client } = talking(409, { error: 'taken', status: 409, detail: { code: 'active_claim' } })
  const failure = await client.call('getExecutions', {}).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure).toMatchObject({ status: 409, message: 'taken', detail: { code: 'active_claim' } })
})

it('says when nobody answers', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1' })
  await expect(client.call('getExecutions', {})).rejects.toMatchObject({
    status: 0,
    message: expect.stringContaining('127.0.0.1:1'),
  })
})
