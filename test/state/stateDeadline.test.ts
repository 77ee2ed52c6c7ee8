// Promise: whoever asks for a state gets an answer, also when it takes for ever to build.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ApiRequest } from '../../src/http/route.js'
import { stateRoutes } from '../../src/http/routes/state/state.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const routes = stateRoutes({
  assertExecution: async () => undefined,
  state: { ask: () => new Promise(() => undefined), owns: () => true },
  wakeOwners: () => undefined,
})
const call = (path: string, request: object) =>
  routes.find((route) => route.path === path)!.handler(request as ApiRequest)

it('refuses after a minute and says what to do', async () => {
  const answer = call('/api/executions/:execution_id/state', { params: { execution_id: '42' } })
  const refused = expect(answer).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('building the state of execution 42 goes on, ask again'),
  })
  await vi.advanceTimersByTimeAsync(60_000)
  await refused
})

it('reports the slow ones of many as failed', async () => {
  const answer = call('/api/internal/projection/advance', { body: { execution_ids: ['42'] } })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await answer).toMatchObject({
    body: { advanced: [], failed: [{ error: expect.stringContaining('ask again') }] },
  })
})
