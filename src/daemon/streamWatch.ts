// Makes sure the event stream exists whenever the NATS link comes up, and tries again while it cannot.
import type { Bus } from '../bus/connect.js'
import { ensureStream, type StreamLimits } from '../bus/streams.js'
import { componentLog } from '../runtime/log.js'
import { createPollLoop, type PollLoop } from '../runtime/loop.js'
import type { Deps } from './deps.js'
import { wantedStream } from './endpoints.js'
import { loopErrors } from './loopErrors.js'

const CHECK_MS = 30_000

export interface StreamWatch extends PollLoop {
  /** As found last; until then what we would make. */
  limits(): StreamLimits
}

export function createStreamWatch(deps: Deps, bus: Bus): StreamWatch {
  const log = componentLog(deps.log, 'stream')
  const wanted = wantedStream(deps.config)
  let complained = ''
  let limits: StreamLimits = {
    maxMessageBytes: Number.POSITIVE_INFINITY,
    duplicateWindowMs: wanted.duplicateWindowSeconds * 1000,
  }

  const loop = createPollLoop({
    name: 'stream',
    clock: deps.clock,
    random: deps.random,
    idleMs: CHECK_MS,
    errorMs: 1_000,
    errorMsMax: CHECK_MS,
    onError: loopErrors(deps, 'stream'),
    runOnce: async () => {
      if (!bus.isConnected()) return 'idle'
      const found = await ensureStream(bus.connection(), wanted)
      limits = found.limits
      if (found.created) log.info({ stream: wanted.name }, 'created the event stream')
      const complaints = found.complaints.join('; ')
      if (complaints !== '' && complaints !== complained)
        log.warn({ stream: wanted.name, complaints }, 'the event stream is not as it should be')
      complained = complaints
      return 'idle'
    },
  })
  bus.onUp(() => loop.nudge())
  return { ...loop, limits: () => limits }
}
