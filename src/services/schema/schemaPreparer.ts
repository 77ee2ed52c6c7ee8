// Prepares the schema of shards that were away when the daemon started, as soon as they come back. Until then
// their health check says why they cannot be used.

import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { type PrepareOptions, prepareDatabase, type Unprepared } from './schema.js'

export interface SchemaPreparerDeps extends PrepareOptions {
  clock: Clock
  random: () => number
  onPrepared(label: string): void
  onError(error: CpError): void
}

export interface SchemaPreparer extends PollLoop {
  /** Why the database cannot be used yet; undefined when it can. */
  troubleWith(label: string): string | undefined
}

export function createSchemaPreparer(unprepared: readonly Unprepared[], deps: SchemaPreparerDeps): SchemaPreparer {
  const waiting = new Map(unprepared.map((entry) => [entry.database.label, entry]))

  async function prepare({ database }: Unprepared): Promise<void> {
    try {
      await prepareDatabase(database, deps)
      waiting.delete(database.label)
      deps.onPrepared(database.label)
    } catch (error) {
      const { message } = toCpError(error)
      waiting.set(database.label, { database, reason: message })
    }
  }

  const loop = createPollLoop({
    name: 'schema',
    clock: deps.clock,
    random: deps.random,
    idleMs: 1_000,
    errorMs: 1_000,
    errorMsMax: 15_000,
    onError: deps.onError,
    runOnce: async () => {
      await Promise.all([...waiting.values()].map(prepare))
      return 'idle'
    },
  })
  return { ...loop, troubleWith: (label) => waiting.get(label)?.reason }
}
