// Promise: a row whose acknowledgement was lost for longer than the stream remembers ids is not stored twice where that can
// be found out, and is counted where it cannot.
import { describe, expect, it } from 'vitest'
import { committedRows, insertRows } from '../../support/outboxRows.js'
import { judge } from '../../support/stream.js'
import { until } from '../../support/until.js'
import { clean, metric, useRelays } from './relays.js'

const here = useRelays()

describe('a relay', () => {
  it.each([
    ['a subject per execution: each is found in the stream and not sent again', { others: 0, repeated: 0 }],
    ['newer messages on its subject: it is found among them', { others: 1, repeated: 0 }],
    ['too many to look through: what is sent again is counted', { others: 10_001, repeated: 40 }],
  ])('loses acknowledgements for longer than the duplicate window; %s', async (_, { others, repeated }) => {
    const proxy = await here.natsProxy()
    await here.stream.make({ duplicate_window: 9e9 })
    const daemon = await here.start({
      NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}`,
      NOETL_EVENT_STREAM_DEDUP_SECS: '9',
    })
    await until('it owns the lanes', async () => (await here.lanesHeld()) === 64)
    // Not at once: a connection that has been silent for long is given up, and nothing is sent on it.
    proxy.muteAt('Noetl-Outbox-Id')
    await here.database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload)
       select n, n, $1 || case when $2 then '.shared' else '.a.b.' || n || '.0' end, '{}' from generate_series(1, 40) n`,
      [here.stream.prefix, others > 0],
    )
    const state = async () => (await here.stream.jsm.streams.info(here.stream.name)).state
    await until('all is stored', async () => (await state()).messages === 40)
    await until('the lanes are given back', async () => (await here.lanesHeld()) === 0, { timeoutMs: 120_000 })
    // Somebody else's message, after which the last one of the subject proves nothing.
    for (let n = 0; n < others; n += 1) here.stream.connection.publish(`${here.stream.prefix}.shared`, 'other')
    await until('those of others are stored', async () => (await state()).messages === 40 + others)
    const forgottenAt = Date.parse(String((await state()).last_ts)) + 9_500
    await until('the stream has forgotten the ids', () => Date.now() > forgottenAt, { timeoutMs: 120_000 })
    proxy.setMode('pass')
    await here.allPublished()
    await proxy.close()
    const ours = (await here.stream.messages()).filter(({ body }) => body !== 'other')
    const { duplicates, ...rest } = judge(ours, await committedRows(here.database))
    expect({ ...rest, duplicates: duplicates.length }).toEqual({ ...clean(40), duplicates: repeated })
    expect(await metric(daemon, 'noetl_cp_outbox_possible_duplicates_total')).toBe(repeated)
    // Where it was found counts for the audit like an acknowledgement.
    if (repeated === 0)
      expect(await here.database.sql('select 1 from noetl.outbox where stream_seq is null')).toEqual([])
  })

  it('killed with rows on their way, its lanes held and given back by one that sent nothing: none is stored twice', async () => {
    const proxy = await here.natsProxy()
    await here.stream.make({ duplicate_window: 9e9 })
    const env = { NOETL_EVENT_STREAM_DEDUP_SECS: '9' }
    const first = await here.start({ ...env, NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` })
    await until('it owns the lanes', async () => (await here.lanesHeld()) === 64)
    proxy.muteAt('Noetl-Outbox-Id')
    await insertRows(here.database, { rows: 40, executions: 40, prefix: here.stream.prefix })
    const state = async () => (await here.stream.jsm.streams.info(here.stream.name)).state
    await until('all is stored', async () => (await state()).messages === 40)
    await first.stop('SIGKILL')
    proxy.setMode('refuse')
    const second = await here.start({ ...env, NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` })
    // All of them: it takes those that it would share with the first one last.
    const taken = async () =>
      (await here.database.sql(`select 1 from noetl.lease where kind = 'outbox' and token >= 2`)).length
    await until('the second owns the lanes', async () => (await taken()) === 64, { timeoutMs: 60_000 })
    await second.stop()
    expect(await here.lanesHeld()).toBe(0)
    const forgottenAt = Date.parse(String((await state()).last_ts)) + 9_500
    await until('the stream has forgotten the ids', () => Date.now() > forgottenAt, { timeoutMs: 120_000 })
    await proxy.close()
    await here.start(env)
    await here.allPublished()
    expect(await here.verdict()).toEqual(clean(40))
  })

  it('killed with rows on their way, what the next one sends is read by the broker when it has forgotten the ids: none is stored twice', async () => {
    const proxy = await here.natsProxy()
    await here.stream.make({ duplicate_window: 14e9 })
    const env = { NOETL_EVENT_STREAM_DEDUP_SECS: '14', NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` }
    const first = await here.start(env)
    await until('it owns the lanes', async () => (await here.lanesHeld()) === 64)
    proxy.muteAt('Noetl-Outbox-Id')
    await insertRows(here.database, { rows: 40, executions: 40, prefix: here.stream.prefix })
    const messages = async () => (await here.stream.jsm.streams.info(here.stream.name)).state.messages
    await until('all is stored', async () => (await messages()) === 40)
    await first.stop('SIGKILL')
    proxy.setMode('pass')
    proxy.stallAt('Noetl-Outbox-Id', 15_000)
    await here.start(env)
    await here.allPublished()
    await proxy.close()
    expect(await here.verdict()).toEqual(clean(40))
  })
})
