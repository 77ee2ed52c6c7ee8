// How a job publishes: the way users write it, or with the relay's own trick of raw publishes and a shared inbox.
import { connect, headers } from 'nats'
import { messageOf } from './job.mjs'

export async function createPublish({ natsUrl, token, way }) {
  const nc = await connect({ servers: natsUrl, token, noAsyncTraces: way === 'raw' })
  if (way === 'js') {
    const js = nc.jetstream()
    const publish = (event) => {
      const message = messageOf(event)
      const lines = headers()
      for (const [name, value] of message.headers) lines.set(name, String(value))
      return js.publish(message.subject, message.body, { msgID: message.id, headers: lines })
    }
    return { publish, close: () => nc.close() }
  }
  const inbox = `_INBOX.peer${process.pid}.`
  const waiting = new Map()
  let counter = 0
  nc.subscribe(`${inbox}*`, {
    callback: (_, message) => {
      const token = message.subject.slice(inbox.length)
      waiting.get(token)?.()
      waiting.delete(token)
    },
  })
  await nc.flush()
  const publish = (event) =>
    new Promise((resolve) => {
      const { subject, body, id, headers } = messageOf(event)
      const token = (counter++).toString(36)
      waiting.set(token, resolve)
      let lines = `NATS/1.0\r\nNats-Msg-Id: ${id}\r\n`
      for (const [name, value] of headers) lines += `${name}: ${value}\r\n`
      const head = Buffer.from(`${lines}\r\n`)
      nc.publish(subject, body, { reply: inbox + token, headers: { encode: () => head } })
    })
  return { publish, close: () => nc.close() }
}
