// Work on large bodies, wherever it is done: a daemon has threads for it, a command does it in place.
import type { WrittenEvent } from '../../domain/events/eventRecord.js'
import type { Schema } from '../../domain/json/schema.js'
import type { JsonObject } from '../../domain/json/value.js'
import type { WorkerPool } from '../../workers/pool.js'
import { type LargeEventsInput, type LargeEventsOutput, largeEvents } from '../events/inThread/largeEvents.js'
import {
  type LargeStart,
  type LargeStartsInput,
  largeStarts,
  type StartPartsInput,
  startParts,
} from '../executions/inThread/largeStarts.js'
import { type LargeVarsInput, largeVars } from '../executions/inThread/largeVars.js'
import { type LargeMessageInput, largeMessage } from '../subscriptions/inThread/largeMessage.js'
import { flatBody } from './inThread/flatBody.js'

/** What the main loop reads and writes itself. Twice this may take tens of milliseconds, if somebody means it badly. */
export const LARGE_BYTES = 64 * 1024

export interface LargeBodySettings {
  /** Further names of secrets; null hides nothing. */
  secretNames: readonly string[] | null
  /** What one of many in a body may have. */
  eventBytes: number
}

export interface LargeBodies {
  readFlat(bytes: Uint8Array, schema: Schema): Promise<JsonObject>
  readEvents(input: Omit<LargeEventsInput, keyof LargeBodySettings>): Promise<LargeEventsOutput>
  readStarts(input: Omit<LargeStartsInput, 'eventBytes'>): Promise<{ starts: LargeStart[] }>
  writeStart(input: Omit<StartPartsInput, 'secretNames'>): Promise<WrittenEvent>
  readVars(input: Omit<LargeVarsInput, 'secretNames'>): Promise<{ count: number; written: WrittenEvent }>
  readMessage(input: LargeMessageInput): Promise<{ key: string | undefined; payload: string }>
}

/** Nobody waits longer for an answer. */
const DEADLINE = { timeoutMs: 20_000 }

export function largeBodiesInThreads(pool: WorkerPool, settings: LargeBodySettings): LargeBodies {
  return {
    readFlat: (bytes, schema) => pool.run('flatBody', { bytes, schema }, DEADLINE),
    readEvents: (input) => pool.run('largeEvents', { ...input, ...settings }, DEADLINE),
    readStarts: (input) => pool.run('largeStarts', { ...input, eventBytes: settings.eventBytes }, DEADLINE),
    writeStart: (input) => pool.run('startParts', { ...input, secretNames: settings.secretNames }, DEADLINE),
    readVars: (input) => pool.run('largeVars', { ...input, secretNames: settings.secretNames }, DEADLINE),
    readMessage: (input) => pool.run('largeMessage', input, DEADLINE),
  }
}

export function largeBodiesInPlace(settings: LargeBodySettings): LargeBodies {
  return {
    readFlat: async (bytes, schema) => flatBody({ bytes, schema }),
    readEvents: async (input) => largeEvents({ ...input, ...settings }),
    readStarts: async (input) => largeStarts({ ...input, eventBytes: settings.eventBytes }),
    writeStart: async (input) => startParts({ ...input, secretNames: settings.secretNames }),
    readVars: async (input) => largeVars({ ...input, secretNames: settings.secretNames }),
    readMessage: async (input) => largeMessage(input),
  }
}
