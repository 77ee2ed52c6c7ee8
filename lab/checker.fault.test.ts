// Promise: the checker of the lab catches damage in real data. A daemon writes, publishes and folds; all agrees; then
// somebody deletes a message, forges snapshots, changes the log or leaves a row behind, and each is named.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../test/support/binary.js'
import { playbook } from '../test/support/core.js'
import { cloneDatabase, type TestDatabase } from '../test/support/database.js'
import { type TestStream, useStream } from '../test/support/stream.js'
import { until } from '../test/support/until.js'
import { judgeAgreement } from './agreement.js'
import { type Evidence, readShard } from './evidence.js'
import { judgeEvidence } from './judge.js'
import { type Ledger, openLedger } from './ledger.js'

let database: TestDatabase
let stream: TestStream
let daemon: Daemon
let ledger: Ledger
const ids: string[] = []

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  stream = await useStream(inject('servers'))
  daemon = await startDaemon([], {
    env: {
      ...stream.env,
      NOETL_DATABASE_URL: database.url,
      NOETL_CP_SNAPSHOT_EVENTS: '3',
      NOETL_CP_SNAPSHOT_AT_END: 'keep',
      NOETL_CP_REPLAY_SNAPSHOT_EVENTS: '5',
      NOETL_CP_LOG_LEVEL: 'warn',
    },
  })
  ledger = openLedger()
  await post('/api/catalog/register', { content: playbook('chaos/checked') })
  for (let n = 0; n < 4; n++) await runExecution(n)
  await until('everything is published and saved', async () => {
    const [row] = await database.sql<{ open: number; saved: number }>(
      `select (select count(*)::int from noetl.outbox where status <> 'PUBLISHED') as open,
         (select count(*)::int from noetl.projection_snapshot) as saved`,
    )
    return row!.open === 0 && row!.saved >= 2 * ids.length
  })
})
afterAll(async () => {
  await daemon?.stop()
  await stream?.close()
  await database?.drop()
})

async function post(path: string, body: object): Promise<any> {
  const response = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return response.json()
}

async function runExecution(n: number): Promise<void> {
  const mark = `start-${n}`
  const executionId: string = (await post('/api/execute', { path: 'chaos/checked', payload: { mark }, driven: false }))
    .execution_id
  ids.push(executionId)
  ledger.starts.set(mark, new Set([executionId]))
  const events = ['step.enter', 'command.issued', 'command.completed', 'step.exit', 'step.enter', 'step.exit'].map(
    (type, index) => ({
      eventId: ledger.mintId(),
      type,
      step: `s${index > 3 ? 2 : 1}`,
      mark: `event-${n}-${index}`,
      at: 0,
      acknowledged: true,
    }),
  )
  ledger.add({ executionId, mark, writer: 'http', events })
  for (const { eventId, type, step, mark } of events) {
    await post('/api/events', {
      execution_id: executionId,
      event_id: eventId,
      event_type: type,
      step,
      meta: { command_id: `${executionId}:1` },
      payload: { mark },
    })
  }
}

async function evidence(): Promise<Evidence> {
  const shard = await readShard(database)
  // No other installation here: what it would hold is what was published.
  const projected = shard.events.filter((row) => shard.outbox.some(({ event_id }) => event_id === row.event_id))
  return { shards: [shard], messages: await stream.messages(), deadLetters: [], quarantined: [], projected }
}
const judged = async () => found(judgeEvidence(await evidence(), ledger, undefined).violations)
const found = (violations: readonly { invariant: string; kind: string; executionId?: string }[]) =>
  violations.map(({ invariant, kind, executionId }) => `${invariant} ${kind} ${ids.indexOf(executionId ?? '')}`)

async function agreed(): Promise<string[]> {
  const { executions } = await readShard(database)
  const { violations, snapshots, seeds } = await judgeAgreement(
    executions.map((row) => ({ executionId: row.execution_id, database, status: row.status })),
    {
      state: async (id) => (await daemon.get(`/api/executions/${id}/state`)).text,
      replay: async (id) => {
        const url = new URL(`/api/replay/state?execution_id=${id}&from_snapshot=true`, daemon.url)
        const response = await fetch(url)
        return {
          checksum: response.headers.get('x-noetl-checksum')!,
          seed: response.headers.get('x-noetl-seed')!,
          text: await response.text(),
        }
      },
    },
  )
  expect([snapshots, seeds]).toEqual([ids.length, ids.length])
  return found(violations).sort()
}

describe('the checker', () => {
  it('finds nothing where nothing is wrong', async () => {
    expect(await judged()).toEqual([])
    expect(await agreed()).toEqual([])
  })

  it('finds a message that was deleted from the stream', async () => {
    const [message] = (await stream.messages()).filter(({ executionId }) => executionId === ids[0])
    await stream.jsm.streams.deleteMessage(stream.name, message!.seq)
    expect(await judged()).toEqual(['I1 lost 0'])
  })

  it('finds a row that is left behind, and a message that nobody committed', async () => {
    await database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload, status, available_at)
       values ($1::bigint, 1, $2::text, '{}', 'FAILED', now() + interval '1 hour')`,
      [ids[1]!, `${stream.prefix}.x.y.${ids[1]}.0`],
    )
    expect(await judged()).toEqual(['I1 lost 0', 'I1 lost 1', 'I1 stuck 1', 'I5 not projected 1'])
    await database.sql('delete from noetl.outbox where event_id = 1')
    const [message] = (await stream.messages()).filter(({ executionId }) => executionId === ids[2])
    const { headers } = await import('nats')
    const forged = headers()
    for (const [key, value] of Object.entries(message!.headers)) if (key !== 'Nats-Msg-Id') forged.set(key, value)
    forged.set('Nats-Msg-Id', `${ids[2]}:4711`)
    await stream.connection.jetstream().publish(message!.subject, message!.body, { headers: forged })
    expect(await judged()).toEqual(expect.arrayContaining(['I1 lost 0', 'I1 uninvited 2']))
  })

  it('finds forged checksums, of live snapshots and of those for replays', async () => {
    await database.sql(
      `update noetl.projection_snapshot set checksum = repeat('0', 64) where aggregate_id = $1::text and aggregate_type = 'cp_workflow_state'`,
      [ids[0]!],
    )
    await database.sql(
      `update noetl.projection_snapshot set snapshot_bytes = set_byte(snapshot_bytes, 20, 255 - get_byte(snapshot_bytes, 20)) where aggregate_id = $1::text`,
      [`execution/${ids[1]}/all`],
    )
    expect(await agreed()).toEqual(['I4 forged snapshot 0', 'I4 forged snapshot 1'])
  })

  it('finds a log that was changed under a live state, and a read model that lies', async () => {
    await database.sql(
      `update noetl.event set node_name = 'elsewhere' where execution_id = $1::bigint and stream_version = 6`,
      [ids[2]!],
    )
    await database.sql(`update noetl.execution set status = 'FAILED' where execution_id = $1::bigint`, [ids[3]!])
    const violations = await agreed()
    expect(violations).toContain('I4 disagreement 2')
    expect(violations).toContain('I5 not projected 3')
  })
})
