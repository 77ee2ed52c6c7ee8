// Promise: workers hear of a command after its event, and its row is done with when both are stored.
import { expect, it } from 'vitest'
import type { PublishOutcome } from '../../../src/bus/publisher.js'
import { openCourier, turn } from './courierHarness.js'

function open(row: Parameters<typeof openCourier>[0]) {
  const { seen, courier, offer } = openCourier(row)
  offer()
  courier.schedule()
  return { seen, courier }
}

const stored: PublishOutcome = { kind: 'stored', seq: 7, duplicate: false }

const issued = (meta: string) => ({
  event_type: 'command.issued',
  payload: `{"execution_id":9007199254740993,"event_id":9007199254740995,"meta":{"emitter":"orchestrator",${meta}}}`,
})
const COMMAND = '"command_id":"9007199254740993:a:1","step":"a","execution_pool":"shared"'

it('a command is the event first, then the notice to workers, and done after both', async () => {
  const { seen, courier } = open(issued(`${COMMAND},"actionable":true`))
  await turn()
  expect(seen.sent.map(({ subject }) => subject)).toEqual(['n.e', 'noetl.commands.shared.9007199254740993'])
  expect(seen.sent[1]).toMatchObject({
    headers: 'Nats-Msg-Id: 9007199254740993:9007199254740995:cmd:1\r\n',
    body: '{"execution_id":9007199254740993,"event_id":9007199254740995,"command_id":"9007199254740993:a:1","step":"a","server_url":"http://cp:8082","execution_pool":"shared"}',
  })
  seen.sent[0]!.done(stored)
  await turn()
  expect(courier.published()).toBe(0n)
  seen.sent[1]!.done({ kind: 'unknown', reason: 'no answer' })
  await turn()
  // The event is found in the stream: the notice alone goes again.
  expect(seen.sent.map(({ subject }) => subject.split('.')[0])).toEqual(['n', 'noetl', 'noetl'])
  expect(courier.published()).toBe(0n)
  seen.sent[2]!.done(stored)
  await turn()
  expect(courier.published()).toBe(1n)
})

it('a notice that is refused does not hold up the log', async () => {
  const { seen, courier } = open(issued(`${COMMAND},"actionable":true`))
  await turn()
  seen.sent[1]!.done({ kind: 'rejected', reason: 'no', permanent: true })
  seen.sent[0]!.done(stored)
  await turn()
  expect(courier.published()).toBe(1n)
})

it.each([
  ['the engine runs it itself', issued(`${COMMAND},"actionable":false`)],
  [
    'somebody else issued it',
    { event_type: 'command.issued', payload: `{"execution_id":1,"event_id":2,"meta":{${COMMAND},"actionable":true}}` },
  ],
])('a command is no matter of workers when %s', async (_, row) => {
  const { seen, courier } = open(row)
  await turn()
  seen.sent[0]!.done(stored)
  await turn()
  expect(seen.sent).toHaveLength(1)
  expect(courier.published()).toBe(1n)
})
