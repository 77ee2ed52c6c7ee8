// The part behind the console's scrubber: one thread with tapes and keyframes, made when somebody first asks.
import { componentLog } from '../runtime/log.js'
import { toWorkerDatabase } from '../services/replay/inThread/database.js'
import { createScrubbing, type Scrubbing } from '../services/replay/scrubbing.js'
import { createTapeThread } from '../workers/resident.js'
import type { Deps } from './deps.js'

const PARALLEL_MAX = 8
// What is counted is about half of what the heap takes while a log is read.
const HEAP_FACTOR = 2
const HEAP_MB_MIN = 512
// Longer than somebody looks elsewhere; what it costs to come back later is one reading.
const IDLE_MS = 15 * 60_000
const MB = 1_048_576

export function buildScrubbing({ config, databases, clock, metrics, log }: Deps): Scrubbing {
  return createScrubbing({
    databases,
    clock,
    idleMs: IDLE_MS,
    openThread: () =>
      createTapeThread({
        memoryMb: Math.max(HEAP_MB_MIN, config.consoleMemoryMb * HEAP_FACTOR),
        parallelMax: PARALLEL_MAX,
        // A question waits for the reading of its log, and that for those before it.
        stallMs: 2 * config.replayTimeoutMs,
        onLost: (_, reason) => {
          metrics.inc('noetl_cp_console_thread_losses_total')
          componentLog(log, 'scrubbing').warn(
            { reason },
            'the thread with tapes and keyframes is gone; they are built again',
          )
        },
        setup: {
          databases: databases.shards.map(({ settings }) => toWorkerDatabase(settings)),
          bytesMax: config.consoleMemoryMb * MB,
          deadlineMs: config.replayTimeoutMs,
          secretNames: config.redact ? config.redactKeys : null,
        },
      }),
    onAnswer: (kind, seconds) => metrics.observe('noetl_cp_console_scrub_seconds', seconds, { kind }),
  })
}
