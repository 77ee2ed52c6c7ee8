// `worker`: the built-in worker alone.
import { createLog } from '../../../runtime/log.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import type { CommandSpec } from '../../command.js'
import { print, wantsColor } from '../../io.js'

export const worker: CommandSpec = {
  path: ['worker'],
  localBecause: 'it takes commands from the database itself; other workers use POST /api/commands/claim',
  summary: 'Run commands of playbooks, in a process of its own',
  description:
    'Takes commands of the pools in NOETL_CP_WORKER_POOLS and runs them, up to NOETL_CP_WORKER_SLOTS at a time, until SIGINT or SIGTERM. A daemon has such a worker inside (NOETL_CP_WORKER); this one is for other machines or other rights. python, shell and container run only if NOETL_CP_WORKER_ALLOW names them. Told to stop, it takes no more, lets what runs end, and gives the rest back.',
  examples: [
    ['worker', 'for the instance of this machine, or the configured database'],
    ['worker --worker-allow python,shell --worker-slots 4', 'with steps that run code'],
  ],
  run: async (context) => {
    const { config } = context.config()
    const { endpoints } = await context.instance()
    const log = createLog({
      level: config.logLevel,
      format: config.logFormat,
      isTerminal: context.io.stderr.isTTY === true,
      color: wantsColor(context.io.stderr, context.env),
      stream: context.io.stderr,
    })
    const shutdown = listenForShutdown(context.io)
    try {
      const { runWorkerAlone } = await import('../../../daemon/workerAlone.js')
      return await runWorkerAlone({
        config,
        endpoints,
        environment: context.env,
        dataDir: context.dataDir(),
        log,
        shutdown,
        onReady: (workerId) => {
          const code = config.workerAllow.length === 0 ? 'no step that runs code' : config.workerAllow.join(', ')
          print(
            context.io.stdout,
            `worker ${workerId} takes commands of ${config.workerPools.join(', ')}, ${config.workerSlots} at a time (allowed: ${code}); Ctrl-C stops it`,
          )
        },
      })
    } finally {
      shutdown.dispose()
    }
  },
}
