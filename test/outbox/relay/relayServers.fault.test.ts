// Promise: servers that are killed under load lose nothing, and order is kept. These tests kill their own pair
// of servers; the embedded supervisor starts them again on the same ports.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../support/binary.js'
import { cloneDatabase, type TestDatabase } from '../../support/database.js'
import { committedRows, countBy, insertRows } from '../../support/outboxRows.js'
import { type StartedServers, startServers, type TestServers } from '../../support/servers.js'
import { judge, type TestStream, useStream } from '../../support/stream.js'
import { until } from '../../support/until.js'

let servers: TestServers
let started: StartedServers
let database: TestDatabase
let stream: TestStream
let daemons: Daemon[]

beforeAll(async () => {
  started = await startServers()
  servers = started.servers
  database = await cloneDatabase(servers)
  stream = await useStream(servers)
  const env = {
    ...stream.env,
    NOETL_DATABASE_URL: database.url,
    NOETL_CP_OUTBOX_LEASE: '3',
    NOETL_CP_OUTBOX_ACK_TIMEOUT: '2',
    NOETL_CP_PROJECTOR: 'false',
  }
  daemons = await Promise.all([startDaemon([], { env }), startDaemon([], { env })])
})

afterAll(async () => {
  for (const daemon of daemons ?? []) await daemon.stop('SIGKILL')
  await stream?.connection.close()
  await database?.db.close(1_000)
  await started?.stop()
})

/** Inserting goes on through the fault as a writer's would: again until it is in. */
async function insertStubbornly(firstEvent: number, rows: number): Promise<void> {
  await until(
    'the rows are in',
    async () => {
      await insertRows(database, { rows, executions: 60, prefix: stream.prefix, firstEvent })
      return true
    },
    { timeoutMs: 120_000, everyMs: 200 },
  )
}

async function settled(): Promise<void> {
  await until('everything is published', async () => Object.keys(await countBy(database)).join() === 'PUBLISHED', {
    timeoutMs: 120_000,
    everyMs: 200,
  })
}

describe('servers killed under load', () => {
  it('NATS, by kill -9', async () => {
    for (let round = 0; round < 3; round++) {
      await insertStubbornly(round * 3_000 + 1, 1_500)
      process.kill(started.pids().nats, 'SIGKILL')
      await insertStubbornly(round * 3_000 + 1_501, 1_500)
      await settled()
    }
    expect(judge(await stream.messages(), await committedRows(database))).toEqual({
      stored: 9_000,
      lost: [],
      duplicates: [],
      outOfOrder: [],
      uninvited: [],
    })
  })

  it('Postgres, in immediate mode', async () => {
    for (let round = 0; round < 3; round++) {
      const first = 100_000 + round * 3_000
      await insertStubbornly(first, 1_500)
      process.kill(started.pids().postgres, 'SIGQUIT')
      await insertStubbornly(first + 1_500, 1_500)
      await settled()
    }
    const verdict = judge(await stream.messages(), await committedRows(database))
    expect({ ...verdict, stored: 0 }).toEqual({ stored: 0, lost: [], duplicates: [], outOfOrder: [], uninvited: [] })
    for (const daemon of daemons) expect((await daemon.get('/livez')).status).toBe(200)
    await until('both are ready again', async () =>
      (await Promise.all(daemons.map((daemon) => daemon.get('/readyz')))).every(({ status }) => status === 200),
    )
  })
})
