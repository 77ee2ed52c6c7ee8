// Promise: trouble of the broker (cut and silent links, a full stream, a stream that is gone) holds rows up and loses,
// repeats and disorders none, and uses up none of their attempts.
import { describe, expect, it } from 'vitest'
import { committedRows, insertRows } from '../../support/outboxRows.js'
import { judge } from '../../support/stream.js'
import { until } from '../../support/until.js'
import { clean, metric, useRelays } from './relays.js'

const here = useRelays()

describe('the relay', () => {
  it('goes on after NATS links were black-holed and reset', async () => {
    const proxy = await here.natsProxy()
    const daemon = await here.start({ NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` })
    for (const [index, fault] of (['blackhole', 'reset', 'refuse'] as const).entries()) {
      await insertRows(here.database, {
        rows: 1_000,
        executions: 50,
        prefix: here.stream.prefix,
        firstEvent: index * 2_000 + 1,
      })
      if (fault === 'reset') proxy.reset()
      else proxy.setMode(fault)
      await insertRows(here.database, {
        rows: 1_000,
        executions: 50,
        prefix: here.stream.prefix,
        firstEvent: index * 2_000 + 1_001,
      })
      if (fault !== 'reset')
        await until('the loss is noticed', async () => (await daemon.get('/readyz')).status === 503)
      proxy.setMode('pass')
      await here.allPublished()
    }
    await proxy.close()
    expect(await here.verdict()).toEqual(clean(6_000))
    const attempts = await here.database.sql('select max(attempts) as most from noetl.outbox')
    expect(attempts).toEqual([{ most: 1 }])
  })

  it('waits while the stream is full or gone, without burning attempts, and keeps the order', async () => {
    await here.stream.make({ max_msgs: 300, discard: 'new' as never })
    await insertRows(here.database, { rows: 1_000, executions: 40, prefix: here.stream.prefix })
    const daemon = await here.start()
    await until(
      'the stream is full',
      async () => (await here.stream.jsm.streams.info(here.stream.name)).state.messages === 300,
    )
    await until(
      'the relay has noticed',
      async () => (await metric(daemon, 'noetl_cp_outbox_publish_total\\{outcome="unavailable"\\}')) > 0,
    )
    await here.stream.jsm.streams.update(here.stream.name, { max_msgs: -1 })
    await here.allPublished()
    expect(await here.verdict()).toEqual(clean(1_000))

    await here.stream.jsm.streams.delete(here.stream.name)
    await insertRows(here.database, { rows: 500, executions: 40, prefix: here.stream.prefix, firstEvent: 1_001 })
    await until(
      'publishing is refused',
      async () => (await metric(daemon, 'noetl_cp_outbox_publish_total\\{outcome="unavailable"\\}')) > 1,
    )
    await until('the stream is made again', () => here.stream.jsm.streams.info(here.stream.name).then(() => true), {
      timeoutMs: 120_000,
    })
    await here.allPublished()
    const messages = await here.stream.messages()
    expect(judge(messages, (await committedRows(here.database)).slice(1_000))).toEqual(clean(500))
    expect(await here.database.sql('select max(attempts) as most from noetl.outbox')).toEqual([{ most: 1 }])
  })
})
