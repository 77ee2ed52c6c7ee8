// Preloaded into a daemon: a share of the publishes is answered with a refusal instead of being stored.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { NatsConnectionImpl } = require('../../../node_modules/nats/lib/nats-base-client/nats.js')
const share = Number(process.env.TEST_REFUSE_SHARE ?? '0.03')
const publish = NatsConnectionImpl.prototype.publish
const refusal = JSON.stringify({ error: { code: 400, err_code: 10999, description: 'refused by the test' } })

NatsConnectionImpl.prototype.publish = function (subject, data, options) {
  if (options?.reply && options.headers && Math.random() < share) return publish.call(this, options.reply, refusal)
  return publish.call(this, subject, data, options)
}
