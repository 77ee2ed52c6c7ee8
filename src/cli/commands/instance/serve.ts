import { createLog } from '../../../runtime/log.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import { VERSION } from '../../../version.js'
import type { CommandSpec } from '../../command.js'
import { howToCall } from '../../howToCall.js'
import { printLines, wantsColor } from '../../io.js'

export const serve: CommandSpec = {
  path: ['serve'],
  localBecause: 'it is the daemon',
  summary: 'Run the daemon',
  description:
    'Runs the daemon until SIGINT or SIGTERM. Without a database address it starts its own Postgres and nats-server in the data folder; with NOETL_DATABASE_URL (and NOETL_NATS_URL) it uses yours. A second signal forces.',
  examples: [
    ['serve', 'own servers in the default data folder'],
    ['serve --data-dir ./data --port 0', 'own servers elsewhere, any free port'],
    ['serve --database-url postgres://…', 'your Postgres'],
    ['serve --port 0 --json', 'one line with address and port when it is ready'],
  ],
  run: async (context) => {
    const loaded = context.config()
    const log = createLog({
      level: loaded.config.logLevel,
      format: loaded.config.logFormat,
      isTerminal: context.io.stderr.isTTY === true,
      color: wantsColor(context.io.stderr, context.env),
      stream: context.io.stderr,
    })
    const shutdown = listenForShutdown(context.io)
    try {
      // Loaded only here: every other command would pay for the HTTP server with a quarter of its run time.
      const { serve: runDaemon } = await import('../../../daemon/serve.js')
      return await runDaemon({
        loaded,
        dataDir: context.dataDir(),
        environment: context.env,
        commandLine: (command) => howToCall(context, command),
        log,
        shutdown,
        announce: (text) => (context.isJson ? undefined : printLines(context.io.stdout, text.split('\n'))),
        onReady: (httpUrl) => {
          if (context.isJson) printLines(context.io.stdout, [readyLine(httpUrl)])
        },
      })
    } finally {
      shutdown.dispose()
    }
  },
}

function readyLine(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  const usual = protocol === 'https:' ? 443 : 80
  return JSON.stringify({
    status: 'ready',
    url,
    host: hostname,
    port: port === '' ? usual : Number(port),
    pid: process.pid,
    version: VERSION,
  })
}
