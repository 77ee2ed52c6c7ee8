// Makes sure the event stream exists whenever the NATS link comes up, and tries again while it cannot.
import type { Bus } from '../bus/connect.js'
import { ensureStream } from '../bus/streams.js'
import { componentLog } from '../runtime/log.js'
import { createPollLoop, type PollLoop } from '../runtime/loop.js'
import type { Deps } from './deps.js'
import { wantedStream } from './endpoints.js'

const CHECK_MS = 30_000

export function createStreamKeeper(deps: Deps, bus: Bus): PollLoop {
  const log = componentLog(deps.log, 'stream')
  const wanted = wantedStream(deps.config)
  let complained = ''

  const loop = createPollLoop({
    name: 'stream',
    clock: deps.clock,
    random: deps.random,
    idleMs: CHECK_MS,
    errorMs: 1_000,
    errorMsMax: CHECK_MS,
    onError: (error, consecutive) => {
      deps.metrics.inc('noetl_cp_loop_errors_total', { loop: 'stream' })
      if (consecutive === 1) log.warn({ reason: error.message }, 'the event stream is not ready')
    },
    runOnce: async () => {
      if (!bus.isConnected()) return 'idle'
      const found = await ensureStream(bus.connection(), wanted)
      if (found.created) log.info({ stream: wanted.name }, 'created the event stream')
      const complaints = found.complaints.join('; ')
      if (complaints !== '' && complaints !== complained)
        log.warn({ stream: wanted.name, complaints }, 'the event stream is not as it should be')
      complained = complaints
      return 'idle'
    },
  })
  deps.metrics.declare('noetl_cp_loop_errors_total', { loop: 'stream' })
  bus.onUp(() => loop.nudge())
  return loop
}
