// Promise: whatever a body of the largest size holds, everybody else is served meanwhile, and memory is given back. Every
// public route that takes a large body or a document is attacked; the daemon answers as it would answer a small one. `make test` sends
// one of every kind, `make test-long` and `make bench` every form.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { attackedDocuments, HOOK_TOKEN, hostileRequests } from '../../bench/lib/hostileRequests.mjs'
import { type Daemon, startDaemon } from '../support/binary.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { IS_LONG } from '../support/scale.js'
import { expectUnmoved } from './underAttack.js'

/** Threads have a heap of their own, bounded by NOETL_CP_WORKER_MEMORY_MB. */
const GROWN_MB_MAX = 600
let database: TestDatabase
let daemon: Daemon

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.url,
      NOETL_SECRET_ATTACKED_HOOK: HOOK_TOKEN,
      NODE_OPTIONS: '--max-old-space-size=512',
    },
  })
  for (const content of attackedDocuments) await post('/api/catalog/register', JSON.stringify({ content }))
  const hook = await post('/api/subscriptions', '{"path":"attacks/hook"}')
  await post(`/api/subscriptions/${String(JSON.parse(hook.text)['subscription_id'])}/activate`, '{}')
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    body,
    headers,
    signal: AbortSignal.timeout(60_000),
  })
  return { status: response.status, text: await response.text() }
}

const start = async (): Promise<string> =>
  JSON.parse((await post('/api/execute', '{"path":"attacks/playbook","driven":false}')).text).execution_id

const sent = IS_LONG
  ? hostileRequests
  : hostileRequests.filter(({ kind }, index) => hostileRequests.findIndex((other) => other.kind === kind) === index)

describe('served meanwhile', () => {
  it.each(sent)('$name', async ({ path, body, headers, status }) => {
    await expectUnmoved(daemon, GROWN_MB_MAX, async () => {
      const id = await start()
      const answer = await post(typeof path === 'string' ? path : path(id), body(id), headers)
      // A thread of a busy machine may run out of time; nobody else does.
      expect([status, 503], answer.text.slice(0, 500)).toContain(answer.status)
    })
  })
})
