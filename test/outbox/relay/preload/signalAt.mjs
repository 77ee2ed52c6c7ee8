// Preloaded into a daemon: sends itself a signal at a chosen moment of publishing.
//   TEST_SIGNAL=SIGKILL|SIGSTOP  TEST_AT=publish|settle  TEST_AFTER=<how many publishes before>
import net from 'node:net'
import { interceptPublishes } from './frames.mjs'

const after = Number(process.env.TEST_AFTER ?? '500')
const signal = process.env.TEST_SIGNAL ?? 'SIGKILL'
let published = 0
let done = false

function strike() {
  if (done) return
  done = true
  process.kill(process.pid, signal)
}

interceptPublishes(({ bytes, flush }) => {
  published += 1
  if (process.env.TEST_AT === 'publish' && published > after) {
    flush()
    strike()
  }
  return bytes
})

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
