// Promises: every committed row reaches the stream, stored once and in order, also when relays die in the middle; one that
// died, hung or lost its lease is replaced, and its late marks change nothing.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { countBy, insertRows } from '../../support/outboxRows.js'
import { scaled } from '../../support/scale.js'
import { until } from '../../support/until.js'
import { clean, metric, useRelays } from './relays.js'

const here = useRelays()
const REFUSE_SOME = fileURLToPath(new URL('./preload/refuseSome.mjs', import.meta.url))
const SIGNAL_AT = fileURLToPath(new URL('./preload/signalAt.mjs', import.meta.url))
const ROWS = scaled(4_000, 10_000)

describe('a relay', () => {
  it(`with four relays, ${ROWS} rows, 200 executions, random refusals and a kill -9 in between`, async () => {
    await insertRows(here.database, { rows: ROWS / 2, executions: 200, prefix: here.stream.prefix })
    await Promise.all([1, 2, 3, 4].map(() => here.start({ TEST_REFUSE_SHARE: '0.04' }, [REFUSE_SOME])))
    await insertRows(here.database, {
      rows: ROWS / 2,
      executions: 200,
      prefix: here.stream.prefix,
      firstEvent: ROWS / 2 + 1,
    })
    await until('some rows are out', async () => ((await countBy(here.database))['PUBLISHED'] ?? 0) > 500)
    await here.daemons[0]!.stop('SIGKILL')
    await here.allPublished()
    expect(await here.verdict()).toEqual(clean(ROWS))
    const [refused] = await here.database.sql<{ rows: number }>(
      'select count(*)::int as rows from noetl.outbox where attempts > 1',
    )
    expect(refused?.rows).toBeGreaterThan(50)
  })

  it.each([
    ['before a publish', 'publish', '0'],
    ['in the middle of publishing', 'publish', '700'],
    ['before settling what was published', 'settle', '0'],
  ])('killed %s, is replaced by another', async (_, at, after) => {
    await insertRows(here.database, { rows: 2_000, executions: 100, prefix: here.stream.prefix })
    const victim = await here
      .start({ TEST_SIGNAL: 'SIGKILL', TEST_AT: at, TEST_AFTER: after }, [SIGNAL_AT])
      .catch(() => undefined)
    if (victim !== undefined) expect((await victim.finished).signal).toBe('SIGKILL')
    const heir = await here.start()
    await here.allPublished()
    expect(await here.verdict()).toEqual(clean(2_000))
    expect(await metric(heir, 'noetl_cp_outbox_lanes_taken_over_total')).toBeGreaterThan(0)
  })

  it('stopped past its lease, loses its lanes, and its late marks change nothing', async () => {
    await insertRows(here.database, { rows: 3_000, executions: 150, prefix: here.stream.prefix })
    const zombie = here.start({ TEST_SIGNAL: 'SIGSTOP', TEST_AT: 'publish', TEST_AFTER: '400' }, [SIGNAL_AT])
    zombie.catch(() => undefined)
    await until('the first relay hangs in the middle', async () => {
      const { state } = await here.stream.jsm.streams.info(here.stream.name)
      return state.messages > 300
    })
    await here.start()
    await here.allPublished()
    const marks = await here.database.sql<{ outbox_id: string; published_at: string }>(
      'select outbox_id, published_at from noetl.outbox order by 1',
    )
    const hung = await findStopped()
    process.kill(hung, 'SIGCONT')
    const woken = await zombie
    await until(
      'its late marks were turned away',
      async () => (await metric(woken, 'noetl_cp_outbox_fenced_total')) > 0,
    )
    expect(await here.database.sql('select outbox_id, published_at from noetl.outbox order by 1')).toEqual(marks)
    expect(await here.verdict()).toEqual(clean(3_000))
  })
})

async function findStopped(): Promise<number> {
  return until('the stopped process is found', () => {
    for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8')
        if (
          /\) T /.test(stat) &&
          command.includes('signalAt.mjs') &&
          readFileSync(`/proc/${entry}/environ`, 'utf8').includes(here.database.url)
        )
          return Number(entry)
      } catch {
        // It ended while we looked.
      }
    }
    return undefined
  })
}
