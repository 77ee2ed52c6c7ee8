// Preloaded into a daemon: a share of the publishes is answered with a refusal instead of being stored.
import { interceptPublishes } from './frames.mjs'

const share = Number(process.env.TEST_REFUSE_SHARE ?? '0.03')
const refusal = JSON.stringify({ error: { code: 400, err_code: 10999, description: 'refused by the test' } })

interceptPublishes(({ reply, bytes }) =>
  Math.random() < share ? Buffer.from(`PUB ${reply} ${refusal.length}\r\n${refusal}\r\n`) : bytes,
)
