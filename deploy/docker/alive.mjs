// The health check of the image: exit code 0 when the daemon of this container answers /livez, in whatever way its own
// settings make it listen. Alive, not ready: an outage of Postgres must not restart the daemon.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { loadConfig } from '../../dist/config/load.js'

const DEADLINE_MS = 2_500
const { config } = loadConfig(process.env)
const isTls = config.tlsCert !== undefined
const host = ['0.0.0.0', '::'].includes(config.httpHost) ? '127.0.0.1' : config.httpHost

const asked = (isTls ? https : http).get({
  host,
  port: config.httpPort,
  path: '/livez',
  signal: AbortSignal.timeout(DEADLINE_MS),
  ...(isTls && {
    // It is our own certificate, made for a name; that it is presented says enough.
    rejectUnauthorized: false,
    cert: readFileSync(config.tlsCert),
    key: readFileSync(config.tlsKey),
  }),
})
let hasGreeted = false
asked.once('socket', (socket) =>
  socket.once('secureConnect', () => {
    hasGreeted = true
  }),
)
asked.once('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
asked.once('error', (error) => {
  // A daemon that turns us away for want of a certificate of its callers' CA is alive.
  if (config.tlsClientCa !== undefined && hasGreeted) process.exit(0)
  process.stderr.write(`the daemon does not answer on ${host}:${config.httpPort}: ${error.message}\n`)
  process.exit(1)
})
