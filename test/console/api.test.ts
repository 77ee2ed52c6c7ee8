// Promise: a question of the console has an answer, a refusal in the words of the server, or none; what breaks off on its way, or was
// given by somebody else, is never taken for an empty answer.
import { afterEach, expect, it, vi } from 'vitest'
import { consoleModule } from '../support/consoleModule.js'

const { ApiError, get, silentSince } = await consoleModule('lib/api.ts')
const { getJson } = await consoleModule('lib/losslessJson.ts')
const { readHead } = await consoleModule('lib/readHead.ts')

afterEach(() => {
  silentSince.value = undefined
})

function answer(body: string | ReadableStream, status = 200): void {
  vi.stubGlobal('fetch', async () => new Response(body, { status }))
}

/** Its head has come, and the first letters of its body. */
function brokenOff(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (control) => control.enqueue(new TextEncoder().encode('{"a"')),
    pull: (control) => control.error(new TypeError('network error')),
  })
}

it.each([
  ['data', () => get('/api/session')],
  ['a document', () => getJson('/api/session')],
  ['the beginning of one', () => readHead('/api/session', new AbortController().signal)],
])('takes %s that breaks off for no answer, which is asked for again', async (_, ask) => {
  answer(brokenOff())
  const refused = await ask().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ status: 0 })
  expect(silentSince.value).toBeDefined()
  answer('{"a":1}')
  await ask()
  expect(silentSince.value).toBeUndefined()
})

it('takes no page of a proxy for data', async () => {
  answer('<!doctype html><title>Log in</title>')
  await expect(get('/api/session')).rejects.toMatchObject({ status: -1, message: 'This is no answer of the daemon.' })
  answer('')
  expect(await get('/api/session')).toBeUndefined()
})

it('tells a refusal in the words of the server', async () => {
  answer('{"error":"no such job"}', 404)
  await expect(get('/api/bulk/1')).rejects.toMatchObject({
    status: 404,
    message: 'no such job',
    request: 'GET /api/bulk/1',
  })
})
