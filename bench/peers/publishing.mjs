// How a job publishes: the way users write it, or with the relay's own trick of raw publishes and a shared inbox.
import { connect } from 'nats'

export async function createPublish({ natsUrl, token, way }) {
  const nc = await connect({ servers: natsUrl, token, noAsyncTraces: way === 'raw' })
  if (way === 'js') {
    const js = nc.jetstream()
    return { publish: (subject, body, id) => js.publish(subject, body, { msgID: id }), close: () => nc.close() }
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
  const publish = (subject, body, id) =>
    new Promise((resolve) => {
      const token = (counter++).toString(36)
      waiting.set(token, resolve)
      const head = Buffer.from(`NATS/1.0\r\nNats-Msg-Id: ${id}\r\n\r\n`)
      nc.publish(subject, body, { reply: inbox + token, headers: { encode: () => head } })
    })
  return { publish, close: () => nc.close() }
}
