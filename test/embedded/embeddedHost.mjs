// Stands in for the daemon: starts the embedded servers of the built code and reports on stdout, one JSON
// line per event. TERM stops cleanly. Arguments: the folder that holds dist, the options as JSON.
const [checkout, options] = process.argv.slice(2)
const { startEmbedded } = await import(`file://${checkout}/dist/embedded/startEmbedded.js`)
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const log = (level, message, fields) => say({ event: 'log', level, message, ...fields })

// HUP ends a start that is under way, as a daemon would on Ctrl-C.
const abort = new AbortController()
process.once('SIGHUP', () => abort.abort())

try {
  const pathEnv = process.env['PATH']
  const servers = await startEmbedded({ ...JSON.parse(options), pathEnv, version: 'test', log, signal: abort.signal })
  process.once('SIGTERM', async () => {
    await Promise.all([servers.stop(15_000), servers.stop(15_000)])
    say({ event: 'stopped' })
    process.exit(0)
  })
  setInterval(() => undefined, 60_000)
  say({ event: 'running', ...servers, pids: servers.pids })
} catch (error) {
  say({ event: 'failed', code: error.code, message: error.message })
  process.exit(1)
}
