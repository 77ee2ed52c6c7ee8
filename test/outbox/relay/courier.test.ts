// Promise: what may be stored already is looked up, not sent again, once JetStream no longer knows its message id.
import { expect, it } from 'vitest'
import { openCourier, turn } from './courierHarness.js'

it.each([
  [50_000, 0],
  [116_000, 1],
])('sent once without an answer, after %i ms', async (elapsed, lookups) => {
  const { seen, courier, offer } = openCourier()
  offer()
  courier.schedule()
  await turn()
  expect(seen.sent).toHaveLength(1)
  seen.now += elapsed
  seen.sent[0]!.done({ kind: 'unknown', reason: 'no answer' })
  await turn()
  expect({ lookups: seen.asked, sent: seen.sent.length, published: courier.published() }).toEqual({
    lookups,
    sent: 2 - lookups,
    published: BigInt(lookups),
  })
})

it.each([
  ['while JetStream knows its id it is sent', { up: '1', after: 90_000, lookups: 0 }],
  ['when it is sent later than that, it is looked for', { up: '1', after: 90_001, lookups: 1 }],
  ['a row that came after the owner had vanished is sent', { up: '0', after: 90_001, lookups: 0 }],
])('of an owner that vanished: %s', async (_, { up, after, lookups }) => {
  const { seen, courier, offer } = openCourier()
  courier.suspect(1, up, seen.now + 90_000)
  seen.now += after
  offer()
  courier.schedule()
  await turn()
  expect({ lookups: seen.asked, sent: seen.sent.length }).toEqual({ lookups, sent: 1 - lookups })
})
