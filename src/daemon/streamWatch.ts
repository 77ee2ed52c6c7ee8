// Makes sure the streams of events and of commands exist whenever the NATS link comes up, and tries again while it cannot.
import type { Bus } from '../bus/connect.js'
import { ensureStream, type StreamLimits } from '../bus/streams.js'
import { CpError, toCpError } from '../errors.js'
import { componentLog } from '../runtime/log.js'
import { createPollLoop, type PollLoop } from '../runtime/loop.js'
import type { Deps } from './deps.js'
import { wantedCommandStream, wantedStream } from './endpoints.js'
import { loopErrors } from './loopErrors.js'

const CHECK_MS = 30_000

export interface StreamWatch extends PollLoop {
  /** As found last; until then what we would make. */
  limits(): StreamLimits
  /** The stream of commands is there. */
  hasCommands(): boolean
}

export function createStreamWatch(deps: Deps, bus: Bus): StreamWatch {
  const log = componentLog(deps.log, 'stream')
  const wanted = wantedStream(deps.config)
  let complained = ''
  let hasCommands = false
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
      if (deps.config.commandNotify) await ensureCommands()
      return 'idle'
    },
  })

  async function ensureCommands(): Promise<void> {
    const commands = wantedCommandStream(deps.config)
    try {
      const found = await ensureStream(bus.connection(), commands)
      hasCommands = found.complaints.every((complaint) => !complaint.startsWith('does not bind'))
      if (found.created) log.info({ stream: commands.name }, 'created the stream of commands')
    } catch (error) {
      hasCommands = false
      const hint = 'if another stream binds noetl.commands.> already, name it in NOETL_COMMAND_NATS_STREAM'
      throw new CpError(toCpError(error).code, `${toCpError(error).message}; ${hint}`, { cause: error })
    }
  }

  bus.onUp(() => loop.nudge())
  return { ...loop, limits: () => limits, hasCommands: () => hasCommands }
}
