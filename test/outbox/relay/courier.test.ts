// Promise: what may be stored already is looked for before it is sent again, and sent so that the broker can refuse it.
import { expect, it } from 'vitest'
import { openCourier, turn } from './courierHarness.js'

it('sent once without an answer: it is looked for, and found', async () => {
  const { seen, courier, offer } = openCourier()
  offer()
  courier.schedule()
  await turn()
  seen.sent[0]!.done({ kind: 'unknown', reason: 'no answer' })
  await turn()
  expect({ lookups: seen.asked, sent: seen.sent.length, published: courier.published() }).toEqual({
    lookups: 1,
    sent: 1,
    published: 1n,
  })
})

it('sent once without an answer, and not found: it is sent with the number of the last message of its subject', async () => {
  const { seen, courier, offer } = openCourier()
  seen.found = { kind: 'absent', lastSeq: 41, nothingNewer: true }
  offer()
  courier.schedule()
  await turn()
  expect(seen.sent[0]!.headers).not.toContain('Expected')
  seen.sent[0]!.done({ kind: 'unknown', reason: 'no answer' })
  await turn()
  expect(seen.sent[1]!.headers).toContain('Nats-Expected-Last-Subject-Sequence: 41\r\n')
  // Another message came first: it may have been this one.
  seen.sent[1]!.done({ kind: 'unknown', reason: 'wrong last sequence' })
  await turn()
  expect(seen.asked).toBe(2)
})

it.each([
  ['its rows are looked for', { up: '1', lookups: 1 }],
  ['a row that came after it had vanished is sent', { up: '0', lookups: 0 }],
])('of an owner that vanished: %s', async (_, { up, lookups }) => {
  const { seen, courier, offer } = openCourier()
  courier.suspect(1, up)
  offer()
  courier.schedule()
  await turn()
  expect({ lookups: seen.asked, sent: seen.sent.length }).toEqual({ lookups, sent: 1 - lookups })
})

it.each([
  ['nothing newer is in the stream: none behind it is looked for', { nothingNewer: true, lookups: 1 }],
  ['the stream lost it, and may hold newer ones: those are looked for', { nothingNewer: false, lookups: 2 }],
])('of an owner that vanished, a row is not found; %s', async (_, { nothingNewer, lookups }) => {
  const { seen, courier, offer } = openCourier()
  seen.found = { kind: 'absent', lastSeq: 0, nothingNewer }
  courier.suspect(1, '9')
  offer()
  offer({ outbox_id: '2', event_id: '2' })
  courier.schedule()
  await turn()
  seen.sent[0]!.done({ kind: 'stored', seq: 1, duplicate: false })
  await turn()
  expect({ lookups: seen.asked, sent: seen.sent.length }).toEqual({ lookups, sent: 2 })
})
