// Preloaded into a daemon: sends itself a signal at a chosen moment of publishing.
//   TEST_SIGNAL=SIGKILL|SIGSTOP  TEST_AT=publish|settle  TEST_AFTER=<how many publishes before>
import { createRequire } from 'node:module'
import net from 'node:net'

const require = createRequire(import.meta.url)
const { NatsConnectionImpl } = require('../../../node_modules/nats/lib/nats-base-client/nats.js')
const after = Number(process.env.TEST_AFTER ?? '500')
const signal = process.env.TEST_SIGNAL ?? 'SIGKILL'
let published = 0
let done = false

function strike() {
  if (done) return
  done = true
  process.kill(process.pid, signal)
}

const publish = NatsConnectionImpl.prototype.publish
NatsConnectionImpl.prototype.publish = function (subject, data, options) {
  if (options?.reply && options.headers) {
    published += 1
    if (process.env.TEST_AT === 'publish' && published > after) strike()
  }
  return publish.call(this, subject, data, options)
}

// The settling statement is recognised by its text when it is prepared, later by being any write at all.
const write = net.Socket.prototype.write
net.Socket.prototype.write = function (chunk, ...rest) {
  if (
    process.env.TEST_AT === 'settle' &&
    published > after &&
    Buffer.isBuffer(chunk) &&
    chunk.includes("status = 'PUBLISHED'")
  )
    strike()
  return write.call(this, chunk, ...rest)
}
