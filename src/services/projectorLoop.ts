// Feeds the projector from the stream: a durable consumer, batches, acknowledged only after commit. Our own
// messages are skipped by their origin header: they are in the log already.
import type { Bus } from '../bus/connect.js'
import { openPuller, type PulledMessage, type Puller, type PullerSettings } from '../bus/puller.js'
import { type CpError, isTransient } from '../errors.js'
import { createPollLoop, type PollLoop } from '../runtime/loop.js'
import { type Projected, type ProjectorDeps, projectEnvelopes } from './projector.js'

export const ORIGIN_HEADER = 'Noetl-Origin'

export interface ProjectorLoopDeps extends ProjectorDeps {
  bus: Bus
  random: () => number
  puller: PullerSettings
  /** Our own name in the origin header. */
  clusterId: string
  onPass(result: Projected, skipped: number): void
  onError(error: CpError): void
}

const BATCH = 200
const WAIT_MS = 1_000
const RETRY_MS = 2_000

export function createProjectorLoop(deps: ProjectorLoopDeps): PollLoop {
  let puller: Puller | undefined

  async function pass(): Promise<'busy' | 'idle'> {
    if (!deps.bus.isConnected()) return 'idle'
    puller ??= await openPuller(deps.bus.connection(), deps.puller)
    let messages: PulledMessage[]
    try {
      messages = await puller.pull(BATCH, WAIT_MS)
    } catch (error) {
      // The consumer may be gone with its stream; look again next time.
      puller = undefined
      throw error
    }
    if (messages.length === 0) return 'idle'
    const foreign = messages.filter((message) => message.header(ORIGIN_HEADER) !== deps.clusterId)
    try {
      const result = await projectEnvelopes(
        deps,
        foreign.map((message) => ({ bytes: message.data })),
        'stream',
      )
      deps.onPass(result, messages.length - foreign.length)
    } catch (error) {
      if (isTransient(error)) for (const message of messages) message.retryLater(RETRY_MS)
      throw error
    }
    for (const message of messages) message.ack()
    return 'busy'
  }

  return createPollLoop({
    name: 'projector',
    clock: deps.clock,
    random: deps.random,
    idleMs: 200,
    errorMs: 500,
    errorMsMax: 10_000,
    onError: deps.onError,
    runOnce: pass,
  })
}
