// Promise: a lifecycle event that another writer commits is honoured at once. No start is committed more than a second
// after it, by the clock of the database, whichever of two daemons drives the subscription and although nobody is
// notified; what was not started is started after the resume, each message once.
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { projectEnvelopes } from '../../src/services/projector/projector.js'
import { findSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { createLogWatch } from '../../src/services/subscriptions/logWatch.js'
import type { TestCore } from '../support/core.js'
import { scaled } from '../support/scale.js'
import { until } from '../support/until.js'
import { changeForeign, STATUS } from './foreignEvents.js'
import { numbers, openPullRuntime, type PullRuntime } from './runtime.js'

const MESSAGES = scaled(2_000, 4_000)

/** Ways in which such an event comes into the log. */
const WAYS: [string, (runtime: PullRuntime, id: string, type: string) => Promise<unknown>][] = [
  ['written straight into the table', ({ cores, shards }, id, type) => changeForeign(cores[0]!, shards, id, type)],
  [
    'posted with the internal token',
    ({ cores: [core] }, id, type) =>
      ingestEvent(core!, { execution_id: id, event_type: `subscription.${type}`, step: 'tests' }, { isInternal: true }),
  ],
  [
    'brought by the projector',
    ({ cores: [core] }, id, type) => projectEnvelopes(core!, [{ value: envelope(core!, id, type) }], 'test'),
  ],
]

function envelope(core: TestCore, id: string, type: string): JsonObject {
  return {
    execution_id: id,
    event_id: core.ids.next(),
    event_type: `subscription.${type}`,
    catalog_id: '1',
    status: STATUS[type] ?? 'ACTIVE',
    timestamp: new Date().toISOString(),
  }
}

describe.each([1, 2])('over %i database(s)', (count) => {
  let runtime: PullRuntime
  const watches: ReturnType<typeof createLogWatch>[] = []

  beforeAll(async () => {
    runtime = await openPullRuntime(inject('servers'), { shards: count, cores: 2 })
  })
  afterEach(async () => {
    await runtime.rest()
    await Promise.all(watches.splice(0).map((watch) => watch.stop(1_000)))
  })
  afterAll(() => runtime.close())

  /** Both daemons, without a listener for notifications. */
  async function driveBoth(): Promise<void> {
    for (const [index, core] of runtime.cores.entries()) {
      await runtime.drive(index)
      const watch = createLogWatch({
        ...core,
        random: () => 0.5,
        onFollowed: () => undefined,
        onError: (error) => {
          throw error
        },
      })
      await watch.start()
      watches.push(watch)
    }
  }

  const databaseNow = async (): Promise<number> =>
    (await runtime.shards[0]!.sql<{ now: number }>('select extract(epoch from clock_timestamp())::float8 as now'))[0]!
      .now

  it.each(WAYS)(
    '%s',
    async (name, write) => {
      const subject = `foreign${count}.${WAYS.findIndex(([way]) => way === name)}`
      const stream = subject.replace('.', '_')
      await runtime.jsm.streams.add({ name: stream, subjects: [subject] })
      await runtime.publish(subject, MESSAGES)
      // Slow enough that most messages still wait when it is paused.
      const id = await runtime.activate({
        path: `tests/${stream}`,
        stream,
        extra: '  limits: {max_dispatch_per_sec: 400, max_in_flight: 200}\n',
      })
      await driveBoth()
      await runtime.untilStarted(id, 200)
      await write(runtime, id, 'paused')
      const pausedAt = await databaseNow()
      await until('a second has passed', async () => (await databaseNow()) >= pausedAt + 1)
      const committed = await runtime.started(id)
      expect(committed.length).toBeLessThan(MESSAGES)
      await until('the row follows', async () => (await findSubscription(runtime.cores[0]!, id)).state === 'PAUSED')
      await until('nobody drives it', async () => (await findSubscription(runtime.cores[0]!, id)).owner === null)
      expect(await runtime.started(id)).toEqual(committed)
      await write(runtime, id, 'resumed')
      await runtime.untilStarted(id, MESSAGES, 60_000)
      expect(await runtime.started(id)).toEqual(numbers(MESSAGES))
    },
    120_000,
  )
})
