// The product's relay on its own, as the daemon runs it, without the rest of the daemon. Prints {rows, ms}.
import { loadConfig } from '../../dist/config/load.js'
import { buildCore } from '../../dist/daemon/core.js'
import { openDeps } from '../../dist/daemon/deps.js'
import { productionEndpoints } from '../../dist/daemon/endpoints.js'
import { buildRelays } from '../../dist/daemon/relays.js'
import { silentLog } from '../../dist/runtime/log.js'

const { url, natsUrl, token, rows, env = {}, share = true } = JSON.parse(process.argv[2])
const { config } = loadConfig({ NOETL_DATABASE_URL: url, NOETL_NATS_URL: natsUrl, NOETL_NATS_TOKEN: token, ...env })
const deps = openDeps({
  config,
  endpoints: productionEndpoints(config),
  log: silentLog,
  applicationName: 'bench relay',
})
await deps.bus.start()
const core = buildCore(deps, 'oneShot')
const { relays } = buildRelays(deps, core, deps.bus, {
  clusterId: 'bench',
  share,
  httpUrl: () => 'http://127.0.0.1',
  stream: () => ({ maxMessageBytes: Infinity, duplicateWindowMs: 120_000 }),
})
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

await relays[0].start()
// From here on it is a relay at work: connected, with its lanes. Neither does the bare script count its connecting.
while (relays[0].stats().lanes === 0) await sleep(1)
const started = performance.now()
const tenths = []
let tenthStarted = started
if (rows > 0) {
  for (;;) {
    const done = Number(relays[0].stats().published)
    while (tenths.length < 10 && done >= ((tenths.length + 1) * rows) / 10) {
      tenths.push(performance.now() - tenthStarted)
      tenthStarted = performance.now()
    }
    if (done >= rows) break
    await sleep(2)
  }
} else {
  // One of several: until told to stop.
  await new Promise((resolve) => process.stdin.once('data', resolve))
}
await relays[0].stop(5_000)
const ms = performance.now() - started
console.log(JSON.stringify({ rows: Number(relays[0].stats().published), ms, tenths }))
await deps.close(2_000)
// Whoever told it to stop keeps the pipe open.
process.stdin.destroy()
