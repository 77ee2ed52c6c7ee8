// A worker of another program, byte for byte: hears of commands by NATS, claims them by HTTP, answers with events. It also
// does what such workers do wrong.
import { AckPolicy, type ConsumerMessages, connect, DeliverPolicy, type JsMsg, type NatsConnection } from 'nats'
import type { TestServers } from '../support/servers.js'

export interface Answer {
  status: number
  /** As it came: integers have more digits than a number holds. */
  text: string
  body: any
  headers: Headers
}

export interface Notice {
  text: string
  eventId: string
  executionId: string
  commandId: string
}

export async function post(url: string, path: string, body?: object | string): Promise<Answer> {
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  })
  const text = await answer.text()
  return { status: answer.status, text, body: JSON.parse(text), headers: answer.headers }
}

export function readNotice(message: JsMsg): Notice {
  const text = message.string()
  const [, executionId, eventId] = /^\{"execution_id":(\d+),"event_id":(\d+),/.exec(text)!
  return { text, executionId: executionId!, eventId: eventId!, commandId: JSON.parse(text).command_id }
}

/** What a Rust worker sends: integers as they are, `attempts` echoed, ids of its own. */
export function eventText(
  claim: Answer,
  workerId: string,
  type: string,
  { status, payload = {}, more = '' }: { status: string; payload?: object; more?: string },
): string {
  const executionId = /"execution_id":(\d+)/.exec(claim.text)![1]!
  const { meta, node_name: step } = claim.body
  const context = JSON.stringify({ command_id: meta.command_id, ...payload })
  return `{"execution_id":${executionId},"step":${JSON.stringify(step)},"event_type":"${type}","status":"${status}","worker_id":"${workerId}","meta":{"attempts":${meta.attempts}},"context":${context}${more}}`
}

export const doneWith = (data: unknown) => ({
  status: 'COMPLETED',
  payload: { call_index: 0, result: { status: 'success', context: { status: 'success', data, duration_ms: 1 } } },
})

export interface ForeignWorker {
  next(): Promise<{ notice: Notice; message: JsMsg }>
  close(): Promise<void>
}

export async function listen(
  servers: Pick<TestServers, 'natsUrl' | 'natsToken'>,
  pool: string,
  durable: string,
): Promise<ForeignWorker> {
  const connection: NatsConnection = await connect({ servers: servers.natsUrl, token: servers.natsToken })
  const jsm = await connection.jetstreamManager()
  await jsm.consumers.add('noetl_commands', {
    durable_name: durable,
    filter_subject: `noetl.commands.${pool}.>`,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
  })
  const consumer = await connection.jetstream().consumers.get('noetl_commands', durable)
  const messages: ConsumerMessages = await consumer.consume({ max_messages: 1 })
  const iterator = messages[Symbol.asyncIterator]()
  return {
    next: async () => {
      const { value } = await iterator.next()
      const message = value as JsMsg
      message.ack()
      return { notice: readNotice(message), message }
    },
    close: async () => {
      // Its own close waits for whoever still reads.
      messages.stop()
      await jsm.consumers.delete('noetl_commands', durable).catch(() => undefined)
      await connection.close()
    },
  }
}
