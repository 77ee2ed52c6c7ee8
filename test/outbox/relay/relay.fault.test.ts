// Promises: first deliveries of an execution are in outbox order, whenever their transactions commit; what cannot be sent
// is turned away or sent as a reference and holds up nobody; lanes are shared, and given back by a relay that stops.
import { describe, expect, it } from 'vitest'
import { countBy } from '../../support/outboxRows.js'
import { until } from '../../support/until.js'
import { useRelays } from './relays.js'

const here = useRelays()

describe('the relay', () => {
  it('finds a lower id that commits after a higher one was settled', async () => {
    await here.start()
    await here.stream.jsm.streams.info(here.stream.name)
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const insert = (id: number) => ({
      name: 'test',
      text: `insert into noetl.outbox (execution_id, event_id, subject, payload) values (7, ${id}, '${here.stream.prefix}.a.b.7.0', '{}')`,
    })
    const slow = here.database.db.tx(async (tx) => {
      await tx.run(insert(1))
      await held
    })
    await until(
      'the slow transaction has its id',
      async () =>
        (
          await here.database.sql(
            `select 1 from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`,
          )
        ).length > 0,
    )
    await here.database.sql(insert(2).text)
    await until('the later row is settled', async () => (await countBy(here.database))['PUBLISHED'] === 1)
    release()
    await slow
    await here.allPublished()
    expect((await here.stream.messages()).map((message) => message.messageId)).toEqual(['7:2', '7:1'])
  })

  it('publishes rows that commit behind its front before the later rows of their execution', async () => {
    await here.start()
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const insert = (execution: number, id: number) => ({
      name: 'test',
      text: `insert into noetl.outbox (execution_id, event_id, subject, payload) values (${execution}, ${id}, '${here.stream.prefix}.a.b.${execution}.0', '{}')`,
    })
    let entered: () => void = () => undefined
    const inside = new Promise<void>((resolve) => {
      entered = resolve
    })
    const slow = here.database.db.tx(async (tx) => {
      await tx.run(insert(7, 1))
      entered()
      await held
      await tx.run(insert(7, 2))
    })
    await inside
    await here.database.sql(insert(8, 1).text)
    await until('the front has passed', async () => (await countBy(here.database))['PUBLISHED'] === 1)
    // Both become visible at once, one behind the front and one before it.
    release()
    await slow
    await here.allPublished()
    expect((await here.stream.messages()).map((message) => message.messageId)).toEqual(['8:1', '7:1', '7:2'])
  })

  it('turns away malicious subjects and sends a reference for what is too large, holding up nobody', async () => {
    const subjects = [
      '>',
      `${here.stream.prefix}.*`,
      `${here.stream.prefix}.a..b`,
      `${here.stream.prefix}.a b`,
      `${here.stream.prefix}.x\r\nPUB pwned 2\r\nhi`,
      '$JS.API.STREAM.DELETE.X',
      '_INBOX.x',
      'elsewhere.a',
      `${here.stream.prefix}.${'a'.repeat(1_000_000)}`,
    ]
    for (const [index, subject] of subjects.entries()) {
      await here.database.sql(
        'insert into noetl.outbox (execution_id, event_id, subject, payload) values (9, $1, $2, $3)',
        [index + 1, subject, '{}'],
      )
    }
    await here.database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload) values (9, 100, $1, jsonb_build_object('event_id', 100, 'blob', repeat('x', 3000000)))`,
      [`${here.stream.prefix}.a.b.9.0`],
    )
    await here.database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload) values (9, 101, $1, '{"n": 1}')`,
      [`${here.stream.prefix}.a.b.9.0`],
    )
    await here.start()
    await until('all is settled', async () => {
      const counts = await countBy(here.database)
      return counts['PUBLISHED'] === 2 && counts['DEAD'] === subjects.length
    })
    const messages = await here.stream.messages()
    expect(messages.map((message) => message.messageId)).toEqual(['9:100', '9:101'])
    expect(messages[0]!.headers['Noetl-Claim-Check']).toContain('/api/outbox/payload/9/100')
    expect(messages[0]!.body.length).toBeLessThan(1_000)
    expect(messages[1]!.body).toBe('{"n": 1}')
    const dead = await here.database.sql<{ last_error: string }>(
      `select last_error from noetl.outbox where status = 'DEAD' order by outbox_id`,
    )
    for (const row of dead) expect(row.last_error).toMatch(/subject/)
  })

  it('sends a reference for what is larger than the stream takes, also when that limit is lowered later', async () => {
    const insert = (execution: number, event: number, bytes: number) =>
      here.database.sql(
        `insert into noetl.outbox (execution_id, event_id, subject, payload)
         values ($1::bigint, $2::bigint, $3, jsonb_build_object('event_id', $2::bigint, 'blob', repeat('x', $4::int)))`,
        [execution, event, `${here.stream.prefix}.a.b.${execution}.0`, bytes],
      )
    await here.stream.make({ max_msg_size: 10_000 })
    await insert(9, 1, 12_000)
    await insert(9, 2, 5_000)
    await here.start()
    await here.allPublished()
    await here.stream.jsm.streams.update(here.stream.name, { max_msg_size: 3_000 })
    await insert(9, 3, 5_000)
    await insert(9, 4, 500)
    await insert(10, 5, 2_000)
    await here.allPublished()
    const messages = (await here.stream.messages()).sort(
      (left, right) => Number(left.outboxId) - Number(right.outboxId),
    )
    expect(messages.map(({ messageId, headers }) => [messageId, 'Noetl-Claim-Check' in headers])).toEqual([
      ['9:1', true],
      ['9:2', false],
      ['9:3', true],
      ['9:4', false],
      ['10:5', false],
    ])
    expect(await here.database.sql('select max(attempts) as most from noetl.outbox')).toEqual([{ most: 1 }])
  })

  it('gives its lanes back at once when it stops', async () => {
    const first = await here.start({ NOETL_CP_OUTBOX_LEASE: '15' })
    await until('it owns the lanes', async () => (await here.lanesHeld()) === 64)
    expect((await first.stop()).code).toBe(0)
    expect(await here.lanesHeld()).toBe(0)
  })

  it('shares the lanes between two daemons', async () => {
    await here.start()
    await here.start()
    await until('each owns half', async () => {
      const rows = await here.database.sql<{ count: number }>(
        `select count(*)::int as count from noetl.lease where kind = 'outbox' and owner is not null group by owner`,
      )
      return rows.length === 2 && rows.every((row) => row.count === 32)
    })
  })
})
